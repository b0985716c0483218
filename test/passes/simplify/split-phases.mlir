// RUN: %ingot-opt %s -simplify-split-phases | FileCheck %s
// REQUIRES: ingot-opt

// A phase of a transposed convolution consists of the results whose positions
// have the same remainder modulo the stride. If the stride divides the kernel
// size, one convolution computes all phases, as channels, with the kernel
// positions in reverse order. Results in the padding (`low`) are cut off.
// CHECK-LABEL: @one_convolution(
// CHECK: %[[B:.*]] = graph.constant dense<5.0
// CHECK: %[[T:.*]] = graph.reshape {{.*}} -> tensor<2x2x2x2x1x8x3xf32>
// CHECK: graph.slice %[[T]] {starts = array<i64: 1, 0, 1, 0, 0, 0, 0>, steps = array<i64: -1, 1, -1, 1, 1, 1, 1>}
// CHECK-SAME: -> tensor<2x2x2x2x1x8x3xf32>
// CHECK: graph.transpose {{.*}} {perm = array<i64: 0, 2, 5, 4, 1, 3, 6>}
// CHECK: graph.expand {{.*}} -> tensor<1x2x2x3xf32>
// CHECK: %[[C:.*]] = graph.conv %arg0, {{.*}}, {{.*}} {dilations = array<i64: 1, 1>, groups = 1 : i64, low = array<i64: 1, 1>, strides = array<i64: 1, 1>}
// CHECK-SAME: -> tensor<1x6x7x12xf32>
// CHECK-NOT: graph.concat
// CHECK: graph.transpose {{.*}} {perm = array<i64: 0, 1, 3, 2, 4, 5>} {{.*}} -> tensor<1x6x2x7x2x3xf32>
// CHECK: graph.slice {{.*}} {starts = array<i64: 0, 1, 1, 0>, {{.*}} -> tensor<1x10x12x3xf32>
func.func @one_convolution(%x: tensor<1x5x6x8xf32>) -> tensor<1x10x12x3xf32> {
  %w = graph.constant dense<1.0> : tensor<4x4x8x3xf32> : tensor<4x4x8x3xf32>
  %b = graph.constant dense<0.5> : tensor<3xf32> : tensor<3xf32>
  %y = graph.conv_transpose %x, %w, %b {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x5x6x8xf32>, tensor<4x4x8x3xf32>, tensor<3xf32>) -> tensor<1x10x12x3xf32>
  return %y : tensor<1x10x12x3xf32>
}

// If the phases of the last axis have enough channels, the phases of the other
// axes are written directly to their rows: nothing is transposed.
// CHECK-LABEL: @rows(
// CHECK: %[[A:.*]] = graph.conv %arg0, {{.*}} -> tensor<1x5x6x32xf32>
// CHECK: %[[B:.*]] = graph.conv %arg0, {{.*}} -> tensor<1x5x6x32xf32>
// CHECK: %[[J:.*]] = graph.concat %[[A]], %[[B]] {axis = 2 : i64} {{.*}} -> tensor<1x5x12x32xf32>
// CHECK: %[[Y:.*]] = graph.reshape %[[J]] {{.*}} -> tensor<1x10x12x16xf32>
// CHECK: return %[[Y]]
func.func @rows(%x: tensor<1x5x6x8xf32>, %b: tensor<16xf32>) -> tensor<1x10x12x16xf32> {
  %w = graph.constant dense<1.0> : tensor<2x2x8x16xf32> : tensor<2x2x8x16xf32>
  %y = graph.conv_transpose %x, %w, %b {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x5x6x8xf32>, tensor<2x2x8x16xf32>, tensor<16xf32>) -> tensor<1x10x12x16xf32>
  return %y : tensor<1x10x12x16xf32>
}

// With three axes, the phases of the last axis form rows, which are
// concatenated to planes, and these to the result.
// CHECK-LABEL: @planes(
// CHECK-COUNT-2: graph.conv %arg0
// CHECK: graph.concat {{.*}} {axis = 3 : i64} {{.*}} -> tensor<1x2x3x8x32xf32>
// CHECK-COUNT-2: graph.conv %arg0
// CHECK: graph.concat {{.*}} {axis = 3 : i64} {{.*}} -> tensor<1x2x3x8x32xf32>
// CHECK: graph.concat {{.*}} {axis = 2 : i64} {{.*}} -> tensor<1x2x6x8x32xf32>
// CHECK: graph.reshape {{.*}} -> tensor<1x4x6x8x16xf32>
func.func @planes(%x: tensor<1x2x3x4x8xf32>) -> tensor<1x4x6x8x16xf32> {
  %w = graph.constant dense<1.0> : tensor<2x2x2x8x16xf32> : tensor<2x2x2x8x16xf32>
  %y = graph.conv_transpose %x, %w {strides = array<i64: 2, 2, 2>, dilations = array<i64: 1, 1, 1>, low = array<i64: 0, 0, 0>, groups = 1 : i64} : (tensor<1x2x3x4x8xf32>, tensor<2x2x2x8x16xf32>) -> tensor<1x4x6x8x16xf32>
  return %y : tensor<1x4x6x8x16xf32>
}

