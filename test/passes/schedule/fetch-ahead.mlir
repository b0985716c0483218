// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v4 | FileCheck %s
// RUN: %ingot-opt %s -schedule-kernels=target=generic | FileCheck %s --check-prefix=NONE
// REQUIRES: ingot-opt
// NONE-NOT: kernel.prefetch

// Weights of 2 MiB do not stay in an L2 cache of 1 MiB. While 16 tiles of rows
// are multiplied by a panel, in K tiles of 16 steps, each K tile prefetches one
// K step of the next panel. Nothing is prefetched after the last panel.
// CHECK-LABEL: @large(
// CHECK: scf.for %[[PANEL:.*]] = %arg3 to %arg4
// CHECK: scf.for %[[ROW:.*]] =
// CHECK: %[[TILE:.*]] = arith.divsi %[[ROW]], %c8
// CHECK: %[[BEFORE:.*]] = arith.muli %[[TILE]], %c32
// CHECK: %[[FIRST:.*]] = arith.addi %[[BEFORE]], %c512
// CHECK: %[[PANELS:.*]] = arith.subi %c21, %[[PANEL]]
// CHECK: %[[STEPS:.*]] = arith.muli %[[PANELS]], %c512
// CHECK: %[[LAST:.*]] = arith.subi %[[STEPS]], %c1
// CHECK: scf.for %[[CHUNK:.*]] = %c0 to %c32
// CHECK: %[[AHEAD:.*]] = arith.addi %[[FIRST]], %[[CHUNK]]
// CHECK: arith.minsi %[[AHEAD]], %[[LAST]]
// CHECK-COUNT-3: kernel.prefetch {{.*}}, 64
// CHECK: %[[BEGIN:.*]] = arith.muli %[[CHUNK]], %c16
// CHECK: %[[END:.*]] = arith.addi %[[BEGIN]], %c16
// CHECK: scf.for {{.*}} = %[[BEGIN]] to %[[END]]
// Rows that remain after whole tiles prefetch nothing. Weights of 252 KiB are
// not prefetched either, since the cache holds the weights of several such
// kernels.
// CHECK-NOT: kernel.prefetch
// CHECK-LABEL: @small(
// CHECK-NOT: kernel.prefetch
kernel.func @large(%x: tensor<133x512xf32>, %w: tensor<516096xf32>) -> tensor<133x1008xf32>
    attributes {strategy = "matrix-product", plan = {columns = 48, rows = 8, splits = 1}} {
  %p = graph.unpack_panels %w {panel = 48 : i64, tail = 0 : i64} : (tensor<516096xf32>) -> tensor<512x1008xf32>
  %y = graph.matmul %x, %p : (tensor<133x512xf32>, tensor<512x1008xf32>) -> tensor<133x1008xf32>
  kernel.return %y : tensor<133x1008xf32>
}
kernel.func @small(%x: tensor<133x64xf32>, %w: tensor<64512xf32>) -> tensor<133x1008xf32>
    attributes {strategy = "matrix-product", plan = {columns = 48, rows = 8, splits = 1}} {
  %p = graph.unpack_panels %w {panel = 48 : i64, tail = 0 : i64} : (tensor<64512xf32>) -> tensor<64x1008xf32>
  %y = graph.matmul %x, %p : (tensor<133x64xf32>, tensor<64x1008xf32>) -> tensor<133x1008xf32>
  kernel.return %y : tensor<133x1008xf32>
}

// A tensor of 1 MiB that is added to a matrix multiplication is prefetched
// before the K steps of a tile of six rows, one cache line for each row. It is
// not prefetched if the tile has many lines (14 rows of two), or if the tensor
// stays in the L2 cache.
// CHECK-LABEL: @added(
// CHECK: scf.for %[[ROW:.*]] =
// CHECK-COUNT-6: kernel.prefetch {{.*}}, 64 : memref<258x1024xf32>
// CHECK-NOT: kernel.prefetch
// CHECK: scf.for
// CHECK: return
// CHECK-LABEL: @added_to_many_lines(
// CHECK-NOT: kernel.prefetch
// CHECK-LABEL: @added_from_cache(
// CHECK-NOT: kernel.prefetch
kernel.func @added(%x: tensor<258x64xf32>, %w: tensor<64x1024xf32>, %z: tensor<258x1024xf32>) -> tensor<258x1024xf32>
    attributes {strategy = "matrix-product", plan = {columns = 16, rows = 6, splits = 1}} {
  %y = graph.matmul %x, %w : (tensor<258x64xf32>, tensor<64x1024xf32>) -> tensor<258x1024xf32>
  %sum = graph.add %y, %z : (tensor<258x1024xf32>, tensor<258x1024xf32>) -> tensor<258x1024xf32>
  kernel.return %sum : tensor<258x1024xf32>
}
kernel.func @added_to_many_lines(%x: tensor<280x64xf32>, %w: tensor<64x1024xf32>, %z: tensor<280x1024xf32>) -> tensor<280x1024xf32>
    attributes {strategy = "matrix-product", plan = {columns = 32, rows = 14, splits = 1}} {
  %y = graph.matmul %x, %w : (tensor<280x64xf32>, tensor<64x1024xf32>) -> tensor<280x1024xf32>
  %sum = graph.add %y, %z : (tensor<280x1024xf32>, tensor<280x1024xf32>) -> tensor<280x1024xf32>
  kernel.return %sum : tensor<280x1024xf32>
}
kernel.func @added_from_cache(%x: tensor<120x64xf32>, %w: tensor<64x1024xf32>, %z: tensor<120x1024xf32>) -> tensor<120x1024xf32>
    attributes {strategy = "matrix-product", plan = {columns = 16, rows = 6, splits = 1}} {
  %y = graph.matmul %x, %w : (tensor<120x64xf32>, tensor<64x1024xf32>) -> tensor<120x1024xf32>
  %sum = graph.add %y, %z : (tensor<120x1024xf32>, tensor<120x1024xf32>) -> tensor<120x1024xf32>
  kernel.return %sum : tensor<120x1024xf32>
}
