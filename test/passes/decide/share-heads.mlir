// RUN: %ingot-opt %s -decide-share-heads=target=x86-64-v3 | FileCheck %s
// REQUIRES: ingot-opt

// Four query heads share each head of keys and values: their queries become the
// rows of one matrix, and keys and values are not repeated. Nothing is left of
// the operators that repeat them.
// CHECK-LABEL: @shared(
// CHECK-NOT: graph.expand
// CHECK: %[[Q:.*]] = graph.reshape %arg0 : (tensor<1x8x1x32xf32>) -> tensor<1x2x4x32xf32>
// CHECK: %[[S:.*]] = graph.matmul %[[Q]], %{{.*}} : (tensor<1x2x4x32xf32>, tensor<1x2x32x16xf32>) -> tensor<1x2x4x16xf32>
// CHECK: %[[Y:.*]] = graph.matmul %{{.*}}, %arg2 : (tensor<1x2x4x16xf32>, tensor<1x2x16x32xf32>) -> tensor<1x2x4x32xf32>
// CHECK: graph.reshape %[[Y]] : (tensor<1x2x4x32xf32>) -> tensor<1x8x1x32xf32>
// CHECK-NOT: graph.expand
// CHECK: return
func.func @shared(%q: tensor<1x8x1x32xf32>, %k: tensor<1x2x16x32xf32>, %v: tensor<1x2x16x32xf32>) -> tensor<1x8x1x32xf32> {
  %k5 = graph.reshape %k : (tensor<1x2x16x32xf32>) -> tensor<1x2x1x16x32xf32>
  %ke = graph.expand %k5 : (tensor<1x2x1x16x32xf32>) -> tensor<1x2x4x16x32xf32>
  %kr = graph.reshape %ke : (tensor<1x2x4x16x32xf32>) -> tensor<1x8x16x32xf32>
  %kt = graph.transpose %kr {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x8x16x32xf32>) -> tensor<1x8x32x16xf32>
  %v5 = graph.reshape %v : (tensor<1x2x16x32xf32>) -> tensor<1x2x1x16x32xf32>
  %ve = graph.expand %v5 : (tensor<1x2x1x16x32xf32>) -> tensor<1x2x4x16x32xf32>
  %vr = graph.reshape %ve : (tensor<1x2x4x16x32xf32>) -> tensor<1x8x16x32xf32>
  %s = graph.matmul %q, %kt : (tensor<1x8x1x32xf32>, tensor<1x8x32x16xf32>) -> tensor<1x8x1x16xf32>
  %p = graph.softmax %s {axis = 3 : i64} : (tensor<1x8x1x16xf32>) -> tensor<1x8x1x16xf32>
  %y = graph.matmul %p, %vr : (tensor<1x8x1x16xf32>, tensor<1x8x16x32xf32>) -> tensor<1x8x1x32xf32>
  return %y : tensor<1x8x1x32xf32>
}

// Unchanged: one query is multiplied by the keys of all heads.
// CHECK-LABEL: @one_query(
// CHECK: graph.matmul %arg0, %{{.*}} : (tensor<1x1x1x32xf32>, tensor<1x8x32x16xf32>) -> tensor<1x8x1x16xf32>
func.func @one_query(%q: tensor<1x1x1x32xf32>, %k: tensor<1x2x16x32xf32>, %v: tensor<1x2x16x32xf32>) -> tensor<1x8x1x32xf32> {
  %k5 = graph.reshape %k : (tensor<1x2x16x32xf32>) -> tensor<1x2x1x16x32xf32>
  %ke = graph.expand %k5 : (tensor<1x2x1x16x32xf32>) -> tensor<1x2x4x16x32xf32>
  %kr = graph.reshape %ke : (tensor<1x2x4x16x32xf32>) -> tensor<1x8x16x32xf32>
  %kt = graph.transpose %kr {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x8x16x32xf32>) -> tensor<1x8x32x16xf32>
  %v5 = graph.reshape %v : (tensor<1x2x16x32xf32>) -> tensor<1x2x1x16x32xf32>
  %ve = graph.expand %v5 : (tensor<1x2x1x16x32xf32>) -> tensor<1x2x4x16x32xf32>
  %vr = graph.reshape %ve : (tensor<1x2x4x16x32xf32>) -> tensor<1x8x16x32xf32>
  %s = graph.matmul %q, %kt : (tensor<1x1x1x32xf32>, tensor<1x8x32x16xf32>) -> tensor<1x8x1x16xf32>
  %p = graph.softmax %s {axis = 3 : i64} : (tensor<1x8x1x16xf32>) -> tensor<1x8x1x16xf32>
  %y = graph.matmul %p, %vr : (tensor<1x8x1x16xf32>, tensor<1x8x16x32xf32>) -> tensor<1x8x1x32xf32>
  return %y : tensor<1x8x1x32xf32>
}
