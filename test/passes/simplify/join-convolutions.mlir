// RUN: %ingot-opt %s -simplify-join-convolutions -canonicalize | FileCheck %s
// RUN: %ingot-opt %s -simplify-join-convolutions -simplify-fold-constants | FileCheck %s --check-prefix=VALUES
// REQUIRES: ingot-opt

// The branches of a RepVGG layer become one 3x3 convolution: a 3x3 convolution,
// a 1x1 convolution, and a normalization of the operand, whose factors are a
// diagonal in the middle of the window. The addends of the normalizations
// become the bias.
// CHECK-LABEL: @branches(
// CHECK-NOT: graph.conv
// CHECK: %[[Y:.*]] = graph.conv %arg0, %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, groups = 1 : i64, low = array<i64: 1, 1>, strides = array<i64: 1, 1>}
// CHECK-SAME: tensor<3x3x2x2xf32>, tensor<2xf32>
// CHECK: %[[R:.*]] = graph.relu %[[Y]]
// CHECK: return %[[R]]
// VALUES-LABEL: @branches(
// VALUES: graph.constant dense<{{\[\[\[\[}}1.000000e+00, 1.000000e+00], [1.000000e+00, 1.000000e+00]],
// VALUES-SAME: {{\[\[}}8.000000e+00, 5.000000e+00], [5.000000e+00, 1.000000e+01]],
// VALUES: graph.constant dense<[1.200000e+01, 1.400000e+01]> : tensor<2xf32>
func.func @branches(%x: tensor<1x6x7x2xf32>) -> tensor<1x6x7x2xf32> {
  %w = graph.constant dense<1.0> : tensor<3x3x2x2xf32> : tensor<3x3x2x2xf32>
  %v = graph.constant dense<4.0> : tensor<1x1x2x2xf32> : tensor<1x1x2x2xf32>
  %b = graph.constant dense<2.0> : tensor<2xf32> : tensor<2xf32>
  %s = graph.constant dense<[[[[3.0, 5.0]]]]> : tensor<1x1x1x2xf32> : tensor<1x1x1x2xf32>
  %t = graph.constant dense<[[[[8.0, 10.0]]]]> : tensor<1x1x1x2xf32> : tensor<1x1x1x2xf32>
  %0 = graph.conv %x, %v, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x6x7x2xf32>, tensor<1x1x2x2xf32>, tensor<2xf32>) -> tensor<1x6x7x2xf32>
  %1 = graph.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x6x7x2xf32>, tensor<3x3x2x2xf32>, tensor<2xf32>) -> tensor<1x6x7x2xf32>
  %2 = graph.mul %x, %s : (tensor<1x6x7x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x6x7x2xf32>
  %3 = graph.add %2, %t : (tensor<1x6x7x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x6x7x2xf32>
  %4 = graph.add %0, %3 : (tensor<1x6x7x2xf32>, tensor<1x6x7x2xf32>) -> tensor<1x6x7x2xf32>
  %5 = graph.add %4, %1 : (tensor<1x6x7x2xf32>, tensor<1x6x7x2xf32>) -> tensor<1x6x7x2xf32>
  %y = graph.relu %5 : (tensor<1x6x7x2xf32>) -> tensor<1x6x7x2xf32>
  return %y : tensor<1x6x7x2xf32>
}

// In a grouped convolution, each group has a diagonal of its own: of four
// channels in two groups, those of the second group are in rows 0 and 1 of its
// columns. An addend that is no branch of the layer stays.
// VALUES-LABEL: @grouped(
// VALUES: graph.constant dense<{{\[\[\[\[}}3.000000e+00, 2.000000e+00, 3.000000e+00, 2.000000e+00], [2.000000e+00, 3.000000e+00, 2.000000e+00, 3.000000e+00]]]]>
// VALUES: %[[C:.*]] = graph.conv %arg0
// VALUES: %[[Y:.*]] = graph.add %arg1, %[[C]]
// VALUES: return %[[Y]]
func.func @grouped(%x: tensor<1x5x5x4xf32>, %z: tensor<1x5x5x4xf32>) -> tensor<1x5x5x4xf32> {
  %w = graph.constant dense<2.0> : tensor<1x1x2x4xf32> : tensor<1x1x2x4xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 2 : i64} : (tensor<1x5x5x4xf32>, tensor<1x1x2x4xf32>) -> tensor<1x5x5x4xf32>
  %a = graph.add %z, %c : (tensor<1x5x5x4xf32>, tensor<1x5x5x4xf32>) -> tensor<1x5x5x4xf32>
  %y = graph.add %a, %x : (tensor<1x5x5x4xf32>, tensor<1x5x5x4xf32>) -> tensor<1x5x5x4xf32>
  return %y : tensor<1x5x5x4xf32>
}

