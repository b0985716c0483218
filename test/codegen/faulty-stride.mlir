// clang 22 for Helium vectorizes a loop over 32-bit elements 128 bytes apart
// wrongly, so such a loop has a pragma, for Helium only.
//
// RUN: ingot-translate %s --name net --target cortex-m55 -o %t.cpp && FileCheck %s < %t.cpp
// RUN: ingot-translate %s --name net --target cortex-m4 -o %t.m4.cpp && FileCheck %s --check-prefix=OTHER < %t.m4.cpp

// OTHER-NOT: clang loop

// CHECK-LABEL: void by_column(
// CHECK: for (ptrdiff_t
// CHECK-NEXT: #pragma clang loop vectorize(disable)
// CHECK-NEXT: for (ptrdiff_t
kernel.func @by_column(%x: memref<16x32xf32>, %y: memref<32x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %c32 step %c1 {
    scf.for %j = %c0 to %c16 step %c1 {
      %v = memref.load %x[%j, %i] : memref<16x32xf32>
      memref.store %v, %y[%i, %j] : memref<32x16xf32>
    }
  }
  kernel.return
}

// The index is a formula: 8 * j, with rows of 4 elements.
// CHECK-LABEL: void by_formula(
// CHECK: #pragma clang loop vectorize(disable)
kernel.func @by_formula(%x: memref<128x4xf32>, %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  scf.for %j = %c0 to %c16 step %c1 {
    %k = arith.muli %j, %c8 : index
    %v = memref.load %x[%k, %c0] : memref<128x4xf32>
    memref.store %v, %y[%j] : memref<16xf32>
  }
  kernel.return
}

// CHECK-LABEL: void by_row(
// CHECK-NOT: clang loop
kernel.func @by_row(%x: memref<16x32xf32>, %y: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %c32 step %c1 {
    %v = memref.load %x[%c1, %i] : memref<16x32xf32>
    memref.store %v, %y[%i] : memref<32xf32>
  }
  kernel.return
}

kernel.program @main(%x: memref<16x32xf32> {kernel.onnx_name = "x"}, %z: memref<128x4xf32> {kernel.onnx_name = "z"},
                     %a: memref<32x16xf32> {kernel.onnx_name = "a", kernel.output}, %b: memref<16xf32> {kernel.onnx_name = "b", kernel.output},
                     %c: memref<32xf32> {kernel.onnx_name = "c", kernel.output}) {
  kernel.launch @by_column(%x, %a) : (memref<16x32xf32>, memref<32x16xf32>) -> ()
  kernel.launch @by_formula(%z, %b) : (memref<128x4xf32>, memref<16xf32>) -> ()
  kernel.launch @by_row(%x, %c) : (memref<16x32xf32>, memref<32xf32>) -> ()
  kernel.return
}
