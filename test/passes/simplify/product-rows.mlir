// RUN: %ingot-opt %s -simplify-assign-layout -canonicalize -simplify-assign-layout -canonicalize | FileCheck %s
// REQUIRES: ingot-opt

// Attention with the sequence axis before the batch axis: the rows of the
// matrix multiplications before and after it are put in batch order, so that
// only the transposes of heads remain.
// CHECK-LABEL: @rows(
// CHECK: %[[M:.*]] = graph.matmul %arg0, %{{.*}} : (tensor<2x5x8xf32>, tensor<8x24xf32>) -> tensor<2x5x24xf32>
// CHECK: %[[A:.*]] = graph.add %[[M]], %{{.*}} -> tensor<2x5x24xf32>
// CHECK: %[[R:.*]] = graph.reshape %[[A]] : (tensor<2x5x24xf32>) -> tensor<2x5x6x4xf32>
// CHECK: %[[S:.*]] = graph.slice %[[R]] {{.*}} -> tensor<2x5x2x4xf32>
// CHECK: %[[H:.*]] = graph.transpose %[[S]] {perm = array<i64: 0, 2, 1, 3>}
// CHECK: %[[P:.*]] = graph.matmul %[[H]], %arg2
// CHECK: %[[B:.*]] = graph.transpose %[[P]] {perm = array<i64: 0, 2, 1, 3>}
// CHECK: %[[F:.*]] = graph.reshape %[[B]] : (tensor<2x5x2x4xf32>) -> tensor<2x5x8xf32>
// CHECK: %[[O:.*]] = graph.matmul %[[F]], %{{.*}} : (tensor<2x5x8xf32>, tensor<8x8xf32>) -> tensor<2x5x8xf32>
// CHECK: graph.add %[[O]], %arg0
func.func @rows(%x: tensor<2x5x8xf32>, %bias: tensor<24xf32>, %scores: tensor<2x2x4x4xf32>) -> tensor<2x5x8xf32> {
  %w = graph.constant dense_resource<rows_in> : tensor<8x24xf32> : tensor<8x24xf32>
  %v = graph.constant dense_resource<rows_out> : tensor<8x8xf32> : tensor<8x8xf32>
  %t = graph.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<2x5x8xf32>) -> tensor<5x2x8xf32>
  %m = graph.matmul %t, %w : (tensor<5x2x8xf32>, tensor<8x24xf32>) -> tensor<5x2x24xf32>
  %a = graph.add %m, %bias : (tensor<5x2x24xf32>, tensor<24xf32>) -> tensor<5x2x24xf32>
  %r = graph.reshape %a : (tensor<5x2x24xf32>) -> tensor<5x2x6x4xf32>
  %s = graph.slice %r {starts = array<i64: 0, 0, 2, 0>, steps = array<i64: 1, 1, 1, 1>} : (tensor<5x2x6x4xf32>) -> tensor<5x2x2x4xf32>
  %h = graph.transpose %s {perm = array<i64: 1, 2, 0, 3>} : (tensor<5x2x2x4xf32>) -> tensor<2x2x5x4xf32>
  %p = graph.matmul %h, %scores : (tensor<2x2x5x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x5x4xf32>
  %b = graph.transpose %p {perm = array<i64: 2, 0, 1, 3>} : (tensor<2x2x5x4xf32>) -> tensor<5x2x2x4xf32>
  %f = graph.reshape %b : (tensor<5x2x2x4xf32>) -> tensor<10x8xf32>
  %o = graph.matmul %f, %v : (tensor<10x8xf32>, tensor<8x8xf32>) -> tensor<10x8xf32>
  %q = graph.reshape %o : (tensor<10x8xf32>) -> tensor<5x2x8xf32>
  %u = graph.transpose %q {perm = array<i64: 1, 0, 2>} : (tensor<5x2x8xf32>) -> tensor<2x5x8xf32>
  %y = graph.add %u, %x : (tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %y : tensor<2x5x8xf32>
}

// A transpose before a matrix multiplication stays if the result has three
// times as many columns as the operand: more data would have to be transposed.
// CHECK-LABEL: @more_columns(
// CHECK: %[[T:.*]] = graph.transpose %arg0
// CHECK: graph.matmul %[[T]]
func.func @more_columns(%x: tensor<2x5x8xf32>) -> tensor<5x2x24xf32> {
  %w = graph.constant dense_resource<rows_in> : tensor<8x24xf32> : tensor<8x24xf32>
  %t = graph.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<2x5x8xf32>) -> tensor<5x2x8xf32>
  %m = graph.matmul %t, %w : (tensor<5x2x8xf32>, tensor<8x24xf32>) -> tensor<5x2x24xf32>
  return %m : tensor<5x2x24xf32>
}
