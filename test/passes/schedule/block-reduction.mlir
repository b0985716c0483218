// RUN: %ingot-opt %s -schedule-kernels=target=sm_80 | FileCheck %s
// REQUIRES: ingot-opt

// A reduction over positions: a block has 8 of 20 channels, and 16 threads for
// each channel, which divide the positions. The two axes of positions are
// joined. Threads after the last channel compute this channel again, and do not
// store it.
// CHECK-LABEL: kernel.func @positions(
// CHECK-SAME: extent = 3 : index
// CHECK-SAME: threads = 128 : i64
// CHECK: %[[TOTALS:.*]] = memref.alloca() : memref<16x8xf32, #gpu.address_space<workgroup>>
// CHECK: arith.minsi
// CHECK: scf.for %[[STEP:.*]] = %[[PART:.*]] to %c30{{.*}} step %c16
// CHECK: memref.load %{{.*}}[%c0{{.*}}, %[[STEP]], %{{.*}}] : memref<1x30x20xf32>
// CHECK: memref.store %{{.*}}, %[[TOTALS]]
// The 16 partial results of a channel are added in four steps: 8, 4, 2 and 1
// threads each add two of them.
// CHECK-COUNT-4: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: memref.load %[[TOTALS]]
// CHECK: memref.store %{{.*}} : memref<1x1x1x20xf32>
kernel.func @positions(%x: tensor<1x5x6x20xf32>) -> tensor<1x1x1x20xf32> attributes {strategy = "block-reduction", plan = {columns = 8, parts = 16, slices = 1}} {
  %y = graph.reduce_mean %x {axes = array<i64: 1, 2>} : (tensor<1x5x6x20xf32>) -> tensor<1x1x1x20xf32>
  kernel.return %y : tensor<1x1x1x20xf32>
}

// Three blocks divide the positions of 32 channels. The last block to finish
// merges the results of all blocks from memory.
// CHECK-LABEL: kernel.func @slices(
// CHECK-SAME: %{{.*}}: memref<1x9x9x32xf32> {{.*}}, %[[SLICES:.*]]: memref<1x3x32xf32> {{.*}}, %[[COUNTS:.*]]: memref<1xi32>
// CHECK-SAME: extent = 3 : index
// CHECK: scf.for %{{.*}} to %c81{{.*}} step %c12
// CHECK: memref.store %{{.*}}, %[[SLICES]]
// CHECK: %[[DONE:.*]] = kernel.count %[[COUNTS]]
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[DONE]], %c3
// CHECK: scf.if %[[LAST]]
// CHECK: scf.for %{{.*}} to %c3{{.*}} step %c4
// CHECK: memref.load %[[SLICES]]
kernel.func @slices(%x: tensor<1x9x9x32xf32>) -> tensor<1x1x1x32xf32> attributes {strategy = "block-reduction", plan = {columns = 32, parts = 4, slices = 3}} {
  %y = graph.reduce_max %x {axes = array<i64: 1, 2>} : (tensor<1x9x9x32xf32>) -> tensor<1x1x1x32xf32>
  kernel.return %y : tensor<1x1x1x32xf32>
}

// Reduced axes that are not adjacent have separate loops. Elementwise operators
// before and after the reduction are part of its kernel.
// CHECK-LABEL: kernel.func @around(
// CHECK: scf.for %[[STEP:.*]] = %{{.*}} to %c60{{.*}} step %c4
// CHECK: arith.divsi %[[STEP]], %c10
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK-COUNT-2: gpu.barrier
// CHECK: arith.cmpf olt
// CHECK: memref.store %{{.*}} : memref<1x3x1x32xf32>
kernel.func @around(%x: tensor<6x3x10x32xf32>, %scale: tensor<32xf32>) -> tensor<1x3x1x32xf32> attributes {strategy = "block-reduction", plan = {columns = 32, parts = 4, slices = 1}} {
  %s = graph.mul %x, %scale : (tensor<6x3x10x32xf32>, tensor<32xf32>) -> tensor<6x3x10x32xf32>
  %r = graph.reduce_sum %s {axes = array<i64: 0, 2>} : (tensor<6x3x10x32xf32>) -> tensor<1x3x1x32xf32>
  %y = graph.relu %r : (tensor<1x3x1x32xf32>) -> tensor<1x3x1x32xf32>
  kernel.return %y : tensor<1x3x1x32xf32>
}

// If the last axes are reduced, all threads of a block divide one row: they
// read adjacent elements, and the reduced axes are joined to one.
// CHECK-LABEL: kernel.func @rows(
// CHECK-SAME: %{{.*}}: memref<2x20x30xf32> {{.*}}, %{{.*}}: memref<2x4x1xf32> {{.*}}, %{{.*}}: memref<2xi32>
// CHECK-SAME: extent = 8 : index
// CHECK: scf.for %[[STEP:.*]] = %{{.*}} to %c600{{.*}} step %c128
// CHECK: memref.load %{{.*}}[%{{.*}}, %[[STEP]], %{{.*}}] : memref<2x600x1xf32>
kernel.func @rows(%x: tensor<2x20x30xf32>) -> tensor<2x1x1xf32> attributes {strategy = "block-reduction", plan = {columns = 1, parts = 32, slices = 4}} {
  %y = graph.reduce_mean %x {axes = array<i64: 1, 2>} : (tensor<2x20x30xf32>) -> tensor<2x1x1xf32>
  kernel.return %y : tensor<2x1x1xf32>
}
