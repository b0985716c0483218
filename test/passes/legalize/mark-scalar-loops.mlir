// clang 22 for Helium vectorizes a loop over 32-bit elements 128 bytes apart
// wrongly, so such a loop is marked, for Helium only.
//
// RUN: %ingot-opt %s -legalize-mark-scalar-loops=target=cortex-m55 | FileCheck %s
// RUN: %ingot-opt %s -legalize-mark-scalar-loops=target=cortex-m4 | FileCheck %s --check-prefix=OTHER
// REQUIRES: ingot-opt

// OTHER-NOT: kernel.scalar

// The inner loop is over rows, the outer one over columns.
// CHECK-LABEL: kernel.func @by_column(
// CHECK: memref.store
// CHECK-NEXT: } {kernel.scalar}
// CHECK-NEXT: }
// CHECK-NEXT: kernel.return
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
// CHECK-LABEL: kernel.func @by_formula(
// CHECK: } {kernel.scalar}
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

// CHECK-LABEL: kernel.func @by_row(
// CHECK-NOT: kernel.scalar
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
