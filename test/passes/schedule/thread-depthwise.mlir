// RUN: %ingot-opt %s -schedule-kernels=target=sm_80 | FileCheck %s
// REQUIRES: ingot-opt

// In a depthwise convolution, each thread computes two positions of two
// channels: 3 rows x 4 pairs of columns x 4 pairs of channels are 48 threads.
// For a kernel row, a thread reads three weights per channel and four input
// columns; columns outside of the input count as zeros.
// CHECK-LABEL: kernel.func @tile(
// CHECK-SAME: extent = 1 : index
// CHECK-SAME: threads = 64 : i64
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-6: memref.load %{{.*}} : memref<3x3x1x8xf32>
// CHECK: scf.if {{.*}} -> (f32, f32)
// CHECK-COUNT-2: memref.load %{{.*}} : memref<1x3x8x8xf32>
// CHECK: } else {
// CHECK: math.fma
// CHECK-COUNT-6: memref.load %{{.*}} : memref<1x3x8x8xf32>
// CHECK-NOT: memref.load
// CHECK: scf.yield
// CHECK-COUNT-4: memref.store
// CHECK-NOT: memref.store
kernel.func @tile(%x: tensor<1x3x8x8xf32>, %w: tensor<3x3x1x8xf32>) -> tensor<1x3x8x8xf32> attributes {strategy = "thread-depthwise", plan = {channels = 2, columns = 2}} {
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 8 : i64} : (tensor<1x3x8x8xf32>, tensor<3x3x1x8xf32>) -> tensor<1x3x8x8xf32>
  kernel.return %y : tensor<1x3x8x8xf32>
}

// With a stride of 2 and without padding, the only condition is whether the
// last pair of columns has a second position.
// CHECK-LABEL: kernel.func @strides(
// CHECK-NOT: scf.if {{.*}} ->
// CHECK: scf.if
// CHECK: memref.store
kernel.func @strides(%x: tensor<1x3x15x4xf32>, %w: tensor<3x3x1x4xf32>) -> tensor<1x1x7x4xf32> attributes {strategy = "thread-depthwise", plan = {channels = 4, columns = 1}} {
  %y = graph.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 4 : i64} : (tensor<1x3x15x4xf32>, tensor<3x3x1x4xf32>) -> tensor<1x1x7x4xf32>
  kernel.return %y : tensor<1x1x7x4xf32>
}
