// RUN: %ingot-opt %s -decide-form-groups=target=sm_80 | FileCheck %s
// REQUIRES: ingot-opt

// Three heads of 197 queries are 39 blocks of 16 queries, too few for 108 processors: blocks
// of 8 queries, whose keys four slices divide, are 75 of 512 threads.
// CHECK-LABEL: func.func @few_heads(
// CHECK: plan = {across = 16 : i64, keys = 64 : i64, queries = 8 : i64, slices = 4 : i64, thread_queries = 1 : i64}
func.func @few_heads(%q: tensor<3x197x64xf32>, %k: tensor<3x64x197xf32>, %v: tensor<3x197x64xf32>) -> tensor<3x197x64xf32> {
  %s = graph.matmul %q, %k : (tensor<3x197x64xf32>, tensor<3x64x197xf32>) -> tensor<3x197x197xf32>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<3x197x197xf32>) -> tensor<3x197x197xf32>
  %y = graph.matmul %p, %v : (tensor<3x197x197xf32>, tensor<3x197x64xf32>) -> tensor<3x197x64xf32>
  return %y : tensor<3x197x64xf32>
}

// Many fill the device by themselves: threads have two queries each, so that they read less
// of shared memory for what they multiply, and there is nothing to merge.
// CHECK-LABEL: func.func @many_heads(
// CHECK: plan = {{{.*}}slices = 1 : i64, thread_queries = 2 : i64}
func.func @many_heads(%q: tensor<192x197x64xf32>, %k: tensor<192x64x197xf32>, %v: tensor<192x197x64xf32>) -> tensor<192x197x64xf32> {
  %s = graph.matmul %q, %k : (tensor<192x197x64xf32>, tensor<192x64x197xf32>) -> tensor<192x197x197xf32>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<192x197x197xf32>) -> tensor<192x197x197xf32>
  %y = graph.matmul %p, %v : (tensor<192x197x197xf32>, tensor<192x197x64xf32>) -> tensor<192x197x64xf32>
  return %y : tensor<192x197x64xf32>
}