// If the stride does not divide the kernel size, there is one convolution for
// all phases with the same number of kernel positions, so that none multiplies
// by zero.
// CHECK-LABEL: @two_convolutions(
// CHECK: %[[P:.*]] = graph.pad {{.*}} -> tensor<4x8x3xf32>
// CHECK: %[[A:.*]] = graph.conv %arg0, {{.*}} low = array<i64: 1>, {{.*}}, tensor<2x8x3xf32>) -> tensor<1x6x3xf32>
// CHECK: %[[B:.*]] = graph.conv %arg0, {{.*}} low = array<i64: 0>, {{.*}}, tensor<1x8x3xf32>) -> tensor<1x6x3xf32>
// CHECK: graph.concat {{.*}} {axis = 2 : i64} {{.*}} -> tensor<1x6x2x3xf32>
// CHECK: graph.slice {{.*}} {starts = array<i64: 0, 0, 0>, {{.*}} -> tensor<1x11x3xf32>
func.func @two_convolutions(%x: tensor<1x5x8xf32>) -> tensor<1x11x3xf32> {
  %w = graph.constant dense<1.0> : tensor<3x8x3xf32> : tensor<3x8x3xf32>
  %y = graph.conv_transpose %x, %w {strides = array<i64: 2>, dilations = array<i64: 1>, low = array<i64: 0>, groups = 1 : i64} : (tensor<1x5x8xf32>, tensor<3x8x3xf32>) -> tensor<1x11x3xf32>
  return %y : tensor<1x11x3xf32>
}

// If the phases of both axes differ in their number of kernel positions, each
// phase of the first axis has convolutions of its own, so that the results are
// concatenated in the order of the axes.
// CHECK-LABEL: @in_order(
// CHECK-COUNT-6: graph.conv
// CHECK: graph.concat {{.*}} {axis = 3 : i64} : (tensor<1x6x6x1x4xf32>, tensor<1x6x6x2x4xf32>, tensor<1x6x6x1x4xf32>, tensor<1x6x6x2x4xf32>, tensor<1x6x6x1x4xf32>, tensor<1x6x6x2x4xf32>) -> tensor<1x6x6x9x4xf32>
func.func @in_order(%x: tensor<1x5x5x8xf32>) -> tensor<1x16x16x4xf32> {
  %w = graph.constant dense<1.0> : tensor<4x4x8x4xf32> : tensor<4x4x8x4xf32>
  %y = graph.conv_transpose %x, %w {strides = array<i64: 3, 3>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x5x5x8xf32>, tensor<4x4x8x4xf32>) -> tensor<1x16x16x4xf32>
  return %y : tensor<1x16x16x4xf32>
}

// With groups, the result of the convolution is ordered by group, phase and
// channel; a transpose then moves the phase before the group.
// CHECK-LABEL: @groups(
// CHECK: graph.transpose {{.*}} -> tensor<1x4x2x2x3xf32>
// CHECK: graph.conv %arg0, {{.*}} groups = 2 : i64, {{.*}}, tensor<1x4x12xf32>) -> tensor<1x5x12xf32>
// CHECK: graph.transpose {{.*}} {perm = array<i64: 0, 1, 3, 2, 4>} {{.*}} -> tensor<1x5x2x2x3xf32>
func.func @groups(%x: tensor<1x5x8xf32>) -> tensor<1x10x6xf32> {
  %w = graph.constant dense<1.0> : tensor<2x8x3xf32> : tensor<2x8x3xf32>
  %y = graph.conv_transpose %x, %w {strides = array<i64: 2>, dilations = array<i64: 1>, low = array<i64: 0>, groups = 2 : i64} : (tensor<1x5x8xf32>, tensor<2x8x3xf32>) -> tensor<1x10x6xf32>
  return %y : tensor<1x10x6xf32>
}

// A transposed convolution is not split if most of its multiplications would be
// by zero, if the kernel positions of a phase are not adjacent, or if its
// weights are not constant.
// CHECK-LABEL: @gaps(
// CHECK: graph.conv_transpose
func.func @gaps(%x: tensor<1x5x8xf32>) -> tensor<1x13x3xf32> {
  %w = graph.constant dense<1.0> : tensor<1x8x3xf32> : tensor<1x8x3xf32>
  %y = graph.conv_transpose %x, %w {strides = array<i64: 3>, dilations = array<i64: 1>, low = array<i64: 0>, groups = 1 : i64} : (tensor<1x5x8xf32>, tensor<1x8x3xf32>) -> tensor<1x13x3xf32>
  return %y : tensor<1x13x3xf32>
}
// CHECK-LABEL: @dilated(
// CHECK: graph.conv_transpose
func.func @dilated(%x: tensor<1x5x8xf32>) -> tensor<1x11x3xf32> {
  %w = graph.constant dense<1.0> : tensor<2x8x3xf32> : tensor<2x8x3xf32>
  %y = graph.conv_transpose %x, %w {strides = array<i64: 2>, dilations = array<i64: 2>, low = array<i64: 0>, groups = 1 : i64} : (tensor<1x5x8xf32>, tensor<2x8x3xf32>) -> tensor<1x11x3xf32>
  return %y : tensor<1x11x3xf32>
}
// CHECK-LABEL: @computed(
// CHECK: graph.conv_transpose
func.func @computed(%x: tensor<1x5x8xf32>, %w: tensor<2x8x3xf32>) -> tensor<1x10x3xf32> {
  %y = graph.conv_transpose %x, %w {strides = array<i64: 2>, dilations = array<i64: 1>, low = array<i64: 0>, groups = 1 : i64} : (tensor<1x5x8xf32>, tensor<2x8x3xf32>) -> tensor<1x10x3xf32>
  return %y : tensor<1x10x3xf32>
}
