// RUN: %ingot-opt %s -simplify-hoist-convolutions | FileCheck %s
// REQUIRES: ingot-opt

// A 1x1 convolution of an image that was enlarged by repeating pixels moves
// before the enlargement.
// CHECK-LABEL: @enlarged(
// CHECK: %[[C:.*]] = graph.conv %arg0
// CHECK-SAME: tensor<1x4x4x32xf32>
// CHECK: %[[R:.*]] = graph.gather %[[C]], {{.*}} {axis = 1 : i64, in_range}
// CHECK-SAME: tensor<1x8x4x16xf32>
// CHECK: %[[Y:.*]] = graph.gather %[[R]], {{.*}} {axis = 2 : i64, in_range}
// CHECK: return %[[Y]] : tensor<1x8x8x16xf32>
func.func @enlarged(%x: tensor<1x4x4x32xf32>) -> tensor<1x8x8x16xf32> {
  %i = graph.constant dense<[0, 0, 1, 1, 2, 2, 3, 3]> : tensor<8xsi32> : tensor<8xsi32>
  %w = graph.constant dense<0.5> : tensor<1x1x32x16xf32> : tensor<1x1x32x16xf32>
  %r = graph.gather %x, %i {axis = 1 : i64, in_range} : (tensor<1x4x4x32xf32>, tensor<8xsi32>) -> tensor<1x8x4x32xf32>
  %u = graph.gather %r, %i {axis = 2 : i64, in_range} : (tensor<1x8x4x32xf32>, tensor<8xsi32>) -> tensor<1x8x8x32xf32>
  %y = graph.conv %u, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x8x8x32xf32>, tensor<1x1x32x16xf32>) -> tensor<1x8x8x16xf32>
  return %y : tensor<1x8x8x16xf32>
}

// A 1x1 convolution of an enlarged image and another tensor, concatenated,
// becomes two convolutions: one before the enlargement, and one of the other
// tensor, which gets the bias.
// CHECK-LABEL: @joined(
// CHECK: %[[V:.*]] = graph.slice {{.*}} {starts = array<i64: 0, 0, 32, 0>
// CHECK: %[[Z:.*]] = graph.conv %arg1, %[[V]], %arg2
// CHECK: %[[U:.*]] = graph.slice {{.*}} {starts = array<i64: 0, 0, 0, 0>
// CHECK: %[[C:.*]] = graph.conv %arg0, %[[U]] {
// CHECK: %[[R:.*]] = graph.gather %[[C]]
// CHECK: %[[Y:.*]] = graph.add %[[Z]], %[[R]]
// CHECK: return %[[Y]]
func.func @joined(%x: tensor<1x4x8x32xf32>, %z: tensor<1x8x8x24xf32>, %b: tensor<16xf32>) -> tensor<1x8x8x16xf32> {
  %i = graph.constant dense<[0, 0, 1, 1, 2, 2, 3, 3]> : tensor<8xsi32> : tensor<8xsi32>
  %w = graph.constant dense<0.5> : tensor<1x1x56x16xf32> : tensor<1x1x56x16xf32>
  %u = graph.gather %x, %i {axis = 1 : i64, in_range} : (tensor<1x4x8x32xf32>, tensor<8xsi32>) -> tensor<1x8x8x32xf32>
  %j = graph.concat %u, %z {axis = 3 : i64} : (tensor<1x8x8x32xf32>, tensor<1x8x8x24xf32>) -> tensor<1x8x8x56xf32>
  %y = graph.conv %j, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x8x8x56xf32>, tensor<1x1x56x16xf32>, tensor<16xf32>) -> tensor<1x8x8x16xf32>
  return %y : tensor<1x8x8x16xf32>
}

// A convolution does not move before a gather that removes pixels, if its
// window is larger than 1x1, or if another operator also reads the gathered
// image.
// CHECK-LABEL: @fewer(
// CHECK: %[[U:.*]] = graph.gather
// CHECK: graph.conv %[[U]]
// CHECK-LABEL: @window(
// CHECK: %[[U:.*]] = graph.gather
// CHECK: graph.conv %[[U]]
// CHECK-LABEL: @read_twice(
// CHECK: %[[U:.*]] = graph.gather
// CHECK: graph.conv %[[U]]
func.func @fewer(%x: tensor<1x4x8x32xf32>) -> tensor<1x2x8x16xf32> {
  %i = graph.constant dense<[0, 3]> : tensor<2xsi32> : tensor<2xsi32>
  %w = graph.constant dense<0.5> : tensor<1x1x32x16xf32> : tensor<1x1x32x16xf32>
  %u = graph.gather %x, %i {axis = 1 : i64, in_range} : (tensor<1x4x8x32xf32>, tensor<2xsi32>) -> tensor<1x2x8x32xf32>
  %y = graph.conv %u, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x2x8x32xf32>, tensor<1x1x32x16xf32>) -> tensor<1x2x8x16xf32>
  return %y : tensor<1x2x8x16xf32>
}
func.func @window(%x: tensor<1x4x8x32xf32>) -> tensor<1x8x8x16xf32> {
  %i = graph.constant dense<[0, 0, 1, 1, 2, 2, 3, 3]> : tensor<8xsi32> : tensor<8xsi32>
  %w = graph.constant dense<0.5> : tensor<3x3x32x16xf32> : tensor<3x3x32x16xf32>
  %u = graph.gather %x, %i {axis = 1 : i64, in_range} : (tensor<1x4x8x32xf32>, tensor<8xsi32>) -> tensor<1x8x8x32xf32>
  %y = graph.conv %u, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x32xf32>, tensor<3x3x32x16xf32>) -> tensor<1x8x8x16xf32>
  return %y : tensor<1x8x8x16xf32>
}
func.func @read_twice(%x: tensor<1x4x8x32xf32>) -> (tensor<1x8x8x16xf32>, tensor<1x8x8x32xf32>) {
  %i = graph.constant dense<[0, 0, 1, 1, 2, 2, 3, 3]> : tensor<8xsi32> : tensor<8xsi32>
  %w = graph.constant dense<0.5> : tensor<1x1x32x16xf32> : tensor<1x1x32x16xf32>
  %u = graph.gather %x, %i {axis = 1 : i64, in_range} : (tensor<1x4x8x32xf32>, tensor<8xsi32>) -> tensor<1x8x8x32xf32>
  %y = graph.conv %u, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x8x8x32xf32>, tensor<1x1x32x16xf32>) -> tensor<1x8x8x16xf32>
  return %y, %u : tensor<1x8x8x16xf32>, tensor<1x8x8x32xf32>
}
