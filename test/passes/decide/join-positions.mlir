// RUN: %ingot-opt %s -decide-join-positions=target=hexagon-v67 | FileCheck %s
// RUN: %ingot-opt %s -decide-join-positions=target=x86-64-v4 | FileCheck %s --check-prefix=SAME
// REQUIRES: ingot-opt

// Four positions of eight filters fill a vector of sums, and their windows
// start at word boundaries. Operators that follow, with a constant for each
// channel or one for all, are applied to the joined positions too.
// CHECK-LABEL: @few_filters(
// CHECK: %[[FIRST:.*]] = graph.pad %{{.*}} {low = array<i64: 0, 0, 0, 0>} : (tensor<5x5x1x8xsi8>, tensor<si8>) -> tensor<5x8x1x8xsi8>
// CHECK: %[[LAST:.*]] = graph.pad %{{.*}} {low = array<i64: 0, 3, 0, 0>}
// CHECK: %[[W:.*]] = graph.concat %[[FIRST]], %{{.*}}, %{{.*}}, %[[LAST]] {axis = 3 : i64} : {{.*}} -> tensor<5x8x1x32xsi8>
// CHECK: %[[Y:.*]] = graph.conv %arg0, %[[W]] {{.*}}low = array<i64: 2, 2>, strides = array<i64: 1, 4>{{.*}} -> tensor<1x28x7x32xsi32>
// CHECK: %[[F:.*]] = graph.cast %[[Y]]
// CHECK: %[[S:.*]] = graph.concat {{.*}} -> tensor<1x1x1x32xf32>
// CHECK: %[[D:.*]] = graph.dequantize %[[F]], %[[S]], %{{.*}} -> tensor<1x28x7x32xf32>
// CHECK: %[[Q:.*]] = graph.quantize %[[D]], {{.*}} -> tensor<1x28x7x32xui8>
// CHECK: graph.reshape %[[Q]] : (tensor<1x28x7x32xui8>) -> tensor<1x28x28x8xui8>
// SAME-LABEL: @few_filters(
// SAME: graph.conv {{.*}} -> tensor<1x28x28x8xsi32>
func.func @few_filters(%x: tensor<1x28x28x1xui8>) -> tensor<1x28x28x8xui8> {
  %w = graph.constant dense<3> : tensor<5x5x1x8xsi8> : tensor<5x5x1x8xsi8>
  %scales = graph.constant dense<0.5> : tensor<1x1x1x8xf32> : tensor<1x1x1x8xf32>
  %none = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<9> : tensor<ui8> : tensor<ui8>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 2, 2>, groups = 1} : (tensor<1x28x28x1xui8>, tensor<5x5x1x8xsi8>) -> tensor<1x28x28x8xsi32>
  %f = graph.cast %y : (tensor<1x28x28x8xsi32>) -> tensor<1x28x28x8xf32>
  %d = graph.dequantize %f, %scales, %none : (tensor<1x28x28x8xf32>, tensor<1x1x1x8xf32>, tensor<f32>) -> tensor<1x28x28x8xf32>
  %q = graph.quantize %d, %one, %zero : (tensor<1x28x28x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x28x28x8xui8>
  return %q : tensor<1x28x28x8xui8>
}

// If channels are not whole words, columns are joined so that each word
// contains channels of several columns.
// CHECK-LABEL: @colours(
// CHECK: %[[X:.*]] = graph.reshape %arg0 : (tensor<1x32x32x3xui8>) -> tensor<1x32x96x1xui8>
// CHECK: %[[W:.*]] = graph.reshape %{{.*}} : (tensor<3x9x3x32xsi8>) -> tensor<3x27x1x32xsi8>
// CHECK: graph.conv %[[X]], %[[W]] {{.*}}low = array<i64: 1, 3>, strides = array<i64: 2, 24>{{.*}} -> tensor<1x16x4x32xsi32>
// CHECK: graph.reshape {{.*}} -> tensor<1x16x16x8xsi32>
func.func @colours(%x: tensor<1x32x32x3xui8>) -> tensor<1x16x16x8xsi32> {
  %w = graph.constant dense<3> : tensor<3x3x3x8xsi8> : tensor<3x3x3x8xsi8>
  %y = graph.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1} : (tensor<1x32x32x3xui8>, tensor<3x3x3x8xsi8>) -> tensor<1x16x16x8xsi32>
  return %y : tensor<1x16x16x8xsi32>
}

