// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v3 | FileCheck %s
// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v3+avxvnni | FileCheck %s --check-prefix=NONE
// RUN: %ingot-opt %s -decide-form-groups=target=armv8-a | FileCheck %s --check-prefix=NONE
// REQUIRES: ingot-opt
// NONE-NOT: short_sums

// 255 * (127 + 1) fits into 16 bits, also if both weights are negative. Weights
// of different signs never exceed it.
// CHECK-LABEL: @one_pair(
// CHECK: graph.matmul {{.*}} {graph.short_sums = 1 : i64}
func.func @one_pair(%a: tensor<5x4xui8>) -> tensor<5x2xsi32> {
  %b = graph.constant dense<[[127, -128], [1, 0], [127, 127], [-127, -128]]> : tensor<4x2xsi8> : tensor<4x2xsi8>
  %y = graph.matmul %a, %b : (tensor<5x4xui8>, tensor<4x2xsi8>) -> tensor<5x2xsi32>
  return %y : tensor<5x2xsi32>
}

// Pairs begin at even steps: 60 and 60 are in different ones.
// CHECK-LABEL: @two_pairs(
// CHECK: graph.matmul {{.*}} {graph.short_sums = 2 : i64}
func.func @two_pairs(%a: tensor<5x5xui8>) -> tensor<5x1xsi32> {
  %b = graph.constant dense<[[4], [60], [60], [4], [-64]]> : tensor<5x1xsi8> : tensor<5x1xsi8>
  %y = graph.matmul %a, %b : (tensor<5x5xui8>, tensor<5x1xsi8>) -> tensor<5x1xsi32>
  return %y : tensor<5x1xsi32>
}

// Sums of pairs at the same place of K steps 0 to 3 and 4 to 7 fit: 100 + 28.
// CHECK-LABEL: @two_groups(
// CHECK: graph.matmul {{.*}} {graph.short_sums = 2 : i64}
func.func @two_groups(%a: tensor<5x8xui8>) -> tensor<5x1xsi32> {
  %b = graph.constant dense<[[60], [40], [1], [-128], [0], [28], [127], [0]]> : tensor<8x1xsi8> : tensor<8x1xsi8>
  %y = graph.matmul %a, %b : (tensor<5x8xui8>, tensor<8x1xsi8>) -> tensor<5x1xsi32>
  return %y : tensor<5x1xsi32>
}

// Twelve K steps are not divided into pairs of groups.
// CHECK-LABEL: @odd_groups(
// CHECK: graph.matmul {{.*}} {graph.short_sums = 1 : i64}
func.func @odd_groups(%a: tensor<5x12xui8>) -> tensor<5x1xsi32> {
  %b = graph.constant dense<[[60], [40], [1], [-128], [0], [28], [127], [0], [0], [0], [0], [0]]> : tensor<12x1xsi8> : tensor<12x1xsi8>
  %y = graph.matmul %a, %b : (tensor<5x12xui8>, tensor<12x1xsi8>) -> tensor<5x1xsi32>
  return %y : tensor<5x1xsi32>
}

// CHECK-LABEL: @too_large(
// CHECK-NOT: short_sums
// CHECK: return
func.func @too_large(%a: tensor<5x4xui8>) -> tensor<5x2xsi32> {
  %b = graph.constant dense<[[127, 0], [2, 0], [0, 0], [0, 0]]> : tensor<4x2xsi8> : tensor<4x2xsi8>
  %y = graph.matmul %a, %b : (tensor<5x4xui8>, tensor<4x2xsi8>) -> tensor<5x2xsi32>
  return %y : tensor<5x2xsi32>
}

// In one of four groups of K steps, sums need more than 16 bits.
// CHECK-LABEL: @mixed(
// CHECK: graph.matmul {{.*}} {graph.short_share = 7.500000e-01 : f64, graph.short_sums = 1 : i64}
func.func @mixed(%a: tensor<5x16xui8>) -> tensor<5x1xsi32> {
  %b = graph.constant dense<[[0], [127], [127], [1], [0], [127], [2], [0], [127], [127], [0], [0], [127], [-128], [0], [64]]> : tensor<16x1xsi8> : tensor<16x1xsi8>
  %y = graph.matmul %a, %b : (tensor<5x16xui8>, tensor<16x1xsi8>) -> tensor<5x1xsi32>
  return %y : tensor<5x1xsi32>
}

// A signed left operand, and computed weights.
// CHECK-LABEL: @others(
// CHECK-NOT: short_sums
// CHECK: return
func.func @others(%a: tensor<5x4xsi8>, %c: tensor<5x4xui8>, %d: tensor<4x2xsi8>) -> (tensor<5x2xsi32>, tensor<5x2xsi32>) {
  %b = graph.constant dense<1> : tensor<4x2xsi8> : tensor<4x2xsi8>
  %y = graph.matmul %a, %b : (tensor<5x4xsi8>, tensor<4x2xsi8>) -> tensor<5x2xsi32>
  %z = graph.matmul %c, %d : (tensor<5x4xui8>, tensor<4x2xsi8>) -> tensor<5x2xsi32>
  return %y, %z : tensor<5x2xsi32>, tensor<5x2xsi32>
}

// Three channels are not divided into pairs: these are in the kernel row, in
// which 127 and 2 are adjacent.
// CHECK-LABEL: @kernel_row(
// CHECK-NOT: short_sums
// CHECK: return
func.func @kernel_row(%x: tensor<1x2x4x3xui8>) -> tensor<1x2x1x1xsi32> {
  %w = graph.constant dense<[[[[0], [0], [127]], [[2], [0], [0]], [[0], [0], [0]], [[0], [0], [0]]]]> : tensor<1x4x3x1xsi8> : tensor<1x4x3x1xsi8>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x2x4x3xui8>, tensor<1x4x3x1xsi8>) -> tensor<1x2x1x1xsi32>
  return %y : tensor<1x2x1x1xsi32>
}
