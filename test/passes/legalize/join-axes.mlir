// RUN: %ingot-opt %s -legalize-expand-operations=target=sm_80 | FileCheck %s
// REQUIRES: ingot-opt
// A position that is split into indices of adjacent axes becomes one index of a
// view in which these axes are one axis.

// CHECK-LABEL: kernel.func @positions
// CHECK-NOT: arith.remsi
// CHECK-DAG: %[[X:.*]] = kernel.view %arg0 : memref<2x7x5x8xf32> to memref<70x8xf32>
// CHECK-DAG: %[[Y:.*]] = kernel.view %arg1 : memref<2x7x5x8xf32, strided<[560, 80, 16, 1]>> to memref<70x8xf32, strided<[16, 1]>>
// CHECK: memref.load %[[X]][%[[ROW:.*]], %[[C:.*]]]
// CHECK: memref.store %{{.*}}, %[[Y]][%[[ROW]], %[[C]]]
kernel.func @positions(%x: memref<2x7x5x8xf32>, %y: memref<2x7x5x8xf32, strided<[560, 80, 16, 1]>>) attributes {threads = 32 : i64, extent = 70 : index} {
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %row = gpu.block_id x
  %c = gpu.thread_id x
  %w = arith.remsi %row, %c5 : index
  %rest = arith.divsi %row, %c5 : index
  %h = arith.remsi %rest, %c7 : index
  %n = arith.divsi %rest, %c7 : index
  %a = memref.load %x[%n, %h, %w, %c] : memref<2x7x5x8xf32>
  memref.store %a, %y[%n, %h, %w, %c] : memref<2x7x5x8xf32, strided<[560, 80, 16, 1]>>
  kernel.return
}

// Axes with a gap between them stay separate, and so do axes whose sizes are
// not the divisors by which the position is split.
// CHECK-LABEL: kernel.func @gaps
// CHECK-NOT: kernel.view
kernel.func @gaps(%x: memref<2x7x5x8xf32, strided<[600, 80, 16, 1]>>, %y: memref<2x5x7x8xf32>) attributes {threads = 32 : i64, extent = 14 : index} {
  %c7 = arith.constant 7 : index
  %c0 = arith.constant 0 : index
  %row = gpu.block_id x
  %c = gpu.thread_id x
  %h = arith.remsi %row, %c7 : index
  %n = arith.divsi %row, %c7 : index
  %a = memref.load %x[%n, %h, %c0, %c] : memref<2x7x5x8xf32, strided<[600, 80, 16, 1]>>
  memref.store %a, %y[%n, %c0, %h, %c] : memref<2x5x7x8xf32>
  kernel.return
}
