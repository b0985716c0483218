// RUN: %ingot-opt %s -simplify-hoist-scales=strict=true | FileCheck %s
// REQUIRES: ingot-opt

// With --strict, an int8 convolution is still summed in integers, which is
// exact. The bias stays a float that is added after scaling, and the result is
// quantized by its own scale.
// CHECK-LABEL: @convolution(
// CHECK: %[[SUMS:.*]] = graph.conv %{{[^,]*}}, %{{[^,]*}} {
// CHECK: %[[BOTH:.*]] = graph.constant dense<2.500000e-01> : tensor<f32>
// CHECK: %[[SCALED:.*]] = graph.dequantize %[[SUMS]], %[[BOTH]]
// CHECK: %[[ADDED:.*]] = graph.add %[[SCALED]], %arg1
// CHECK: %[[TO:.*]] = graph.constant dense<5.000000e+00> : tensor<f32>
// CHECK: graph.quantize %[[ADDED]], %[[TO]]
func.func @convolution(%x: tensor<1x4x4x3xui8>, %bias: tensor<2xf32>) -> tensor<1x4x4x2xui8> {
  %half = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<3> : tensor<ui8> : tensor<ui8>
  %none = graph.constant dense<0> : tensor<si8> : tensor<si8>
  %weights = graph.constant dense<7> : tensor<1x1x3x2xsi8> : tensor<1x1x3x2xsi8>
  %a = graph.dequantize %x, %half, %zero : (tensor<1x4x4x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x4x3xf32>
  %w = graph.dequantize %weights, %half, %none : (tensor<1x1x3x2xsi8>, tensor<f32>, tensor<si8>) -> tensor<1x1x3x2xf32>
  %s = graph.conv %a, %w, %bias {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64}
      : (tensor<1x4x4x3xf32>, tensor<1x1x3x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  %to = graph.constant dense<5.0> : tensor<f32> : tensor<f32>
  %y = graph.quantize %s, %to, %zero : (tensor<1x4x4x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x4x4x2xui8>
  return %y : tensor<1x4x4x2xui8>
}

// With --strict, a mean of a quantized tensor stays a mean of floats.
// CHECK-LABEL: @mean(
// CHECK: %[[X:.*]] = graph.dequantize %arg0
// CHECK: graph.reduce_mean %[[X]]
func.func @mean(%x: tensor<4x3xui8>) -> tensor<1x3xf32> {
  %half = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<3> : tensor<ui8> : tensor<ui8>
  %a = graph.dequantize %x, %half, %zero : (tensor<4x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x3xf32>
  %y = graph.reduce_mean %a {axes = array<i64: 0>} : (tensor<4x3xf32>) -> tensor<1x3xf32>
  return %y : tensor<1x3xf32>
}
