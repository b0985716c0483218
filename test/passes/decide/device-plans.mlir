// RUN: %ingot-opt %s -decide-form-groups=target=sm_90a | FileCheck %s
// REQUIRES: ingot-opt

// A thread block computes the K steps of its tile one after another. For few
// output columns and many K steps, the plan has small tiles, divides the K
// steps among slices, and has as many pipeline stages as shared memory allows.
// CHECK-LABEL: @long(
// CHECK: "tensor-product"{{.*}} {plan = {columns = 32 : i64, rows = 16 : i64, slices = 8 : i64, stages = 4 : i64
func.func @long(%x: tensor<49x2048xbf16>) -> tensor<49x512xbf16> {
  %w = graph.constant dense<1.0> : tensor<2048x512xbf16> : tensor<2048x512xbf16>
  %y = graph.matmul %x, %w : (tensor<49x2048xbf16>, tensor<2048x512xbf16>) -> tensor<49x512xbf16>
  return %y : tensor<49x512xbf16>
}
