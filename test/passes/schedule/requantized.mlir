// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v4 | FileCheck %s
// REQUIRES: ingot-opt

// A value that is quantized and dequantized in the same kernel, with the same
// zero point, is not converted to an integer: the float is the rounded and
// clamped sum minus 1.5 * 2^23.
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

// A value that is dequantized with another zero point is converted to an 8-bit
// integer and back.
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
