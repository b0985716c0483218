// Errors of the verifiers of host kernels in device programs, and of copies
// between host and device.
//
// REQUIRES: ingot-opt
// RUN: %ingot-opt %s --split-input-file --verify-diagnostics

kernel.func @k(%x: memref<4xf32>) attributes {extent = 1 : index, threads = 32 : i64} { kernel.return }
kernel.program @threads(%x: memref<4xf32>) {
  %h = kernel.arena 0 second_memory : memref<4xf32>
  // expected-error @+1 {{has 'k' in second memory, where a device has no threads}}
  kernel.launch @k(%h) {second_memory} : (memref<4xf32>) -> ()
  kernel.return
}

// -----

kernel.func @k(%x: memref<4xf32>) { kernel.return }
kernel.program @elsewhere(%x: memref<4xf32>) {
  // expected-error @+1 {{runs on the host, but has an operand outside of second memory}}
  kernel.launch @k(%x) {second_memory} : (memref<4xf32>) -> ()
  kernel.return
}

// -----

kernel.program @nowhere(%x: memref<4xf32>) {
  // expected-error @+1 {{needs one tensor or buffer of the same type to copy to}}
  kernel.copy %x {second_memory} : (memref<4xf32>) -> ()
  kernel.return
}

// -----

kernel.program @other_type(%x: memref<4xf32>) {
  %h = kernel.arena 0 second_memory : memref<5xf32>
  // expected-error @+1 {{needs one tensor or buffer of the same type to copy to}}
  kernel.copy %x to %h {second_memory} : (memref<4xf32>, memref<5xf32>) -> ()
  kernel.return
}

// -----

kernel.program @to_device(%x: memref<4xf32>) {
  %h = kernel.arena 0 second_memory : memref<4xf32>
  // expected-error @+1 {{must have 'second_memory' exactly if it copies to second memory}}
  kernel.copy %h to %x {second_memory} : (memref<4xf32>, memref<4xf32>) -> ()
  kernel.return
}

// -----

kernel.program @within_device(%x: memref<4xf32>) {
  %h = kernel.arena 0 : memref<4xf32>
  // expected-error @+1 {{must have 'second_memory' exactly if it copies to second memory}}
  kernel.copy %x to %h : (memref<4xf32>, memref<4xf32>) -> ()
  kernel.return
}

// -----

kernel.program @elements_of_tensor(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{of a buffer copies one number of elements}}
  %h = kernel.copy %x {elements = #kernel.sizes<"n" in 0 to 4 : s0>, second_memory} : (tensor<4xf32>) -> tensor<4xf32>
  kernel.return %h : tensor<4xf32>
}
