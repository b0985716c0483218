// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v4 | FileCheck %s
// REQUIRES: ingot-opt

// A convolution below a pool over all of its positions leaves threads nothing
// to share but channels: there are two panels of 32 rather than one of 64.
// CHECK-LABEL: @one_place(
// CHECK: graph.group "convolution"({{.*}}) {plan = {columns = 32 : i64, order = "tiles", rows = 5 : i64, splits = 1 : i64}}
func.func @one_place(%x: tensor<1x25x5x64xf32>) -> tensor<1x1x1x64xf32> {
  %w = graph.constant dense_resource<w> : tensor<1x1x64x64xf32> : tensor<1x1x64x64xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x25x5x64xf32>, tensor<1x1x64x64xf32>) -> tensor<1x25x5x64xf32>
  %m = graph.average_pool %y {kernel = array<i64: 25, 5>, strides = array<i64: 25, 5>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, count_padding = false} : (tensor<1x25x5x64xf32>) -> tensor<1x1x1x64xf32>
  return %m : tensor<1x1x1x64xf32>
}

// If there are several rows, each thread has some of them, with all channels.
// CHECK-LABEL: @rows(
// CHECK: graph.group "convolution"({{.*}}) {plan = {columns = 64 : i64, order = "tiles", rows = 5 : i64, splits = 1 : i64}}
func.func @rows(%x: tensor<1x25x5x64xf32>) -> tensor<1x5x1x64xf32> {
  %w = graph.constant dense_resource<w> : tensor<1x1x64x64xf32> : tensor<1x1x64x64xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x25x5x64xf32>, tensor<1x1x64x64xf32>) -> tensor<1x25x5x64xf32>
  %m = graph.average_pool %y {kernel = array<i64: 5, 5>, strides = array<i64: 5, 5>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, count_padding = false} : (tensor<1x25x5x64xf32>) -> tensor<1x5x1x64xf32>
  return %m : tensor<1x5x1x64xf32>
}
