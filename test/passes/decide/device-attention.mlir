// RUN: %ingot-opt %s -decide-form-groups=target=sm_80 | FileCheck %s
// REQUIRES: ingot-opt

// Three heads of 197 queries would be 39 thread blocks of 16 queries, too few
// for 108 multiprocessors. Blocks of 8 queries, with the keys divided among
// four slices of threads, are 75 blocks of 512 threads.
// CHECK-LABEL: func.func @few_heads(
// CHECK: plan = {across = 16 : i64, keys = 64 : i64, queries = 8 : i64, slices = 4 : i64, thread_queries = 1 : i64}
func.func @few_heads(%q: tensor<3x197x64xf32>, %k: tensor<3x64x197xf32>, %v: tensor<3x197x64xf32>) -> tensor<3x197x64xf32> {
  %s = graph.matmul %q, %k : (tensor<3x197x64xf32>, tensor<3x64x197xf32>) -> tensor<3x197x197xf32>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<3x197x197xf32>) -> tensor<3x197x197xf32>
  %y = graph.matmul %p, %v : (tensor<3x197x197xf32>, tensor<3x197x64xf32>) -> tensor<3x197x64xf32>
  return %y : tensor<3x197x64xf32>
}

// 192 heads fill the device without slices of keys, so no partial results have
// to be merged. Each thread computes two queries, which reads less shared
// memory per multiplication.
// CHECK-LABEL: func.func @many_heads(
// CHECK: plan = {{{.*}}slices = 1 : i64, thread_queries = 2 : i64}
func.func @many_heads(%q: tensor<192x197x64xf32>, %k: tensor<192x64x197xf32>, %v: tensor<192x197x64xf32>) -> tensor<192x197x64xf32> {
  %s = graph.matmul %q, %k : (tensor<192x197x64xf32>, tensor<192x64x197xf32>) -> tensor<192x197x197xf32>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<192x197x197xf32>) -> tensor<192x197x197xf32>
  %y = graph.matmul %p, %v : (tensor<192x197x197xf32>, tensor<192x197x64xf32>) -> tensor<192x197x64xf32>
  return %y : tensor<192x197x64xf32>
}

// Heads that share keys and values read them where they are stored, without a
// copy for each head.
// CHECK-LABEL: func.func @shared_keys(
// CHECK: graph.group "row-attention"(%arg1, %arg2, %arg0)
// CHECK-NOT: graph.group
// CHECK: return
func.func @shared_keys(%q: tensor<1x9x1x64xf32>, %k: tensor<1x3x128x64xf32>, %v: tensor<1x3x128x64xf32>) -> tensor<1x9x1x64xf32> {
  %k1 = graph.reshape %k : (tensor<1x3x128x64xf32>) -> tensor<1x3x1x128x64xf32>
  %k2 = graph.expand %k1 : (tensor<1x3x1x128x64xf32>) -> tensor<1x3x3x128x64xf32>
  %k3 = graph.reshape %k2 : (tensor<1x3x3x128x64xf32>) -> tensor<1x9x128x64xf32>
  %v1 = graph.reshape %v : (tensor<1x3x128x64xf32>) -> tensor<1x3x1x128x64xf32>
  %v2 = graph.expand %v1 : (tensor<1x3x1x128x64xf32>) -> tensor<1x3x3x128x64xf32>
  %v3 = graph.reshape %v2 : (tensor<1x3x3x128x64xf32>) -> tensor<1x9x128x64xf32>
  %t = graph.transpose %k3 {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x9x128x64xf32>) -> tensor<1x9x64x128xf32>
  %s = graph.matmul %q, %t : (tensor<1x9x1x64xf32>, tensor<1x9x64x128xf32>) -> tensor<1x9x1x128xf32>
  %p = graph.softmax %s {axis = 3 : i64} : (tensor<1x9x1x128xf32>) -> tensor<1x9x1x128xf32>
  %y = graph.matmul %p, %v3 : (tensor<1x9x1x128xf32>, tensor<1x9x128x64xf32>) -> tensor<1x9x1x64xf32>
  return %y : tensor<1x9x1x64xf32>
}

// Rotary embeddings of a query are applied in the kernel that reads it.
// CHECK-LABEL: func.func @turned(
// CHECK: graph.group "row-attention"
// CHECK-NOT: graph.group
// CHECK: return
func.func @turned(%q: tensor<9x1x64xf32>, %c: tensor<1x1x64xf32>, %s: tensor<1x1x64xf32>, %k: tensor<9x128x64xf32>, %v: tensor<9x128x64xf32>) -> tensor<9x1x64xf32> {
  %l = graph.slice %q {starts = array<i64: 0, 0, 0>, steps = array<i64: 1, 1, 1>} : (tensor<9x1x64xf32>) -> tensor<9x1x32xf32>
  %r = graph.slice %q {starts = array<i64: 0, 0, 32>, steps = array<i64: 1, 1, 1>} : (tensor<9x1x64xf32>) -> tensor<9x1x32xf32>
  %n = graph.neg %r : (tensor<9x1x32xf32>) -> tensor<9x1x32xf32>
  %t = graph.concat %n, %l {axis = 2 : i64} : (tensor<9x1x32xf32>, tensor<9x1x32xf32>) -> tensor<9x1x64xf32>
  %a = graph.mul %q, %c : (tensor<9x1x64xf32>, tensor<1x1x64xf32>) -> tensor<9x1x64xf32>
  %b = graph.mul %t, %s : (tensor<9x1x64xf32>, tensor<1x1x64xf32>) -> tensor<9x1x64xf32>
  %turned = graph.add %a, %b : (tensor<9x1x64xf32>, tensor<9x1x64xf32>) -> tensor<9x1x64xf32>
  %keys = graph.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<9x128x64xf32>) -> tensor<9x64x128xf32>
  %sc = graph.matmul %turned, %keys : (tensor<9x1x64xf32>, tensor<9x64x128xf32>) -> tensor<9x1x128xf32>
  %p = graph.softmax %sc {axis = 2 : i64} : (tensor<9x1x128xf32>) -> tensor<9x1x128xf32>
  %y = graph.matmul %p, %v : (tensor<9x1x128xf32>, tensor<9x128x64xf32>) -> tensor<9x1x64xf32>
  return %y : tensor<9x1x64xf32>
}
