// RUN: %ingot-opt %s -simplify-stream-axis -canonicalize -split-input-file -verify-diagnostics | FileCheck %s
// RUN: %ingot-opt %s -simplify-stream-axis=in-place=false -canonicalize -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=APART
// REQUIRES: ingot-opt

// A convolution reads its columns from a state, whose columns move in place; the
// mean over the window reads all columns from another state.
// CHECK-LABEL: @network(
// CHECK-SAME: %[[X:.*]]: tensor<1x1x4xf32> {kernel.onnx_name = "x", kernel.streamed = array<i64: 1, 1, 9, 24, 168>}
// CHECK-SAME: %[[PAST:.*]]: tensor<1x12xf32> {kernel.onnx_name = "window_of_x", kernel.state = "window_of_x"}
// CHECK-SAME: %[[SUMS:.*]]: tensor<1x14xf32> {{{.*}}kernel.state = "window_of_conv"}
// CHECK: %[[FLAT:.*]] = graph.reshape %[[X]]
// CHECK: %[[NEXT:.*]] = graph.shift %[[PAST]], %[[FLAT]] {axis = 1 : i64} : (tensor<1x12xf32>, tensor<1x4xf32>) -> tensor<1x12xf32>
// CHECK: %[[WINDOW:.*]] = graph.reshape %[[NEXT]]
// CHECK: %[[NEW:.*]] = graph.conv %[[WINDOW]]
// CHECK-SAME: -> tensor<1x1x2xf32>
// CHECK: %[[ALL:.*]] = graph.shift %[[SUMS]]
// CHECK: %[[MEAN:.*]] = graph.reduce_mean
// CHECK-SAME: tensor<1x7x2xf32>
// CHECK: return %[[MEAN]], %[[NEXT]], %[[ALL]]
// APART-LABEL: @network(
// APART-NOT: graph.shift
// APART: graph.concat
func.func @network(%x: tensor<1x9x4xf32> {kernel.onnx_name = "x", kernel.stream = array<i64: 1, 0>}) -> tensor<1x1x2xf32> {
  %w = graph.constant dense<1.0> : tensor<3x4x2xf32> : tensor<3x4x2xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 0>, groups = 1 : i64}
      : (tensor<1x9x4xf32>, tensor<3x4x2xf32>) -> tensor<1x7x2xf32> loc("conv")
  %m = graph.reduce_mean %c {axes = array<i64: 1>} : (tensor<1x7x2xf32>) -> tensor<1x1x2xf32>
  return %m : tensor<1x1x2xf32>
}

// -----

// Of a dequantized tensor, the state keeps the integers.
// CHECK-LABEL: @narrow(
// CHECK-SAME: tensor<1x1x4xsi8>
// CHECK-SAME: tensor<1x12xsi8> {{{.*}}kernel.state
func.func @narrow(%x: tensor<1x9x4xsi8> {kernel.stream = array<i64: 1, 0>}) -> tensor<1x7x2xf32> {
  %w = graph.constant dense<1.0> : tensor<3x4x2xf32> : tensor<3x4x2xf32>
  %f = graph.cast %x : (tensor<1x9x4xsi8>) -> tensor<1x9x4xf32>
  %c = graph.conv %f, %w {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 0>, groups = 1 : i64}
      : (tensor<1x9x4xf32>, tensor<3x4x2xf32>) -> tensor<1x7x2xf32>
  return %c : tensor<1x7x2xf32>
}

// -----

// The columns at the padded ends are computed in each call: here the first and
// the last two, of which the last but one is new.
// CHECK-LABEL: @padded(
// CHECK-SAME: tensor<1x1x4xf32>
// CHECK-SAME: tensor<1x36xf32>
// CHECK: %[[FIRST:.*]] = graph.conv
// CHECK-SAME: low = array<i64: 1>
// CHECK-SAME: (tensor<1x2x4xf32>, {{.*}}) -> tensor<1x1x2xf32>
// CHECK: %[[LAST:.*]] = graph.conv
// CHECK-SAME: low = array<i64: 0>
// CHECK-SAME: (tensor<1x3x4xf32>, {{.*}}) -> tensor<1x2x2xf32>
// CHECK: graph.concat %[[FIRST]],
func.func @padded(%x: tensor<1x9x4xf32> {kernel.stream = array<i64: 1, 1>}) -> tensor<1x1x2xf32> {
  %w = graph.constant dense<1.0> : tensor<3x4x2xf32> : tensor<3x4x2xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 1>, groups = 1 : i64}
      : (tensor<1x9x4xf32>, tensor<3x4x2xf32>) -> tensor<1x9x2xf32>
  %m = graph.reduce_mean %c {axes = array<i64: 1>} : (tensor<1x9x2xf32>) -> tensor<1x1x2xf32>
  return %m : tensor<1x1x2xf32>
}

