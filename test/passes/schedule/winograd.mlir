// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v4 | FileCheck %s
// REQUIRES: ingot-opt

// 8 x 8 outputs are 16 Winograd tiles of 2 x 2, which are transformed to 4 x 4
// points: two blocks of 8 tiles, in scratch memory. The tiles of a block are
// transformed, inside the image and at its border, multiplied point by point
// and panel by panel in one register tile of 8 rows, and transformed back.
// CHECK-LABEL: @whole_blocks(
// CHECK-SAME: memref<1x16x8x16xf32>{{.*}}, %{{.*}}: memref<1x16x8x16xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c2
// CHECK: scf.for %{{.*}} = %c0 to %c8
// CHECK: scf.if
// CHECK: else
// CHECK: arith.select
// CHECK: scf.for %{{.*}} = %c0 to %c2
// CHECK: scf.for %{{.*}} = %c0 to %c16
// CHECK: %{{.*}}:8 = scf.for %{{.*}} = %c0 to %c16
// CHECK-COUNT-8: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.for %{{.*}} = %c0 to %c8
// CHECK: return
kernel.func @whole_blocks(%x: tensor<1x8x8x16xf32>, %p: tensor<8192xf32>) -> tensor<1x8x8x32xf32> attributes {strategy = "winograd", plan = {block = 8, columns = 16, parts = 1, rows = 8, size = 2}} {
  %u = graph.unpack_panels %p {panel = 16 : i64, tail = 0 : i64} : (tensor<8192xf32>) -> tensor<16x16x32xf32>
  %w = graph.restore_kernel %u {size = 2 : i64} : (tensor<16x16x32xf32>) -> tensor<3x3x16x32xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x16x32xf32>) -> tensor<1x8x8x32xf32>
  kernel.return %y : tensor<1x8x8x32xf32>
}

// A maximum pool starts with minus infinity, which every number replaces and NaN
// does not.
// CHECK-LABEL: @pooled(
// CHECK: %[[LEAST:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[FIRST:.*]] = vector.broadcast %[[LEAST]] : f32 to vector<16xf32>
// CHECK: %[[GREATER:.*]] = arith.cmpf ogt, %[[X:.*]], %[[FIRST]] : vector<16xf32>
// CHECK: arith.select %[[GREATER]], %[[X]], %[[FIRST]] : vector<16xi1>, vector<16xf32>
// CHECK: return
kernel.func @pooled(%x: tensor<1x8x8x16xf32>, %p: tensor<8192xf32>) -> tensor<1x4x4x32xf32> attributes {strategy = "winograd", plan = {block = 8, columns = 16, parts = 1, rows = 8, size = 2}} {
  %u = graph.unpack_panels %p {panel = 16 : i64, tail = 0 : i64} : (tensor<8192xf32>) -> tensor<16x16x32xf32>
  %w = graph.restore_kernel %u {size = 2 : i64} : (tensor<16x16x32xf32>) -> tensor<3x3x16x32xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x16x32xf32>) -> tensor<1x8x8x32xf32>
  %z = graph.max_pool %y {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x8x8x32xf32>) -> tensor<1x4x4x32xf32>
  kernel.return %z : tensor<1x4x4x32xf32>
}
