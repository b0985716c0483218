// RUN: %ingot-opt %s -legalize-expand-operations=target=generic | FileCheck %s
// REQUIRES: ingot-opt

// The index of an axis with one element is zero, and the code that computed it
// is removed.
// CHECK-LABEL: @one_element
// CHECK-NOT: arith.subi
// CHECK: memref.load %{{.*}}[%c0, %arg1]
func.func @one_element(%x: memref<1x8xf32>, %i: index) -> f32 {
  %c3 = arith.constant 3 : index
  %at = arith.subi %c3, %i : index
  %y = memref.load %x[%at, %i] : memref<1x8xf32>
  return %y : f32
}

// A loop with one iteration becomes its body, with the first index.
// CHECK-LABEL: @one_iteration
// CHECK-NOT: scf.for
// CHECK: %[[X:.*]] = memref.load %arg0[%c2]
// CHECK: %[[SUM:.*]] = arith.addf %arg1, %[[X]]
// CHECK: return %[[SUM]]
func.func @one_iteration(%x: memref<8xf32>, %start: f32) -> f32 {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %sum = scf.for %i = %c2 to %c4 step %c2 iter_args(%before = %start) -> f32 {
    %y = memref.load %x[%i] : memref<8xf32>
    %after = arith.addf %before, %y : f32
    scf.yield %after : f32
  }
  return %sum : f32
}

// A loop with two iterations stays.
// CHECK-LABEL: @two_iterations
// CHECK: scf.for
func.func @two_iterations(%x: memref<8xf32>, %start: f32) -> f32 {
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %sum = scf.for %i = %c2 to %c5 step %c2 iter_args(%before = %start) -> f32 {
    %y = memref.load %x[%i] : memref<8xf32>
    %after = arith.addf %before, %y : f32
    scf.yield %after : f32
  }
  return %sum : f32
}
