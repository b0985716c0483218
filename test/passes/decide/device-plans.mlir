// RUN: %ingot-opt %s -decide-form-groups=target=sm_90a | FileCheck %s
// REQUIRES: ingot-opt

// The steps of a block run one after another. If there are few tiles with many
// steps, the plan uses small tiles, divides the steps among slices, and keeps
// as many copies in flight as memory allows.
// CHECK-LABEL: @long(
// CHECK: "tensor-product"{{.*}} {plan = {columns = 32 : i64, rows = 16 : i64, slices = 8 : i64, stages = 4 : i64
func.func @long(%x: tensor<49x2048xbf16>) -> tensor<49x512xbf16> {
  %w = graph.constant dense<1.0> : tensor<2048x512xbf16> : tensor<2048x512xbf16>
  %y = graph.matmul %x, %w : (tensor<49x2048xbf16>, tensor<2048x512xbf16>) -> tensor<49x512xbf16>
  return %y : tensor<49x512xbf16>
}
