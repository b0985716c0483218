// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v4 -decide-pack-weights=target=x86-64-v4 | FileCheck %s
// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v3 -decide-pack-weights=target=x86-64-v3 | FileCheck %s --check-prefix=EIGHT
// REQUIRES: ingot-opt

// 6 output channels fill few of 16 lanes, so vectors hold positions: the 28
// positions of a row nearly fill two vectors. The 28 rows are 7 parts of 4
// rows, which threads share. The weights are not packed. With 8 lanes, vectors
// hold channels.
// CHECK-LABEL: @few(
// CHECK: graph.group "position-convolution"(%{{.*}}, %arg0) {plan = {channels = 6 : i64, lines = 4 : i64, parts = 7 : i64, vectors = 2 : i64}} : (tensor<5x5x1x6xf32>, tensor<1x28x28x1xf32>)
// EIGHT-LABEL: @few(
// EIGHT: graph.group "convolution"
func.func @few(%x: tensor<1x28x28x1xf32>) -> tensor<1x28x28x6xf32> {
  %w = graph.constant dense_resource<w> : tensor<5x5x1x6xf32> : tensor<5x5x1x6xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 2, 2>, groups = 1 : i64} : (tensor<1x28x28x1xf32>, tensor<5x5x1x6xf32>) -> tensor<1x28x28x6xf32>
  return %y : tensor<1x28x28x6xf32>
}

// 8 channels of an image, with a stride of 2: the group reads the
// channels-first image, whose columns are contiguous, and includes the
// transpose.
// CHECK-LABEL: @picture(
// CHECK: graph.group "position-convolution"
// CHECK-NEXT: ^bb0
// CHECK-NEXT: graph.transpose
func.func @picture(%x: tensor<1x3x96x96xf32>) -> tensor<1x48x48x8xf32> {
  %w = graph.constant dense_resource<v> : tensor<3x3x3x8xf32> : tensor<3x3x3x8xf32>
  %t = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x96x96xf32>) -> tensor<1x96x96x3xf32>
  %y = graph.conv %t, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x96x96x3xf32>, tensor<3x3x3x8xf32>) -> tensor<1x48x48x8xf32>
  return %y : tensor<1x48x48x8xf32>
}

// Vectors hold channels if there are few multiplications: the transpose of the
// results, which vectors of positions need, would cost more than it saves.
// CHECK-LABEL: @few_products(
// CHECK: graph.group "convolution"
func.func @few_products(%x: tensor<1x96x96x1xf32>) -> tensor<1x48x48x8xf32> {
  %w = graph.constant dense_resource<u> : tensor<3x3x1x8xf32> : tensor<3x3x1x8xf32>
  %y = graph.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x96x96x1xf32>, tensor<3x3x1x8xf32>) -> tensor<1x48x48x8xf32>
  return %y : tensor<1x48x48x8xf32>
}

// Vectors hold channels if a tensor is added to the result, because its
// channels are contiguous.
// CHECK-LABEL: @residual(
// CHECK: graph.group "convolution"
func.func @residual(%x: tensor<1x28x28x1xf32>, %r: tensor<1x28x28x6xf32>) -> tensor<1x28x28x6xf32> {
  %w = graph.constant dense_resource<w> : tensor<5x5x1x6xf32> : tensor<5x5x1x6xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 2, 2>, groups = 1 : i64} : (tensor<1x28x28x1xf32>, tensor<5x5x1x6xf32>) -> tensor<1x28x28x6xf32>
  %y = graph.add %c, %r : (tensor<1x28x28x6xf32>, tensor<1x28x28x6xf32>) -> tensor<1x28x28x6xf32>
  return %y : tensor<1x28x28x6xf32>
}