// Convolutions are not joined if neither window contains the positions of the
// other, if they have different operands, or if another operator reads one of
// the results.
// CHECK-LABEL: @apart(
// CHECK-COUNT-8: graph.conv
func.func @apart(%x: tensor<1x8x8x2xf32>, %z: tensor<1x8x8x2xf32>) -> (tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>) {
  %w = graph.constant dense<1.0> : tensor<3x3x2x2xf32> : tensor<3x3x2x2xf32>
  %v = graph.constant dense<4.0> : tensor<1x1x2x2xf32> : tensor<1x1x2x2xf32>
  %h = graph.constant dense<4.0> : tensor<1x5x2x2xf32> : tensor<1x5x2x2xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x2xf32>) -> tensor<1x8x8x2xf32>
  %1 = graph.conv %x, %h {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 2>, groups = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<1x5x2x2xf32>) -> tensor<1x8x8x2xf32>
  %a = graph.add %0, %1 : (tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>) -> tensor<1x8x8x2xf32>
  %2 = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 2, 2>, low = array<i64: 2, 2>, groups = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x2xf32>) -> tensor<1x8x8x2xf32>
  %3 = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x2xf32>) -> tensor<1x8x8x2xf32>
  %b = graph.add %2, %3 : (tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>) -> tensor<1x8x8x2xf32>
  %4 = graph.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x8x8x2xf32>
  %5 = graph.conv %z, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x8x8x2xf32>
  %c = graph.add %4, %5 : (tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>) -> tensor<1x8x8x2xf32>
  %6 = graph.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x8x8x2xf32>
  %7 = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x2xf32>) -> tensor<1x8x8x2xf32>
  %d = graph.add %6, %7 : (tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>) -> tensor<1x8x8x2xf32>
  return %a, %b, %c, %d, %6 : tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>
}

// The operand itself is not joined as a branch if the window does not contain
// the position of the result.
// CHECK-LABEL: @shifted(
// CHECK: %[[C:.*]] = graph.conv %arg0
// CHECK: graph.add %[[C]], %arg0
func.func @shifted(%x: tensor<1x5x5x2xf32>) -> tensor<1x5x5x2xf32> {
  %w = graph.constant dense<2.0> : tensor<1x1x2x2xf32> : tensor<1x1x2x2xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: -1, 0>, groups = 1 : i64} : (tensor<1x5x5x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x5x5x2xf32>
  %y = graph.add %c, %x : (tensor<1x5x5x2xf32>, tensor<1x5x5x2xf32>) -> tensor<1x5x5x2xf32>
  return %y : tensor<1x5x5x2xf32>
}

// Convolutions are not joined if the sum broadcasts one of the results: the
// window of the first lies inside the window of the second, but it has a single
// position.
// CHECK-LABEL: @broadcast(
// CHECK-COUNT-2: graph.conv
// CHECK: graph.add
func.func @broadcast(%x: tensor<1x2x2x2xf32>) -> tensor<1x2x2x3xf32> {
  %v = graph.constant dense<4.0> : tensor<2x2x2x3xf32> : tensor<2x2x2x3xf32>
  %w = graph.constant dense<1.0> : tensor<3x3x2x3xf32> : tensor<3x3x2x3xf32>
  %0 = graph.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x2x2x2xf32>, tensor<2x2x2x3xf32>) -> tensor<1x1x1x3xf32>
  %1 = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x2x2xf32>, tensor<3x3x2x3xf32>) -> tensor<1x2x2x3xf32>
  %y = graph.add %0, %1 : (tensor<1x1x1x3xf32>, tensor<1x2x2x3xf32>) -> tensor<1x2x2x3xf32>
  return %y : tensor<1x2x2x3xf32>
}
