// RUN: %ingot-opt %s -simplify-narrow-weights -simplify-fold-constants | FileCheck %s
// REQUIRES: ingot-opt

// 4-bit weights: two K steps of a column share a byte, the first in the lower
// half, such as 1 | 3 << 4 and 2 | 4 << 4.
// CHECK-LABEL: @blocks(
// CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[}}[49, 66], [117, 134]]> : tensor<2x2xui8>
// CHECK-DAG: %[[S:.*]] = graph.constant dense<{{\[}}[1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
// CHECK: graph.narrow_matmul %arg0, %[[W]], %[[S]] {bits = 4 : i64, block = 2 : i64} : (tensor<3x4xf32>, tensor<2x2xui8>, tensor<2x2xf32>) -> tensor<3x2xf32>
func.func @blocks(%x: tensor<3x4xf32>) -> tensor<3x2xf32> {
  %w = graph.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xui4> : tensor<2x2x2xui4>
  %s = graph.constant dense<[[[1.0, 2.0]], [[3.0, 4.0]]]> : tensor<2x1x2xf32> : tensor<2x1x2xf32>
  %z = graph.constant dense<0> : tensor<ui4> : tensor<ui4>
  %f = graph.dequantize %w, %s, %z : (tensor<2x2x2xui4>, tensor<2x1x2xf32>, tensor<ui4>) -> tensor<2x2x2xf32>
  %m = graph.reshape %f : (tensor<2x2x2xf32>) -> tensor<4x2xf32>
  %y = graph.matmul %x, %m : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// Signed 4-bit weights and their zero points are stored with an offset of 8, so
// that the lowest number is 0. A scale per column applies to all K steps.
// CHECK-LABEL: @signed(
// CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[}}[152, 182]]> : tensor<1x2xui8>
// CHECK: graph.narrow_matmul %arg0, %[[W]], %{{.*}} {bits = 4 : i64, block = 2 : i64, zero = 8 : i64}
func.func @signed(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = graph.constant dense<[[0, 1], [-2, 3]]> : tensor<2x2xsi4> : tensor<2x2xsi4>
  %s = graph.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32> : tensor<2x1xf32>
  %z = graph.constant dense<0> : tensor<si4> : tensor<si4>
  %f = graph.dequantize %w, %s, %z : (tensor<2x2xsi4>, tensor<2x1xf32>, tensor<si4>) -> tensor<2x2xf32>
  %t = graph.transpose %f {perm = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = graph.matmul %x, %t : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// Weights with a scale for each K step do not become 4-bit weights, which have
// scales for blocks of K steps.
// CHECK-LABEL: @scales_of_steps(
// CHECK-NOT: graph.narrow_matmul
func.func @scales_of_steps(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = graph.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xsi8> : tensor<2x2xsi8>
  %s = graph.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32> : tensor<2x1xf32>
  %z = graph.constant dense<0> : tensor<si8> : tensor<si8>
  %f = graph.dequantize %w, %s, %z : (tensor<2x2xsi8>, tensor<2x1xf32>, tensor<si8>) -> tensor<2x2xf32>
  %y = graph.matmul %x, %f : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// The rows of a table of 4-bit numbers are gathered as bytes, and unpacked
// after the gather.
// CHECK-LABEL: @table(
// CHECK: %[[W:.*]] = graph.constant dense<{{\[}}[33], [67]]> : tensor<2x1xui8>
// CHECK: graph.gather %[[W]], %arg0
// CHECK: graph.bit_shift
// CHECK: graph.dequantize {{.*}} : (tensor<5x2xui4>, tensor<2xf32>, tensor<ui4>) -> tensor<5x2xf32>
func.func @table(%i: tensor<5xsi64>) -> tensor<5x2xf32> {
  %w = graph.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xui4> : tensor<2x2xui4>
  %s = graph.constant dense<[1.0, 2.0]> : tensor<2xf32> : tensor<2xf32>
  %z = graph.constant dense<0> : tensor<ui4> : tensor<ui4>
  %f = graph.dequantize %w, %s, %z : (tensor<2x2xui4>, tensor<2xf32>, tensor<ui4>) -> tensor<2x2xf32>
  %y = graph.gather %f, %i {axis = 0 : i64} : (tensor<2x2xf32>, tensor<5xsi64>) -> tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}

// Weights that are stored in bytes, two steps of a column in one, stay in them.
// CHECK-LABEL: @packed(
// CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[}}[1, 3], [2, 4]]> : tensor<2x2xui8>
// CHECK-NOT: graph.bit_shift
// CHECK: graph.narrow_matmul %arg0, %[[W]], %{{.*}} {bits = 4 : i64, block = 4 : i64, zero = 3 : i64}
func.func @packed(%x: tensor<3x4xf32>) -> tensor<3x2xf32> {
  %bytes = graph.constant dense<[[[1, 2]], [[3, 4]]]> : tensor<2x1x2xui8> : tensor<2x1x2xui8>
  %apart = graph.reshape %bytes : (tensor<2x1x2xui8>) -> tensor<2x1x2x1xui8>
  %places = graph.constant dense<[0, 4]> : tensor<2xui8> : tensor<2xui8>
  %mask = graph.constant dense<15> : tensor<ui8> : tensor<ui8>
  %shifted = graph.bit_shift %apart, %places {direction = "RIGHT"} : (tensor<2x1x2x1xui8>, tensor<2xui8>) -> tensor<2x1x2x2xui8>
  %low = graph.and %shifted, %mask : (tensor<2x1x2x2xui8>, tensor<ui8>) -> tensor<2x1x2x2xui8>
  %numbers = graph.cast %low : (tensor<2x1x2x2xui8>) -> tensor<2x1x2x2xui4>
  %w = graph.reshape %numbers : (tensor<2x1x2x2xui4>) -> tensor<2x1x4xui4>
  %s = graph.constant dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32> : tensor<2x1x1xf32>
  %z = graph.constant dense<3> : tensor<2x1x1xui4> : tensor<2x1x1xui4>
  %f = graph.dequantize %w, %s, %z : (tensor<2x1x4xui4>, tensor<2x1x1xf32>, tensor<2x1x1xui4>) -> tensor<2x1x4xf32>
  %m = graph.reshape %f : (tensor<2x1x4xf32>) -> tensor<2x4xf32>
  %t = graph.transpose %m {perm = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %y = graph.matmul %x, %t : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}
