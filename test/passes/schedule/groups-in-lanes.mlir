// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v4 | FileCheck %s --check-prefix=PLAN
// RUN: sed 's/attributes {}/attributes {kernel.strict}/' %s | %ingot-opt - -decide-form-groups=target=x86-64-v4 | FileCheck %s --check-prefix=STRICT
// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v4 -decide-pack-weights=target=x86-64-v4 -lower-outline-groups -schedule-kernels=target=x86-64-v4 | FileCheck %s
// REQUIRES: ingot-opt

module attributes {} {

// A vector of 16 output channels belongs to 8 groups of a grouped convolution,
// each with one input channel: the 8 input channels are loaded at once, and
// each is repeated in two lanes.
// PLAN-LABEL: @one_input(
// PLAN: graph.group "depthwise"
// STRICT-LABEL: @one_input(
// STRICT: graph.group "depthwise"
// CHECK-LABEL: kernel.func @conv_1x9x9x32(
// CHECK: scf.for %[[CHANNEL:.*]] = %c0{{.*}} to %c32{{.*}} step %c16
// CHECK: %[[FIRST:.*]] = arith.divsi %[[CHANNEL]], %c2
// CHECK: %[[X:.*]] = vector.load %arg0[{{.*}}, %[[FIRST]]] : memref<1x9x9x16xf32>, vector<8xf32>
// CHECK: vector.shuffle %[[X]], %[[X]] [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]
func.func @one_input(%x: tensor<1x9x9x16xf32>, %w: tensor<3x3x1x32xf32>) -> tensor<1x9x9x32xf32> {
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 16 : i64} : (tensor<1x9x9x16xf32>, tensor<3x3x1x32xf32>) -> tensor<1x9x9x32xf32>
  return %y : tensor<1x9x9x32xf32>
}

// With two input channels per group, the first input channel of each group is
// multiplied in the lanes of the group, then the second. This order of sums is
// not allowed by --strict.
// PLAN-LABEL: @two_inputs(
// PLAN: graph.group "depthwise"
// STRICT-LABEL: @two_inputs(
// STRICT: graph.group "{{grouped-convolution|loop-nest}}"
// CHECK-LABEL: kernel.func @conv_1x9x9x24(
// CHECK: vector.shuffle %{{.*}} [0, 0, 0, 0, 2, 2, 2, 2, 4, 4, 4, 4, 6, 6, 6, 6] : vector<8xf32>
// CHECK: vector.shuffle %{{.*}} [1, 1, 1, 1, 3, 3, 3, 3, 5, 5, 5, 5, 7, 7, 7, 7] : vector<8xf32>
// CHECK: vector.shuffle %{{.*}} [0, 0, 0, 0, 2, 2, 2, 2] : vector<4xf32>
func.func @two_inputs(%x: tensor<1x9x9x12xf32>, %w: tensor<3x3x2x24xf32>) -> tensor<1x9x9x24xf32> {
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 6 : i64} : (tensor<1x9x9x12xf32>, tensor<3x3x2x24xf32>) -> tensor<1x9x9x24xf32>
  return %y : tensor<1x9x9x24xf32>
}

// The target has no vector of 2 elements for the input channels of 2 groups:
// each channel is broadcast to all lanes, and the vectors are merged.
// CHECK-LABEL: kernel.func @conv_1x9x9x4(
// CHECK: %[[X:.*]] = memref.load %arg0[{{.*}}, %c0]
// CHECK-NEXT: %[[FIRST:.*]] = vector.broadcast %[[X]] : f32 to vector<4xf32>
// CHECK-NEXT: %[[Y:.*]] = memref.load %arg0[{{.*}}, %c1{{.*}}]
// CHECK-NEXT: %[[SECOND:.*]] = vector.broadcast %[[Y]] : f32 to vector<4xf32>
// CHECK-NEXT: vector.shuffle %[[FIRST]], %[[SECOND]] [0, 1, 6, 7]
func.func @no_vector(%x: tensor<1x9x9x2xf32>, %w: tensor<3x3x1x4xf32>) -> tensor<1x9x9x4xf32> {
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x9x9x2xf32>, tensor<3x3x1x4xf32>) -> tensor<1x9x9x4xf32>
  return %y : tensor<1x9x9x4xf32>
}

// If a group has half a vector of output channels or more, the convolution is
// computed in tiles of one group each.
// PLAN-LABEL: @half(
// PLAN: graph.group "grouped-convolution"
func.func @half(%x: tensor<1x9x9x32xf32>) -> tensor<1x9x9x32xf32> {
  %w = graph.constant dense<1.0> : tensor<3x3x8x32xf32> : tensor<3x3x8x32xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 4 : i64} : (tensor<1x9x9x32xf32>, tensor<3x3x8x32xf32>) -> tensor<1x9x9x32xf32>
  return %y : tensor<1x9x9x32xf32>
}

// A grouped convolution with more input than output channels becomes a loop
// nest.
// PLAN-LABEL: @more_inputs(
// PLAN: graph.group "loop-nest"
func.func @more_inputs(%x: tensor<1x9x9x32xf32>, %w: tensor<3x3x4x16xf32>) -> tensor<1x9x9x16xf32> {
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 8 : i64} : (tensor<1x9x9x32xf32>, tensor<3x3x4x16xf32>) -> tensor<1x9x9x16xf32>
  return %y : tensor<1x9x9x16xf32>
}
}
