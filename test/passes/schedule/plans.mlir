// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v4 | FileCheck %s
// REQUIRES: ingot-opt

// The loops of a kernel follow its plan. Here a matrix multiplication is
// computed as one tile of 4 rows by 2 vectors, and as two panels of tiles of 1
// row by 1 vector, whose sums are split into two.
// CHECK-LABEL: @four_rows(
// CHECK: %{{.*}}:8 = scf.for %{{.*}} = %c0 to %c64
// CHECK-COUNT-8: vector.fma
// CHECK-NOT: vector.fma
// CHECK: return
kernel.func @four_rows(%x: tensor<4x64xf32>, %w: tensor<64x32xf32>) -> tensor<4x32xf32> attributes {strategy = "matrix-product", plan = {columns = 32, rows = 4, splits = 1}} {
  %y = graph.matmul %x, %w : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  kernel.return %y : tensor<4x32xf32>
}

// CHECK-LABEL: @one_row(
// CHECK: scf.for %{{.*}} = %c0 to %c2
// CHECK: scf.for %{{.*}} = %c0 to %c4
// CHECK: %{{.*}}:2 = scf.for %{{.*}} = %c0 to %c32
// CHECK-COUNT-2: vector.fma
// CHECK-NOT: vector.fma
// CHECK: arith.addf
// CHECK: return
kernel.func @one_row(%x: tensor<4x64xf32>, %w: tensor<64x32xf32>) -> tensor<4x32xf32> attributes {strategy = "matrix-product", plan = {columns = 16, rows = 1, splits = 2}} {
  %y = graph.matmul %x, %w : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  kernel.return %y : tensor<4x32xf32>
}

// The plan of a convolution determines whether the loop over tiles is outside
// of the loop over panels, or inside.
// CHECK-LABEL: @tiles_outside(
// CHECK: scf.for %{{.*}} = %c0 to %c32{{[_0-9]*}} step
// CHECK: scf.for %{{.*}} = %c0 to %c2
// CHECK: scf.for %{{.*}} = %c0 to %c8
// CHECK: vector.fma
// CHECK-LABEL: @panels_outside(
// CHECK: scf.for %{{.*}} = %c0 to %c2
// CHECK: scf.for %{{.*}} = %c0 to %c64{{[_0-9]*}} step %c2
// CHECK: scf.for %{{.*}} = %c0 to %c8
// CHECK: vector.fma
kernel.func @tiles_outside(%x: tensor<1x8x8x8xf32>, %p: tensor<256xf32>) -> tensor<1x8x8x32xf32> attributes {strategy = "convolution", plan = {columns = 16, order = "tiles", rows = 2, splits = 1}} {
  %w = graph.unpack_panels %p {panel = 16 : i64, tail = 0 : i64} : (tensor<256xf32>) -> tensor<1x1x8x32xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<1x1x8x32xf32>) -> tensor<1x8x8x32xf32>
  kernel.return %y : tensor<1x8x8x32xf32>
}
kernel.func @panels_outside(%x: tensor<1x8x8x8xf32>, %p: tensor<256xf32>) -> tensor<1x8x8x32xf32> attributes {strategy = "convolution", plan = {columns = 16, order = "panels", rows = 2, splits = 1}} {
  %w = graph.unpack_panels %p {panel = 16 : i64, tail = 0 : i64} : (tensor<256xf32>) -> tensor<1x1x8x32xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<1x1x8x32xf32>) -> tensor<1x8x8x32xf32>
  kernel.return %y : tensor<1x8x8x32xf32>
}

// The plan of a depthwise convolution says how many positions (here three) are
// computed together.
// CHECK-LABEL: @three_columns(
// CHECK: %{{.*}}:3 = scf.for
kernel.func @three_columns(%x: tensor<1x3x3x16xf32>, %w: tensor<3x3x1x16xf32>) -> tensor<1x3x3x16xf32> attributes {strategy = "depthwise", plan = {columns = 3}} {
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 16 : i64} : (tensor<1x3x3x16xf32>, tensor<3x3x1x16xf32>) -> tensor<1x3x3x16xf32>
  kernel.return %y : tensor<1x3x3x16xf32>
}

