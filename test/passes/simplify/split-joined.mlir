// Operators that work on each position of a concatenation are applied to each
// operand instead.
//
// RUN: %ingot-opt %s -simplify-split-joined | FileCheck %s
// REQUIRES: ingot-opt

// The reshape, the softmax and the convolution, whose result is a sixteenth of
// its input, are applied to each operand; then the results are concatenated.
// CHECK-LABEL: @boxes(
// CHECK: graph.reshape %arg0 : (tensor<1x512x64xf32>) -> tensor<1x512x4x16xf32>
// CHECK-NEXT: graph.softmax
// CHECK-NEXT: %[[A:.*]] = graph.conv {{.*}} -> tensor<1x512x4x1xf32>
// CHECK-NEXT: graph.reshape %arg1 : (tensor<1x256x64xf32>) -> tensor<1x256x4x16xf32>
// CHECK-NEXT: graph.softmax
// CHECK-NEXT: %[[B:.*]] = graph.conv {{.*}} -> tensor<1x256x4x1xf32>
// CHECK-NEXT: %[[Y:.*]] = graph.concat %[[A]], %[[B]] {axis = 1 : i64}
// CHECK-NEXT: return %[[Y]]
func.func @boxes(%a: tensor<1x512x64xf32>, %b: tensor<1x256x64xf32>) -> tensor<1x768x4x1xf32> {
  %w = graph.constant dense<0.5> : tensor<1x1x16x1xf32> : tensor<1x1x16x1xf32>
  %j = graph.concat %a, %b {axis = 1 : i64} : (tensor<1x512x64xf32>, tensor<1x256x64xf32>) -> tensor<1x768x64xf32>
  %r = graph.reshape %j : (tensor<1x768x64xf32>) -> tensor<1x768x4x16xf32>
  %s = graph.softmax %r {axis = 3 : i64} : (tensor<1x768x4x16xf32>) -> tensor<1x768x4x16xf32>
  %y = graph.conv %s, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x768x4x16xf32>, tensor<1x1x16x1xf32>) -> tensor<1x768x4x1xf32>
  return %y : tensor<1x768x4x1xf32>
}

// If a second concatenation is returned, the operands of the first one become
// operands of the second one, and are written directly into the result. The
// transpose changes the axis of the first concatenation.
// CHECK-LABEL: @classes(
// CHECK: graph.sigmoid %arg0
// CHECK-NEXT: %[[A:.*]] = graph.transpose
// CHECK-NEXT: graph.sigmoid %arg1
// CHECK-NEXT: %[[B:.*]] = graph.transpose
// CHECK-NEXT: %[[J:.*]] = graph.concat %[[A]], %[[B]] {axis = 2 : i64}
// CHECK-NEXT: graph.concat %arg2, %[[J]] {axis = 1 : i64}
func.func @classes(%a: tensor<1x512x64xf32>, %b: tensor<1x256x64xf32>, %c: tensor<1x4x768xf32>) -> tensor<1x68x768xf32> {
  %j = graph.concat %a, %b {axis = 1 : i64} : (tensor<1x512x64xf32>, tensor<1x256x64xf32>) -> tensor<1x768x64xf32>
  %s = graph.sigmoid %j : (tensor<1x768x64xf32>) -> tensor<1x768x64xf32>
  %t = graph.transpose %s {perm = array<i64: 0, 2, 1>} : (tensor<1x768x64xf32>) -> tensor<1x64x768xf32>
  %y = graph.concat %c, %t {axis = 1 : i64} : (tensor<1x4x768xf32>, tensor<1x64x768xf32>) -> tensor<1x68x768xf32>
  return %y : tensor<1x68x768xf32>
}

// The concatenation stays if the result of the operator after it is as large as
// its own, and is not concatenated with another tensor.
// CHECK-LABEL: @as_large(
// CHECK-NEXT: graph.concat
// CHECK-NEXT: graph.sigmoid
func.func @as_large(%a: tensor<1x512x64xf32>, %b: tensor<1x256x64xf32>) -> tensor<1x768x64xf32> {
  %j = graph.concat %a, %b {axis = 1 : i64} : (tensor<1x512x64xf32>, tensor<1x256x64xf32>) -> tensor<1x768x64xf32>
  %s = graph.sigmoid %j : (tensor<1x768x64xf32>) -> tensor<1x768x64xf32>
  return %s : tensor<1x768x64xf32>
}

// The concatenation stays before a softmax along its axis, which involves all
// operands.
// CHECK-LABEL: @across_parts(
// CHECK: graph.concat %arg0, %arg1
// CHECK-NEXT: graph.softmax
func.func @across_parts(%a: tensor<1x512x64xf32>, %b: tensor<1x256x64xf32>) -> tensor<1x768x1x1xf32> {
  %w = graph.constant dense<0.5> : tensor<1x1x64x1xf32> : tensor<1x1x64x1xf32>
  %j = graph.concat %a, %b {axis = 1 : i64} : (tensor<1x512x64xf32>, tensor<1x256x64xf32>) -> tensor<1x768x64xf32>
  %s = graph.softmax %j {axis = 1 : i64} : (tensor<1x768x64xf32>) -> tensor<1x768x64xf32>
  %r = graph.reshape %s : (tensor<1x768x64xf32>) -> tensor<1x768x1x64xf32>
  %y = graph.conv %r, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x768x1x64xf32>, tensor<1x1x64x1xf32>) -> tensor<1x768x1x1xf32>
  return %y : tensor<1x768x1x1xf32>
}

// A concatenation of small operands stays: a launch for each operand would cost
// more.
// CHECK-LABEL: @small(
// CHECK: graph.concat %arg0, %arg1
func.func @small(%a: tensor<1x8x64xf32>, %b: tensor<1x8x64xf32>) -> tensor<1x16x1x1xf32> {
  %w = graph.constant dense<0.5> : tensor<1x1x64x1xf32> : tensor<1x1x64x1xf32>
  %j = graph.concat %a, %b {axis = 1 : i64} : (tensor<1x8x64xf32>, tensor<1x8x64xf32>) -> tensor<1x16x64xf32>
  %r = graph.reshape %j : (tensor<1x16x64xf32>) -> tensor<1x16x1x64xf32>
  %y = graph.conv %r, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x16x1x64xf32>, tensor<1x1x64x1xf32>) -> tensor<1x16x1x1xf32>
  return %y : tensor<1x16x1x1xf32>
}
