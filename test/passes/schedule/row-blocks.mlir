// Each block of rows of a matrix multiplication is multiplied by all weight
// panels before the next block begins. The rows after the last whole tile are
// part of the last block.
//
// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v4 | FileCheck %s
// REQUIRES: ingot-opt

// 28 rows are two blocks of at most 18 rows, with two panels each; 28 rows are
// four tiles of 6 rows and 4 remaining rows.
// CHECK-LABEL: @blocks(
// CHECK: %[[PANEL:.*]] = arith.remsi %[[PART:.*]], %c2
// CHECK: %[[BLOCK:.*]] = arith.divsi %[[PART]], %c2
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c18
// CHECK: %[[END:.*]] = arith.minsi %{{.*}}, %c24
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[END]] step %c6
// CHECK: scf.for %{{.*}} = %c0 to %c64
// CHECK-COUNT-6: vector.fma
// CHECK-NOT: vector.fma
// CHECK: arith.cmpi eq, %[[BLOCK]], %c1
// CHECK-NEXT: scf.if
// CHECK: scf.for %{{.*}} = %c0 to %c64
// CHECK-COUNT-4: vector.fma
// CHECK-NOT: vector.fma
// CHECK: return
kernel.func @blocks(%x: tensor<2x14x64xf32>, %w: tensor<64x32xf32>) -> tensor<2x14x32xf32>
    attributes {strategy = "matrix-product", plan = {block = 18, columns = 16, rows = 6, splits = 1}} {
  %y = graph.matmul %x, %w : (tensor<2x14x64xf32>, tensor<64x32xf32>) -> tensor<2x14x32xf32>
  kernel.return %y : tensor<2x14x32xf32>
}

// The last of three blocks has only the four rows after the last whole tile.
// CHECK-LABEL: @only_left(
// CHECK: %[[BLOCK:.*]] = arith.divsi %{{.*}}, %c2
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c12
// CHECK: %[[BEHIND:.*]] = arith.addi %[[FIRST]], %c12
// CHECK: %[[END:.*]] = arith.minsi %[[BEHIND]], %c24
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[END]] step %c6
// CHECK: arith.cmpi eq, %[[BLOCK]], %c2
// CHECK-NEXT: scf.if
// CHECK: return
kernel.func @only_left(%x: tensor<28x64xf32>, %w: tensor<64x32xf32>) -> tensor<28x32xf32>
    attributes {strategy = "matrix-product", plan = {block = 12, columns = 16, rows = 6, splits = 1}} {
  %y = graph.matmul %x, %w : (tensor<28x64xf32>, tensor<64x32xf32>) -> tensor<28x32xf32>
  kernel.return %y : tensor<28x32xf32>
}

// The rows of all batches form one matrix, so that no row index has to be split
// into batch and row.
// CHECK-LABEL: @one_matrix(
// CHECK: kernel.view {{.*}} to memref<24x64xf32>
// CHECK-NOT: arith.remsi
// CHECK-NOT: arith.divsi
// CHECK: return
kernel.func @one_matrix(%x: tensor<4x6x64xf32>, %w: tensor<64x16xf32>, %bias: tensor<16xf32>) -> tensor<4x6x16xf32>
    attributes {strategy = "matrix-product", plan = {columns = 16, rows = 6, splits = 1}} {
  %y = graph.matmul %x, %w : (tensor<4x6x64xf32>, tensor<64x16xf32>) -> tensor<4x6x16xf32>
  %z = graph.add %y, %bias : (tensor<4x6x16xf32>, tensor<16xf32>) -> tensor<4x6x16xf32>
  kernel.return %z : tensor<4x6x16xf32>
}
