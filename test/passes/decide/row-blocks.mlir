// The rows of a matrix multiplication are divided into blocks, each of which is
// multiplied by all weight panels, if otherwise each panel would read the left
// operand from beyond the L2 cache, and if rereading the weights costs less.
//
// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v4 | FileCheck %s
// REQUIRES: ingot-opt

// A left operand of 9.6 MB is read once with blocks of 250 KB, and 12 times
// without blocks.
// CHECK-LABEL: @large(
// CHECK: graph.group "matrix-product"{{.*}} {plan = {block = 672 : i64, columns = 32 : i64, rows = 14 : i64, splits = 1 : i64}}
func.func @large(%x: tensor<8x3136x96xf32>) -> tensor<8x3136x384xf32> {
  %w = graph.constant dense<1.0> : tensor<96x384xf32> : tensor<96x384xf32>
  %y = graph.matmul %x, %w : (tensor<8x3136x96xf32>, tensor<96x384xf32>) -> tensor<8x3136x384xf32>
  return %y : tensor<8x3136x384xf32>
}

// A left operand of 4.8 MB is divided into blocks: it comes from the L3 cache,
// whose latency the multiply-adds do not hide completely.
// CHECK-LABEL: @cached(
// CHECK: graph.group "matrix-product"{{.*}} {plan = {block = 672 : i64, columns
func.func @cached(%x: tensor<4x3136x96xf32>) -> tensor<4x3136x384xf32> {
  %w = graph.constant dense<1.0> : tensor<96x384xf32> : tensor<96x384xf32>
  %y = graph.matmul %x, %w : (tensor<4x3136x96xf32>, tensor<96x384xf32>) -> tensor<4x3136x384xf32>
  return %y : tensor<4x3136x384xf32>
}

// Rows are not divided into blocks if the weights are large: with blocks, 9.4
// MB of weights would be read 13 times, to read 3.1 MB of the left operand less
// often.
// CHECK-LABEL: @many_weights(
// CHECK: graph.group "matrix-product"{{.*}} {plan = {columns
func.func @many_weights(%x: tensor<1024x768xf32>) -> tensor<1024x3072xf32> {
  %w = graph.constant dense<1.0> : tensor<768x3072xf32> : tensor<768x3072xf32>
  %y = graph.matmul %x, %w : (tensor<1024x768xf32>, tensor<768x3072xf32>) -> tensor<1024x3072xf32>
  return %y : tensor<1024x3072xf32>
}

// Rows are not divided into blocks if the left operand may fit into the L2
// cache (1.9 MB).
// CHECK-LABEL: @in_some_second_caches(
// CHECK: graph.group "matrix-product"{{.*}} {plan = {columns
func.func @in_some_second_caches(%x: tensor<4900x96xf32>) -> tensor<4900x384xf32> {
  %w = graph.constant dense<1.0> : tensor<96x384xf32> : tensor<96x384xf32>
  %y = graph.matmul %x, %w : (tensor<4900x96xf32>, tensor<96x384xf32>) -> tensor<4900x384xf32>
  return %y : tensor<4900x384xf32>
}

// Rows are not divided into blocks if the weights are a single panel, which
// reads the 8.4 MB of the left operand only once.
// CHECK-LABEL: @one_panel(
// CHECK: graph.group "matrix-product"{{.*}} {plan = {columns
func.func @one_panel(%x: tensor<512x4096xf32>) -> tensor<512x64xf32> {
  %w = graph.constant dense<1.0> : tensor<4096x64xf32> : tensor<4096x64xf32>
  %y = graph.matmul %x, %w : (tensor<512x4096xf32>, tensor<4096x64xf32>) -> tensor<512x64xf32>
  return %y : tensor<512x64xf32>
}
