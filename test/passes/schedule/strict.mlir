// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v4 -decide-pack-weights=target=x86-64-v4 -lower-outline-groups -schedule-kernels=target=x86-64-v4 | FileCheck %s
// RUN: sed 's/attributes {kernel.strict}//' %s | %ingot-opt - -decide-form-groups=target=x86-64-v4 -decide-pack-weights=target=x86-64-v4 -lower-outline-groups -schedule-kernels=target=x86-64-v4 | FileCheck %s --check-prefix=LOOSE
// REQUIRES: ingot-opt

// With the attribute kernel.strict, the terms of a sum are added one after
// another; without it, they are added in vector lanes.
module attributes {kernel.strict} {

// CHECK-NOT: vector.reduction
// CHECK-NOT: arith.addf {{.*}} : vector<
// LOOSE: arith.addf {{.*}} : vector<16xf32>
func.func @main(%x: tensor<4x256xf32>, %z: tensor<4x256xf32>) -> (tensor<4x1xf32>, tensor<4x256xf32>) {
  %y = graph.reduce_sum %x {axes = array<i64: 1>} : (tensor<4x256xf32>) -> tensor<4x1xf32>
  %s = graph.softmax %z {axis = 1 : i64} : (tensor<4x256xf32>) -> tensor<4x256xf32>
  return %y, %s : tensor<4x1xf32>, tensor<4x256xf32>
}

// With kernel.strict, a matrix multiplication with few sums does not split its
// K steps into several partial sums.
// CHECK-LABEL: kernel.func @matmul
// CHECK: iter_args(%{{[a-z0-9]*}} = %{{[a-z0-9]*}}) -> (vector<16xf32>)
// CHECK-NOT: arith.addf
// LOOSE-LABEL: kernel.func @matmul
// LOOSE: %{{.*}}:4 = scf.for
// LOOSE: arith.addf {{.*}} : vector<16xf32>
func.func @product(%x: tensor<1x256xf32>, %w: tensor<256x16xf32>) -> tensor<1x16xf32> {
  %y = graph.matmul %x, %w : (tensor<1x256xf32>, tensor<256x16xf32>) -> tensor<1x16xf32>
  return %y : tensor<1x16xf32>
}

// With kernel.strict, a convolution does not use Winograd's algorithm, which
// spreads infinities and NaN of the input and overflows earlier
// (docs/precision.md).
// CHECK-LABEL: kernel.func @conv
// CHECK-SAME: strategy = "convolution"
// LOOSE-LABEL: kernel.func @conv
// LOOSE-SAME: strategy = "winograd"
func.func @convolution(%x: tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32> {
  %w = graph.constant dense<0.5> : tensor<3x3x32x32xf32> : tensor<3x3x32x32xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x16x32xf32>, tensor<3x3x32x32xf32>) -> tensor<1x16x16x32xf32>
  return %y : tensor<1x16x16x32xf32>
}

// With kernel.strict, a mean is the quotient of sum and count, and a softmax
// that of power and sum; without it, they are products with the reciprocal.
// CHECK-LABEL: kernel.func @reduce_mean
// CHECK: arith.divf
// CHECK-LABEL: kernel.func @average_pool
// CHECK: arith.divf
// CHECK-LABEL: kernel.func @softmax
// CHECK: arith.divf
// CHECK-NOT: arith.mulf
// LOOSE-LABEL: kernel.func @reduce_mean
// LOOSE-NOT: arith.divf
// LOOSE-LABEL: kernel.func @average_pool
// LOOSE-NOT: arith.divf
// LOOSE-LABEL: kernel.func @softmax
// LOOSE: arith.divf %{{.*}}, %{{.*}} : f32
// LOOSE: arith.mulf
func.func @quotients(%x: tensor<2x49x8x8xf32>) -> (tensor<2x1x8x8xf32>, tensor<2x47x6x8xf32>, tensor<2x49x8x8xf32>) {
  %m = graph.reduce_mean %x {axes = array<i64: 1>} : (tensor<2x49x8x8xf32>) -> tensor<2x1x8x8xf32>
  %a = graph.average_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, count_padding = false} : (tensor<2x49x8x8xf32>) -> tensor<2x47x6x8xf32>
  %s = graph.softmax %x {axis = 3 : i64} : (tensor<2x49x8x8xf32>) -> tensor<2x49x8x8xf32>
  return %m, %a, %s : tensor<2x1x8x8xf32>, tensor<2x47x6x8xf32>, tensor<2x49x8x8xf32>
}
}