// -----

// Without a number of columns, a call takes as many as the strides admit.
// CHECK-LABEL: @strides(
// CHECK-SAME: tensor<1x2x4xf32> {kernel.streamed = array<i64: 1, 2, 12,
func.func @strides(%x: tensor<1x12x4xf32> {kernel.stream = array<i64: 1, 0>}) -> tensor<1x5x2xf32> {
  %w = graph.constant dense<1.0> : tensor<4x4x2xf32> : tensor<4x4x2xf32>
  %c = graph.conv %x, %w {strides = array<i64: 2>, dilations = array<i64: 1>, low = array<i64: 0>, groups = 1 : i64}
      : (tensor<1x12x4xf32>, tensor<4x4x2xf32>) -> tensor<1x5x2xf32>
  return %c : tensor<1x5x2xf32>
}

// -----

// Frames are gathered at positions that are a resource, as FoldConstants makes
// large constants.
// CHECK-LABEL: @frames(
// CHECK-SAME: tensor<1x2xf32> {kernel.streamed = array<i64: 1, 2, 10,
func.func @frames(%x: tensor<1x10xf32> {kernel.stream = array<i64: 1, 0>}) -> tensor<1x4x2xf32> {
  %i = graph.constant dense_resource<positions> : tensor<4x4xsi64> : tensor<4x4xsi64>
  %f = graph.gather %x, %i {axis = 1 : i64, in_range} : (tensor<1x10xf32>, tensor<4x4xsi64>) -> tensor<1x4x4xf32>
  %w = graph.constant dense<1.0> : tensor<4x2xf32> : tensor<4x2xf32>
  %m = graph.matmul %f, %w : (tensor<1x4x4xf32>, tensor<4x2xf32>) -> tensor<1x4x2xf32>
  return %m : tensor<1x4x2xf32>
}
{-#
  dialect_resources: {
    builtin: {
      positions: "0x080000000000000000000000010000000000000002000000000000000300000000000000020000000000000003000000000000000400000000000000050000000000000004000000000000000500000000000000060000000000000007000000000000000600000000000000070000000000000008000000000000000900000000000000"
    }
  }
#-}

// -----

func.func @undivided(%x: tensor<1x12x4xf32> {kernel.stream = array<i64: 1, 3>}) -> tensor<1x5x2xf32> {
  %w = graph.constant dense<1.0> : tensor<4x4x2xf32> : tensor<4x4x2xf32>
  // expected-error @below {{a call adds 3 columns, which the strides up to node `conv` do not divide}}
  %c = graph.conv %x, %w {strides = array<i64: 2>, dilations = array<i64: 1>, low = array<i64: 0>, groups = 1 : i64}
      : (tensor<1x12x4xf32>, tensor<4x4x2xf32>) -> tensor<1x5x2xf32>
  return %c : tensor<1x5x2xf32>
}

// -----

func.func @whole(%x: tensor<1x12x4xf32> {kernel.stream = array<i64: 1, 0>}) -> tensor<1x12x12xf32> {
  // expected-error @below {{nothing would be saved}}
  %t = graph.cum_sum %x {axis = 1 : i64, exclusive = false, reverse = false} : (tensor<1x12x4xf32>) -> tensor<1x12x4xf32>
  %w = graph.constant dense<1.0> : tensor<4x12xf32> : tensor<4x12xf32>
  %m = graph.matmul %t, %w : (tensor<1x12x4xf32>, tensor<4x12xf32>) -> tensor<1x12x12xf32>
  return %m : tensor<1x12x12xf32>
}
