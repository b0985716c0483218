// RUN: %ingot-opt %s -decide-form-groups=target=sm_90a | FileCheck %s
// REQUIRES: ingot-opt

// Strips of a block follow one another: few tiles of many steps are small ones, whose strips
// slices divide, with as many on their way as there is room for.
// CHECK-LABEL: @long(
// CHECK: "tensor-product"{{.*}} {plan = {columns = 32 : i64, rows = 16 : i64, slices = 8 : i64, stages = 4 : i64
func.func @long(%x: tensor<49x2048xbf16>) -> tensor<49x512xbf16> {
  %w = graph.constant dense<1.0> : tensor<2048x512xbf16> : tensor<2048x512xbf16>
  %y = graph.matmul %x, %w : (tensor<49x2048xbf16>, tensor<2048x512xbf16>) -> tensor<49x512xbf16>
  return %y : tensor<49x512xbf16>
}
