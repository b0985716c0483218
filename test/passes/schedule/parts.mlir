// If threads cannot share the rows or tiles of a kernel evenly, rows and tiles
// are split into smaller parts.
//
// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v4 | FileCheck %s
// REQUIRES: ingot-opt

// A depthwise convolution with 7 rows of 36 vectors of channels has 14 parts,
// each of which is half a row.
// CHECK-LABEL: @channels(
// CHECK-SAME: %[[BEGIN:[a-z0-9]+]]: index {kernel.name = "begin"}, %[[END:[a-z0-9]+]]: index {
// CHECK-SAME: extent = 14
// CHECK: scf.for %[[PART:.*]] = %[[BEGIN]] to %[[END]]
// CHECK-DAG: arith.divsi %[[PART]], %c2
// CHECK-DAG: arith.remsi %[[PART]], %c2
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c16
kernel.func @channels(%x: tensor<1x9x9x576xf32>, %w: tensor<3x3x1x576xf32>) -> tensor<1x7x7x576xf32> attributes {strategy = "depthwise", plan = {columns = 7}} {
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 576 : i64} : (tensor<1x9x9x576xf32>, tensor<3x3x1x576xf32>) -> tensor<1x7x7x576xf32>
  kernel.return %y : tensor<1x7x7x576xf32>
}

// A convolution with four tiles of 12 positions, and 7 weight panels and a
// narrower one: a part is one tile by one panel. The narrower panel belongs to
// the last part of a tile, and the one position after the tiles to the last
// tile.
// CHECK-LABEL: @panels(
// CHECK-SAME: extent = 28
// CHECK-DAG: %[[SHARE:.*]] = arith.remsi %{{.*}}, %c7
// CHECK-DAG: %[[TILE:.*]] = arith.divsi %{{.*}}, %c7
// CHECK: %[[LAST_SHARE:.*]] = arith.cmpi eq, %[[SHARE]], %c6
// CHECK-NEXT: scf.if %[[LAST_SHARE]]
// CHECK: %[[LAST_TILE:.*]] = arith.cmpi eq, %[[TILE]], %c3
// CHECK-NEXT: scf.if %[[LAST_TILE]]
// CHECK: scf.if %[[LAST_SHARE]]
kernel.func @panels(%x: tensor<1x7x7x96xf32>, %p: tensor<23040xf32>) -> tensor<1x7x7x240xf32> attributes {strategy = "convolution", plan = {columns = 32, order = "tiles", rows = 12, splits = 1}} {
  %w = graph.unpack_panels %p {panel = 32 : i64, tail = 16 : i64} : (tensor<23040xf32>) -> tensor<1x1x96x240xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x7x7x96xf32>, tensor<1x1x96x240xf32>) -> tensor<1x7x7x240xf32>
  kernel.return %y : tensor<1x7x7x240xf32>
}

// A convolution with a pool over all positions has no rows to share, so its
// parts are two panels of 32 channels each.
// CHECK-LABEL: @pooled(
// CHECK-SAME: %[[BEGIN:[a-z0-9]+]]: index {kernel.name = "begin"}, %[[END:[a-z0-9]+]]: index {
// CHECK-SAME: extent = 2
// CHECK: scf.for %[[PART:.*]] = %[[BEGIN]] to %[[END]]
// CHECK: arith.muli %[[PART]], %c32
kernel.func @pooled(%x: tensor<1x8x5x64xf32>, %p: tensor<4096xf32>) -> tensor<1x1x1x64xf32> attributes {strategy = "convolution", plan = {columns = 32, order = "tiles", rows = 5, splits = 1}} {
  %w = graph.unpack_panels %p {panel = 32 : i64, tail = 0 : i64} : (tensor<4096xf32>) -> tensor<1x1x64x64xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x8x5x64xf32>, tensor<1x1x64x64xf32>) -> tensor<1x8x5x64xf32>
  %m = graph.average_pool %y {kernel = array<i64: 8, 5>, strides = array<i64: 8, 5>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, count_padding = false} : (tensor<1x8x5x64xf32>) -> tensor<1x1x1x64xf32>
  kernel.return %m : tensor<1x1x1x64xf32>
}

// A kernel with too little work for a second thread has no parts.
// CHECK-LABEL: @alone(
// CHECK-NOT: extent =
// CHECK: return
kernel.func @alone(%x: tensor<1x4x4x32xf32>, %w: tensor<3x3x1x32xf32>) -> tensor<1x2x2x32xf32> attributes {strategy = "depthwise", plan = {columns = 2}} {
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 32 : i64} : (tensor<1x4x4x32xf32>, tensor<3x3x1x32xf32>) -> tensor<1x2x2x32xf32>
  kernel.return %y : tensor<1x2x2x32xf32>
}
