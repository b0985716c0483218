// RUN: %ingot-opt %s -decide-join-products=target=sm_80 | FileCheck %s
// REQUIRES: ingot-opt

// Matrix multiplications of one tensor (queries, keys, values) become one with
// 64 columns, which are 8 heads. Those without a bias get a bias of zeros.
// CHECK-LABEL: func.func @attention(
// CHECK: %[[W:.*]] = graph.concat {{.*}} {axis = 1 : i64} : {{.*}} -> tensor<32x64xf32>
// CHECK: %[[P:.*]] = graph.matmul %arg0, %[[W]] : {{.*}} -> tensor<1x16x64xf32>
// CHECK: %[[B:.*]] = graph.concat {{.*}} {axis = 0 : i64} : {{.*}} -> tensor<64xf32>
// CHECK: %[[S:.*]] = graph.add %[[P]], %[[B]]
// CHECK: %[[H:.*]] = graph.reshape %[[S]] : {{.*}} -> tensor<1x16x8x8xf32>
// CHECK: %[[Q:.*]] = graph.slice %[[H]] {starts = array<i64: 0, 0, 0, 0>, {{.*}} -> tensor<1x16x4x8xf32>
// CHECK: %[[K:.*]] = graph.slice %[[H]] {starts = array<i64: 0, 0, 4, 0>, {{.*}} -> tensor<1x16x4x8xf32>
// CHECK: return %[[Q]], %[[K]]
func.func @attention(%x: tensor<1x16x32xf32>) -> (tensor<1x16x4x8xf32>, tensor<1x16x4x8xf32>) {
  %w = graph.constant dense<1.0> : tensor<32x32xf32> : tensor<32x32xf32>
  %b = graph.constant dense<2.0> : tensor<32xf32> : tensor<32xf32>
  %p = graph.matmul %x, %w : (tensor<1x16x32xf32>, tensor<32x32xf32>) -> tensor<1x16x32xf32>
  %s = graph.add %p, %b : (tensor<1x16x32xf32>, tensor<32xf32>) -> tensor<1x16x32xf32>
  %q = graph.reshape %s : (tensor<1x16x32xf32>) -> tensor<1x16x4x8xf32>
  %v = graph.constant dense<3.0> : tensor<32x32xf32> : tensor<32x32xf32>
  %r = graph.matmul %x, %v : (tensor<1x16x32xf32>, tensor<32x32xf32>) -> tensor<1x16x32xf32>
  %k = graph.reshape %r : (tensor<1x16x32xf32>) -> tensor<1x16x4x8xf32>
  return %q, %k : tensor<1x16x4x8xf32>, tensor<1x16x4x8xf32>
}

// Matrix multiplications of different tensors, or with different head sizes,
// are not joined.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: graph.concat
// CHECK: return
func.func @others(%x: tensor<16x32xf32>, %y: tensor<16x32xf32>) -> (tensor<16x4x8xf32>, tensor<16x4x8xf32>, tensor<16x8x4xf32>) {
  %w = graph.constant dense<1.0> : tensor<32x32xf32> : tensor<32x32xf32>
  %p = graph.matmul %x, %w : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  %q = graph.reshape %p : (tensor<16x32xf32>) -> tensor<16x4x8xf32>
  %r = graph.matmul %y, %w : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  %k = graph.reshape %r : (tensor<16x32xf32>) -> tensor<16x4x8xf32>
  %s = graph.matmul %x, %w : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  %v = graph.reshape %s : (tensor<16x32xf32>) -> tensor<16x8x4xf32>
  return %q, %k, %v : tensor<16x4x8xf32>, tensor<16x4x8xf32>, tensor<16x8x4xf32>
}

// With a single row, the axis of heads may come before the axis of rows.
// CHECK-LABEL: func.func @one_row(
// CHECK: graph.matmul %arg0, %{{.*}} -> tensor<1x1x48xf32>
// CHECK: %[[H:.*]] = graph.reshape %{{.*}} -> tensor<1x1x6x8xf32>
// CHECK: %[[Q:.*]] = graph.slice %[[H]] {starts = array<i64: 0, 0, 0, 0>, {{.*}} -> tensor<1x1x4x8xf32>
// CHECK: %[[V:.*]] = graph.slice %[[H]] {starts = array<i64: 0, 0, 4, 0>, {{.*}} -> tensor<1x1x2x8xf32>
// CHECK: %[[T:.*]] = graph.reshape %[[V]] : {{.*}} -> tensor<1x2x1x8xf32>
// CHECK: return %[[Q]], %[[T]]
func.func @one_row(%x: tensor<1x1x32xf32>) -> (tensor<1x1x4x8xf32>, tensor<1x2x1x8xf32>) {
  %w = graph.constant dense<1.0> : tensor<32x32xf32> : tensor<32x32xf32>
  %p = graph.matmul %x, %w : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
  %q = graph.reshape %p : (tensor<1x1x32xf32>) -> tensor<1x1x4x8xf32>
  %u = graph.constant dense<3.0> : tensor<32x16xf32> : tensor<32x16xf32>
  %r = graph.matmul %x, %u : (tensor<1x1x32xf32>, tensor<32x16xf32>) -> tensor<1x1x16xf32>
  %v = graph.reshape %r : (tensor<1x1x16xf32>) -> tensor<1x2x1x8xf32>
  return %q, %v : tensor<1x1x4x8xf32>, tensor<1x2x1x8xf32>
}