// The plan of an attention says how many queries and keys are computed
// together: here all keys in one pass.
// CHECK-LABEL: @all_keys(
// CHECK: memref.alloca() : memref<4x8xf32>
// CHECK: memref.alloca() : memref<4x32xf32>
// CHECK: memref.alloca() : memref<4xf32>
// CHECK-NOT: memref.alloca
// CHECK-LABEL: @blocks_of_keys(
// With blocks of keys, the softmax of a block continues from the maximum score
// of the blocks before it.
// CHECK: memref.alloca() : memref<4x8xf32>
// CHECK: memref.alloca() : memref<4x16xf32>
// CHECK-COUNT-2: memref.alloca() : memref<4xf32>
// CHECK: memref.alloca() : memref<4x16xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c2
// CHECK: return
kernel.func @all_keys(%q: tensor<1x8x8xf32>, %k: tensor<1x8x32xf32>, %v: tensor<1x32x16xf32>) -> tensor<1x8x16xf32> attributes {strategy = "attention", plan = {keys = 32, queries = 4, score_columns = 16, score_rows = 4, value_columns = 16, value_rows = 4}} {
  %s = graph.matmul %q, %k : (tensor<1x8x8xf32>, tensor<1x8x32xf32>) -> tensor<1x8x32xf32>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<1x8x32xf32>) -> tensor<1x8x32xf32>
  %y = graph.matmul %p, %v : (tensor<1x8x32xf32>, tensor<1x32x16xf32>) -> tensor<1x8x16xf32>
  kernel.return %y : tensor<1x8x16xf32>
}
kernel.func @blocks_of_keys(%q: tensor<1x8x8xf32>, %k: tensor<1x8x32xf32>, %v: tensor<1x32x16xf32>) -> tensor<1x8x16xf32> attributes {strategy = "attention", plan = {keys = 16, queries = 4, score_columns = 16, score_rows = 4, value_columns = 16, value_rows = 4}} {
  %s = graph.matmul %q, %k : (tensor<1x8x8xf32>, tensor<1x8x32xf32>) -> tensor<1x8x32xf32>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<1x8x32xf32>) -> tensor<1x8x32xf32>
  %y = graph.matmul %p, %v : (tensor<1x8x32xf32>, tensor<1x32x16xf32>) -> tensor<1x8x16xf32>
  kernel.return %y : tensor<1x8x16xf32>
}

// A 1x1 convolution of a concatenation reads the operands of the concatenation
// one after another, and a slice of one of them in place.
// CHECK-LABEL: @joined_channels(
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<1x8x8x8xf32>
// CHECK-SAME: %[[Z:[a-z0-9]*]]: memref<1x8x8x16xf32>
// CHECK-NOT: arith.select
// CHECK: scf.for %{{.*}} = %c0 to %c32
// CHECK: scf.for %{{.*}} = %c0 to %c8{{[_0-9]*}} step
// CHECK: vector.fma
// CHECK: scf.for %[[K:.*]] = %c0 to %c4
// CHECK: arith.addi %[[K]], %c8
// CHECK: arith.addi %[[K]], %c12
// CHECK: vector.fma
// CHECK-NOT: scf.for
// CHECK: return
kernel.func @joined_channels(%x: tensor<1x8x8x8xf32>, %z: tensor<1x8x8x16xf32>, %p: tensor<192xf32>) -> tensor<1x8x8x16xf32> attributes {strategy = "convolution", plan = {columns = 16, order = "tiles", rows = 2, splits = 1}} {
  %w = graph.unpack_panels %p {panel = 16 : i64, tail = 0 : i64} : (tensor<192xf32>) -> tensor<1x1x12x16xf32>
  %s = graph.slice %z {starts = array<i64: 0, 0, 0, 12>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x16xf32>) -> tensor<1x8x8x4xf32>
  %j = graph.concat %x, %s {axis = 3 : i64} : (tensor<1x8x8x8xf32>, tensor<1x8x8x4xf32>) -> tensor<1x8x8x12xf32>
  %y = graph.conv %j, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x8x8x12xf32>, tensor<1x1x12x16xf32>) -> tensor<1x8x8x16xf32>
  kernel.return %y : tensor<1x8x8x16xf32>
}
