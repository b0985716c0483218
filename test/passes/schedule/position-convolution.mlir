// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v4 | FileCheck %s
// REQUIRES: ingot-opt

// A convolution with a 2x2 pool: the lanes of a vector are the 14 positions of
// a row of the pool's result. Each row of the input becomes two rows of a copy,
// one of even and one of odd columns: 14 numbers and two zeros. 16 zeros before
// them are the padding of the first row.
// CHECK-LABEL: kernel.func @pooled(
// CHECK-SAME: %[[COPY:[a-z0-9]+]]: memref<1056xf32>
// CHECK: vector.store %{{.*}}, %[[COPY]]
// CHECK: scf.for %{{.*}} to %c64
// CHECK: vector.store %{{.*}}, %[[COPY]]
// CHECK-COUNT-2: vector.load %{{.*}} : memref<1x28x28xf32>, vector<8xf32>
// CHECK: vector.shuffle %{{.*}} [0, 2, 4, 6, 8, 10, 12, 14]
// CHECK: vector.shuffle %{{.*}} [1, 3, 5, 7, 9, 11, 13, 15]

// 12 vectors of sums, for 6 channels at both columns of a pool window, with 5
// kernel columns.
// CHECK: %{{.*}}:12 = scf.for
// CHECK: vector.load %[[COPY]][%{{.*}}] : memref<1056xf32>, vector<16xf32>
// CHECK: memref.load %{{.*}} : memref<5x5x1x6xf32>
// CHECK-COUNT-60: vector.fma
// CHECK-NOT: vector.fma

// The vectors of 6 channels, padded to 8, are transposed in three steps of 8
// shuffles; 84 of 96 results are stored.
// CHECK-COUNT-24: vector.shuffle
// CHECK: vector.store %{{.*}} : memref<14x84xf32>, vector<16xf32>
// CHECK-COUNT-4: vector.store %{{.*}} : memref<14x84xf32>, vector<16xf32>
// CHECK: vector.store %{{.*}} : memref<14x84xf32>, vector<4xf32>
// CHECK-NOT: vector.store
kernel.func @pooled(%x: tensor<1x28x28x1xf32>, %w: tensor<5x5x1x6xf32>) -> tensor<1x14x14x6xf32> attributes {strategy = "position-convolution", plan = {channels = 6, lines = 14, parts = 1, vectors = 1}} {
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 2, 2>, groups = 1 : i64} : (tensor<1x28x28x1xf32>, tensor<5x5x1x6xf32>) -> tensor<1x28x28x6xf32>
  %r = graph.relu %c : (tensor<1x28x28x6xf32>) -> tensor<1x28x28x6xf32>
  %y = graph.max_pool %r {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x28x28x6xf32>) -> tensor<1x14x14x6xf32>
  kernel.return %y : tensor<1x14x14x6xf32>
}

// The vectors of two channels are interleaved when they are stored. The kernel
// reads the channels-first image, whose columns are contiguous. Each of four
// parts, of 12 output rows, has its own copy of its input rows.
// CHECK-LABEL: kernel.func @parts(
// CHECK: vector.load %{{.*}} : memref<1x3x96x96xf32>, vector<16xf32>
// CHECK: %{{.*}}:6 = scf.for
// CHECK-COUNT-2: vector.shuffle
// CHECK-COUNT-16: vector.store %{{.*}} : memref<1x48x48x8xf32>, vector<2xf32>
kernel.func @parts(%x: tensor<1x3x96x96xf32>, %w: tensor<3x3x3x8xf32>) -> tensor<1x48x48x8xf32> attributes {strategy = "position-convolution", plan = {channels = 2, lines = 12, parts = 4, vectors = 3}} {
  %t = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x96x96xf32>) -> tensor<1x96x96x3xf32>
  %y = graph.conv %t, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x96x96x3xf32>, tensor<3x3x3x8xf32>) -> tensor<1x48x48x8xf32>
  kernel.return %y : tensor<1x48x48x8xf32>
}
