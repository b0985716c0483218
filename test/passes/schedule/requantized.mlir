// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v4 | FileCheck %s
// REQUIRES: ingot-opt

// A value that is dequantized in the kernel that quantized it, with the same
// zero point, is still available as a float: the rounded and clamped sum minus
// 1.5 * 2^23.
// CHECK-LABEL: @same_zero(
// CHECK: arith.select
// CHECK: %[[SUM:.*]] = arith.select
// CHECK-NOT: arith.trunci
// CHECK: arith.subf %[[SUM]], %{{.*}} : vector<16xf32>
// CHECK-NOT: arith.sitofp
kernel.func @same_zero(%x: tensor<64xf32>) -> tensor<64xf32> attributes {strategy = "elementwise", comment = ""} {
  %s = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %z = graph.constant dense<132> : tensor<ui8> : tensor<ui8>
  %q = graph.quantize %x, %s, %z : (tensor<64xf32>, tensor<f32>, tensor<ui8>) -> tensor<64xui8>
  %y = graph.dequantize %q, %s, %z : (tensor<64xui8>, tensor<f32>, tensor<ui8>) -> tensor<64xf32>
  kernel.return %y : tensor<64xf32>
}

// With another zero point, the byte is read.
// CHECK-LABEL: @other_zero(
// CHECK: arith.trunci
// CHECK: arith.sitofp
kernel.func @other_zero(%x: tensor<64xf32>) -> tensor<64xf32> attributes {strategy = "elementwise", comment = ""} {
  %s = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %z = graph.constant dense<132> : tensor<ui8> : tensor<ui8>
  %o = graph.constant dense<131> : tensor<ui8> : tensor<ui8>
  %q = graph.quantize %x, %s, %z : (tensor<64xf32>, tensor<f32>, tensor<ui8>) -> tensor<64xui8>
  %y = graph.dequantize %q, %s, %o : (tensor<64xui8>, tensor<f32>, tensor<ui8>) -> tensor<64xf32>
  kernel.return %y : tensor<64xf32>
}
