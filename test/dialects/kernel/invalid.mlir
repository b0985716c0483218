// What the kernel dialect refuses.
//
// REQUIRES: ingot-opt
// RUN: %ingot-opt %s --split-input-file --verify-diagnostics

func.func private @k(%x: memref<4xf32>, %y: memref<4xf32>)
func.func @missing_buffer(%x: memref<4xf32>) {
  // expected-error @+1 {{'kernel.launch' op passes 1 buffers to 'k', which takes 2}}
  kernel.launch @k(%x) : (memref<4xf32>) -> ()
  return
}

// -----

func.func private @k(%x: memref<4xf32>, %y: memref<4xf32>)
func.func @other_shape(%x: memref<4xf32>, %y: memref<2x2xf32>) {
  // expected-error @+1 {{buffer 1 of 'k' is 'memref<4xf32>', not 'memref<2x2xf32>'}}
  kernel.launch @k(%x, %y) : (memref<4xf32>, memref<2x2xf32>) -> ()
  return
}

// -----

func.func private @k(%x: memref<?xf32>, %n: index)
func.func @missing_integer(%x: memref<4xf32>) {
  // expected-error @+1 {{passes 0 integers to 'k', which takes 1}}
  kernel.launch @k(%x) : (memref<4xf32>) -> ()
  return
}

// -----

func.func private @k(%x: memref<?xf32>)
func.func @other_element(%x: memref<4xf64>) {
  // expected-error @+1 {{buffer 0 of 'k' is 'memref<?xf32>', not 'memref<4xf64>'}}
  kernel.launch @k(%x) : (memref<4xf64>) -> ()
  return
}

// -----

func.func @no_callee(%x: memref<4xf32>) {
  // expected-error @+1 {{launches 'nothing', which is no function}}
  kernel.launch @nothing(%x) : (memref<4xf32>) -> ()
  return
}

// -----

func.func private @k(%x: tensor<4xf32>) -> tensor<4xf32>
func.func @inplace(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'inplace' names a result or operand that is not}}
  %y = kernel.launch @k(%x) {inplace = array<i64: 0, 1>} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @view_too_large(%x: memref<4xf32>) {
  // expected-error @+1 {{reaches past the end of its source: byte 4 + 16 of 16}}
  %y = kernel.view %x at 4 : memref<4xf32> to memref<2x2xf32>
  return
}

// -----

// expected-error @+1 {{with 'kernel.extent' must end in two index arguments, begin and end}}
func.func private @k(%x: memref<4xf32>) attributes {kernel.extent = 4 : index}

// -----

func.func @compares(%x: memref<2xi64>) {
  // expected-error @+1 {{compares}}
  kernel.require_equal %x, dense<[1, 2, 3]> : tensor<3xi64>, "shape" : memref<2xi64>
  return
}
