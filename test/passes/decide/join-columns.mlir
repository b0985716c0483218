// RUN: %ingot-opt %s -decide-join-columns=target=sm_80 | FileCheck %s
// REQUIRES: ingot-opt

// Three channels of bf16 are padded to four, and two columns become one of 8
// channels, a 16-byte vector access. The window starts at an odd column; an
// additional column of zeros makes it start at the even column before.
// CHECK-LABEL: func.func @first(
// CHECK: %[[X:.*]] = graph.pad %arg0, {{.*}} {low = array<i64: 0, 0, 0, 0>} : {{.*}} -> tensor<1x224x224x4xbf16>
// CHECK: %[[J:.*]] = graph.reshape %[[X]] : {{.*}} -> tensor<1x224x112x8xbf16>
// CHECK: %[[W:.*]] = graph.pad {{.*}} {low = array<i64: 0, 1, 0, 0>} : {{.*}} -> tensor<7x8x4x64xbf16>
// CHECK: %[[U:.*]] = graph.reshape %[[W]] : {{.*}} -> tensor<7x4x8x64xbf16>
// CHECK: graph.conv %[[J]], %[[U]] {{{.*}}low = array<i64: 3, 2>, strides = array<i64: 2, 1>}
func.func @first(%x: tensor<1x224x224x3xbf16>) -> tensor<1x112x112x64xf32> {
  %w = graph.constant dense<1.0> : tensor<7x7x3x64xbf16> : tensor<7x7x3x64xbf16>
  %y = graph.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 3, 3>, groups = 1 : i64} : (tensor<1x224x224x3xbf16>, tensor<7x7x3x64xbf16>) -> tensor<1x112x112x64xf32>
  return %y : tensor<1x112x112x64xf32>
}

// A convolution of 16x16 patches: the 16 columns of a patch become channels, in
// the order in which they are stored.
// CHECK-LABEL: func.func @patches(
// CHECK-NOT: graph.pad
// CHECK: %[[J:.*]] = graph.reshape %arg0 : {{.*}} -> tensor<1x224x14x48xbf16>
// CHECK: graph.conv %[[J]], {{.*}}strides = array<i64: 16, 1>}
func.func @patches(%x: tensor<1x224x224x3xbf16>) -> tensor<1x14x14x768xf32> {
  %w = graph.constant dense<1.0> : tensor<16x16x3x768xbf16> : tensor<16x16x3x768xbf16>
  %y = graph.conv %x, %w {strides = array<i64: 16, 16>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x224x224x3xbf16>, tensor<16x16x3x768xbf16>) -> tensor<1x14x14x768xf32>
  return %y : tensor<1x14x14x768xf32>
}

// Columns are not joined if their channels already fill 16-byte vector
// accesses, nor for f32, which the matrix units cannot multiply.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: graph.reshape
// CHECK: return
func.func @others(%x: tensor<1x8x8x8xbf16>, %z: tensor<1x8x8x3xf32>) -> (tensor<1x8x8x16xf32>, tensor<1x8x8x16xf32>) {
  %w = graph.constant dense<1.0> : tensor<3x3x8x16xbf16> : tensor<3x3x8x16xbf16>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x8xbf16>, tensor<3x3x8x16xbf16>) -> tensor<1x8x8x16xf32>
  %v = graph.constant dense<1.0> : tensor<3x3x3x16xf32> : tensor<3x3x3x16xf32>
  %u = graph.conv %z, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<1x8x8x16xf32>
  return %y, %u : tensor<1x8x8x16xf32>, tensor<1x8x8x16xf32>
}
