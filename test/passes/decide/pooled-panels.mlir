// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v4 | FileCheck %s
// REQUIRES: ingot-opt

// In a convolution with a pool over all of its positions, threads can only
// share channels: there are two weight panels of 32 columns rather than one of
// 64.
// CHECK-LABEL: @one_place(
// CHECK: graph.group "convolution"({{.*}}) {plan = {columns = 32 : i64, order = "tiles", rows = 5 : i64, splits = 1 : i64}}
func.func @one_place(%x: tensor<1x25x5x64xf32>) -> tensor<1x1x1x64xf32> {
  %w = graph.constant dense_resource<w> : tensor<1x1x64x64xf32> : tensor<1x1x64x64xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x25x5x64xf32>, tensor<1x1x64x64xf32>) -> tensor<1x25x5x64xf32>
  %m = graph.average_pool %y {kernel = array<i64: 25, 5>, strides = array<i64: 25, 5>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, count_padding = false} : (tensor<1x25x5x64xf32>) -> tensor<1x1x1x64xf32>
  return %m : tensor<1x1x1x64xf32>
}

// If the pool leaves several rows, each thread computes some rows with all 64
// channels.
// CHECK-LABEL: @rows(
// CHECK: graph.group "convolution"({{.*}}) {plan = {columns = 64 : i64, order = "tiles", rows = 5 : i64, splits = 1 : i64}}
func.func @rows(%x: tensor<1x25x5x64xf32>) -> tensor<1x5x1x64xf32> {
  %w = graph.constant dense_resource<w> : tensor<1x1x64x64xf32> : tensor<1x1x64x64xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x25x5x64xf32>, tensor<1x1x64x64xf32>) -> tensor<1x25x5x64xf32>
  %m = graph.average_pool %y {kernel = array<i64: 5, 5>, strides = array<i64: 5, 5>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, count_padding = false} : (tensor<1x25x5x64xf32>) -> tensor<1x5x1x64xf32>
  return %m : tensor<1x5x1x64xf32>
}
