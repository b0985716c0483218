// RUN: %ingot-opt %s -decide-agree-signs=target=cortex-m55 | FileCheck %s
// RUN: %ingot-opt %s -decide-agree-signs=target=cortex-m4 | FileCheck %s --check-prefix=SAME
// REQUIRES: ingot-opt

// The M55 multiplies whole registers of int8 only if both operands are signed.
// Tensors between a quantization and all of its readers become signed, and
// their zero points change accordingly. On the M4, signed and unsigned operands
// are equally fast.
// CHECK-LABEL: @quantized(
// CHECK: %[[ZERO:.*]] = graph.constant dense<-12> : tensor<si8>
// CHECK: %[[Q:.*]] = graph.quantize %arg0, %{{.*}}, %[[ZERO]] : {{.*}} -> tensor<1x6x6x16xsi8>
// CHECK: %[[POOL:.*]] = graph.max_pool %[[Q]] {{.*}} -> tensor<1x3x3x16xsi8>
// CHECK: graph.conv %[[POOL]], %{{.*}} x_zero = -12 : i64
// CHECK: %[[MOVED:.*]] = graph.constant dense<-12> : tensor<si8>
// CHECK: graph.dequantize %[[Q]], %{{.*}}, %[[MOVED]]
// SAME-LABEL: @quantized(
// SAME: graph.quantize {{.*}} -> tensor<1x6x6x16xui8>
// SAME: x_zero = 116 : i64
func.func @quantized(%x: tensor<1x6x6x16xf32>) -> (tensor<1x3x3x8xsi32>, tensor<1x6x6x16xf32>) {
  %scale = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<116> : tensor<ui8> : tensor<ui8>
  %weights = graph.constant dense<1> : tensor<3x3x16x8xsi8> : tensor<3x3x16x8xsi8>
  %q = graph.quantize %x, %scale, %zero : (tensor<1x6x6x16xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x6x6x16xui8>
  %p = graph.max_pool %q {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x6x6x16xui8>) -> tensor<1x3x3x16xui8>
  %y = graph.conv %p, %weights {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1, x_zero = 116} : (tensor<1x3x3x16xui8>, tensor<3x3x16x8xsi8>) -> tensor<1x3x3x8xsi32>
  %d = graph.dequantize %q, %scale, %zero : (tensor<1x6x6x16xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x6x6x16xf32>
  return %y, %d : tensor<1x3x3x8xsi32>, tensor<1x6x6x16xf32>
}

// A matrix multiplication without zero points gets zero points when an operand
// changes its signedness.
// CHECK-LABEL: @product(
// CHECK: %[[Q:.*]] = graph.quantize {{.*}} -> tensor<2x32xsi8>
// CHECK: %[[A:.*]] = graph.constant dense<-128> : tensor<si8>
// CHECK: %[[B:.*]] = graph.constant dense<0> : tensor<si8>
// CHECK: graph.matmul %[[Q]], %{{.*}}, %[[A]], %[[B]]
func.func @product(%x: tensor<2x32xf32>) -> tensor<2x4xsi32> {
  %scale = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %w = graph.constant dense<1> : tensor<32x4xsi8> : tensor<32x4xsi8>
  %q = graph.quantize %x, %scale, %zero : (tensor<2x32xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x32xui8>
  %y = graph.matmul %q, %w : (tensor<2x32xui8>, tensor<32x4xsi8>) -> tensor<2x4xsi32>
  return %y : tensor<2x4xsi32>
}

// Function arguments, results and tensors that other operators read keep their
// signedness. So do operands with so few columns (here 3) that no signedness is
// faster.
// CHECK-LABEL: @others(
// CHECK: graph.quantize {{.*}} -> tensor<2x32xui8>
// CHECK: graph.matmul %arg1
// CHECK: graph.quantize {{.*}} -> tensor<2x3xui8>
func.func @others(%x: tensor<2x32xf32>, %given: tensor<2x32xui8>, %few: tensor<2x3xf32>) -> (tensor<2x4xsi32>, tensor<2x32xui8>, tensor<2x4xsi32>, tensor<2x4xsi32>) {
  %scale = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<7> : tensor<ui8> : tensor<ui8>
  %w = graph.constant dense<1> : tensor<32x4xsi8> : tensor<32x4xsi8>
  %v = graph.constant dense<1> : tensor<3x4xsi8> : tensor<3x4xsi8>
  %q = graph.quantize %x, %scale, %zero : (tensor<2x32xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x32xui8>
  %y = graph.matmul %q, %w : (tensor<2x32xui8>, tensor<32x4xsi8>) -> tensor<2x4xsi32>
  %z = graph.matmul %given, %w : (tensor<2x32xui8>, tensor<32x4xsi8>) -> tensor<2x4xsi32>
  %f = graph.quantize %few, %scale, %zero : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  %t = graph.matmul %f, %v : (tensor<2x3xui8>, tensor<3x4xsi8>) -> tensor<2x4xsi32>
  return %y, %q, %z, %t : tensor<2x4xsi32>, tensor<2x32xui8>, tensor<2x4xsi32>, tensor<2x4xsi32>
}