// A tensor with the same shape is added: operators that compute only that
// tensor are joined as well, and joined results are not split for it.
// CHECK-LABEL: @residual(
// CHECK: %[[A:.*]] = graph.conv %arg0, {{.*}} -> tensor<1x8x4x32xsi32>
// CHECK: %[[B:.*]] = graph.reshape %arg1 {{.*}} -> tensor<1x8x4x32xui8>
// CHECK: %[[WIDE:.*]] = graph.cast %[[B]] : {{.*}} -> tensor<1x8x4x32xsi32>
// CHECK: %[[Y:.*]] = graph.add %[[A]], %[[WIDE]]
// CHECK: graph.conv {{.*}} -> tensor<1x8x4x32xsi32>
// CHECK-NOT: -> tensor<1x8x8x16xsi32>
// CHECK: %[[Z:.*]] = graph.add %[[Y]],
// CHECK: graph.reshape %[[Z]] {{.*}} -> tensor<1x8x8x16xsi32>
func.func @residual(%x: tensor<1x8x8x16xui8>, %given: tensor<1x8x8x16xui8>) -> tensor<1x8x8x16xsi32> {
  %w = graph.constant dense<3> : tensor<3x3x16x16xsi8> : tensor<3x3x16x16xsi8>
  %a = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1} : (tensor<1x8x8x16xui8>, tensor<3x3x16x16xsi8>) -> tensor<1x8x8x16xsi32>
  %wide = graph.cast %given : (tensor<1x8x8x16xui8>) -> tensor<1x8x8x16xsi32>
  %y = graph.add %a, %wide : (tensor<1x8x8x16xsi32>, tensor<1x8x8x16xsi32>) -> tensor<1x8x8x16xsi32>
  %b = graph.conv %given, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1} : (tensor<1x8x8x16xui8>, tensor<3x3x16x16xsi8>) -> tensor<1x8x8x16xsi32>
  %z = graph.add %y, %b : (tensor<1x8x8x16xsi32>, tensor<1x8x8x16xsi32>) -> tensor<1x8x8x16xsi32>
  return %z : tensor<1x8x8x16xsi32>
}

// A 1x1 convolution with one filter becomes a 1x1 convolution over the channels
// of four joined positions.
// CHECK-LABEL: @sums(
// CHECK: %[[X:.*]] = graph.reshape %arg0 : (tensor<1x8x8x16xui8>) -> tensor<1x8x2x64xui8>
// CHECK: graph.conv %[[X]], {{.*}}strides = array<i64: 1, 1>{{.*}} : (tensor<1x8x2x64xui8>, tensor<1x1x64x4xui8>) -> tensor<1x8x2x4xsi32>
func.func @sums(%x: tensor<1x8x8x16xui8>) -> tensor<1x8x8x1xsi32> {
  %w = graph.constant dense<1> : tensor<1x1x16x1xui8> : tensor<1x1x16x1xui8>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1} : (tensor<1x8x8x16xui8>, tensor<1x1x16x1xui8>) -> tensor<1x8x8x1xsi32>
  return %y : tensor<1x8x8x1xsi32>
}

// Positions are not joined if the filters fill vectors, if the width of the
// result is not divisible, if the window is dilated, or if the weights are not
// constant.
// CHECK-LABEL: @others(
// CHECK-DAG: graph.conv {{.*}} -> tensor<1x8x8x32xsi32>
// CHECK-DAG: graph.conv {{.*}} -> tensor<1x8x7x8xsi32>
// CHECK-DAG: graph.conv {{.*}}dilations = array<i64: 2, 2>{{.*}} -> tensor<1x4x4x8xsi32>
// CHECK-DAG: graph.conv %arg0, %arg1 {{.*}} -> tensor<1x6x6x8xsi32>
// CHECK: return
func.func @others(%x: tensor<1x8x8x16xui8>, %given: tensor<3x3x16x8xsi8>) -> (tensor<1x8x8x32xsi32>, tensor<1x8x7x8xsi32>, tensor<1x4x4x8xsi32>, tensor<1x6x6x8xsi32>) {
  %many = graph.constant dense<3> : tensor<3x3x16x32xsi8> : tensor<3x3x16x32xsi8>
  %few = graph.constant dense<3> : tensor<3x3x16x8xsi8> : tensor<3x3x16x8xsi8>
  %two = graph.constant dense<3> : tensor<1x2x16x8xsi8> : tensor<1x2x16x8xsi8>
  %a = graph.conv %x, %many {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1} : (tensor<1x8x8x16xui8>, tensor<3x3x16x32xsi8>) -> tensor<1x8x8x32xsi32>
  %b = graph.conv %x, %two {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1} : (tensor<1x8x8x16xui8>, tensor<1x2x16x8xsi8>) -> tensor<1x8x7x8xsi32>
  %c = graph.conv %x, %few {strides = array<i64: 1, 1>, dilations = array<i64: 2, 2>, low = array<i64: 0, 0>, groups = 1} : (tensor<1x8x8x16xui8>, tensor<3x3x16x8xsi8>) -> tensor<1x4x4x8xsi32>
  %d = graph.conv %x, %given {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1} : (tensor<1x8x8x16xui8>, tensor<3x3x16x8xsi8>) -> tensor<1x6x6x8xsi32>
  return %a, %b, %c, %d : tensor<1x8x8x32xsi32>, tensor<1x8x7x8xsi32>, tensor<1x4x4x8xsi32>, tensor<1x6x6x8xsi32>
}
