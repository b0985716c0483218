// RUN: %ingot-opt %s -simplify-take-signs=target=x86-64-v4+vnni | FileCheck %s
// RUN: %ingot-opt %s -simplify-take-signs=target=armv8.2-a+dotprod | FileCheck %s --check-prefix=SAME
// RUN: %ingot-opt %s -simplify-take-signs=target=x86-64-v3 | FileCheck %s --check-prefixes=CHECK,HALVES
// REQUIRES: ingot-opt

// VNNI multiplies uint8 by int8, so the quantized left operand becomes uint8,
// and so do the results of the pool and of other operators that read it.
// Nothing changes on targets that multiply int8 by int8. If pairs of products of
// uint8 by int8 are summed in 16 bits, weights of 7 bits demand the same as VNNI.
// CHECK-LABEL: @signed(
// CHECK-DAG: %[[Z:.*]] = graph.constant dense<116> : tensor<ui8>
// CHECK: %[[Q:.*]] = graph.quantize %arg0, %{{.*}}, %[[Z]] : {{.*}} -> tensor<1x6x6x8xui8>
// CHECK: %[[P:.*]] = graph.max_pool %[[Q]] {{.*}} : (tensor<1x6x6x8xui8>) -> tensor<1x3x3x8xui8>
// CHECK: graph.dequantize %[[P]], %{{.*}}, %{{.*}} : (tensor<1x3x3x8xui8>, tensor<f32>, tensor<ui8>)
// CHECK: graph.dequantize %[[Q]], %{{.*}}, %{{.*}} : (tensor<1x6x6x8xui8>, tensor<f32>, tensor<ui8>)
// SAME-LABEL: @signed(
// SAME-NOT: ui8
// SAME: return
func.func @signed(%x: tensor<1x6x6x8xf32>) -> (tensor<1x3x3x4xf32>, tensor<1x6x6x8xf32>) {
  %s = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %z = graph.constant dense<-12> : tensor<si8> : tensor<si8>
  %none = graph.constant dense<0> : tensor<si8> : tensor<si8>
  %bytes = graph.constant dense<3> : tensor<1x1x8x4xsi8> : tensor<1x1x8x4xsi8>
  %q = graph.quantize %x, %s, %z : (tensor<1x6x6x8xf32>, tensor<f32>, tensor<si8>) -> tensor<1x6x6x8xsi8>
  %p = graph.max_pool %q {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x6x6x8xsi8>) -> tensor<1x3x3x8xsi8>
  %a = graph.dequantize %p, %s, %z : (tensor<1x3x3x8xsi8>, tensor<f32>, tensor<si8>) -> tensor<1x3x3x8xf32>
  %w = graph.dequantize %bytes, %s, %none : (tensor<1x1x8x4xsi8>, tensor<f32>, tensor<si8>) -> tensor<1x1x8x4xf32>
  %c = graph.conv %a, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x3x3x8xf32>, tensor<1x1x8x4xf32>) -> tensor<1x3x3x4xf32>
  %d = graph.dequantize %q, %s, %z : (tensor<1x6x6x8xsi8>, tensor<f32>, tensor<si8>) -> tensor<1x6x6x8xf32>
  return %c, %d : tensor<1x3x3x4xf32>, tensor<1x6x6x8xf32>
}

// A returned tensor keeps its signedness.
// CHECK-LABEL: @result(
// CHECK-NOT: ui8
// CHECK: return
func.func @result(%x: tensor<4x8xf32>) -> (tensor<4x8xsi8>, tensor<4x2xf32>) {
  %s = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %z = graph.constant dense<0> : tensor<si8> : tensor<si8>
  %bytes = graph.constant dense<3> : tensor<8x2xsi8> : tensor<8x2xsi8>
  %q = graph.quantize %x, %s, %z : (tensor<4x8xf32>, tensor<f32>, tensor<si8>) -> tensor<4x8xsi8>
  %a = graph.dequantize %q, %s, %z : (tensor<4x8xsi8>, tensor<f32>, tensor<si8>) -> tensor<4x8xf32>
  %w = graph.dequantize %bytes, %s, %z : (tensor<8x2xsi8>, tensor<f32>, tensor<si8>) -> tensor<8x2xf32>
  %y = graph.matmul %a, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return %q, %y : tensor<4x8xsi8>, tensor<4x2xf32>
}

// A right operand that is not constant is quantized to int8, as weights are.
// CHECK-LABEL: @computed(
// CHECK: graph.quantize %arg1, {{.*}} -> tensor<8x2xsi8>
func.func @computed(%x: tensor<4x8xf32>, %v: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %s = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %z = graph.constant dense<0> : tensor<si8> : tensor<si8>
  %q = graph.quantize %v, %s, %z : (tensor<8x2xf32>, tensor<f32>, tensor<si8>) -> tensor<8x2xsi8>
  %b = graph.dequantize %q, %s, %z : (tensor<8x2xsi8>, tensor<f32>, tensor<si8>) -> tensor<8x2xf32>
  %y = graph.matmul %x, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// Weights of 8 bits may need sums of more than 16 bits, so that nothing is gained.
// HALVES-LABEL: @eight_bits(
// HALVES-NOT: ui8
// HALVES: return
func.func @eight_bits(%x: tensor<4x8xf32>) -> tensor<4x2xf32> {
  %s = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %z = graph.constant dense<0> : tensor<si8> : tensor<si8>
  %bytes = graph.constant dense<65> : tensor<8x2xsi8> : tensor<8x2xsi8>
  %q = graph.quantize %x, %s, %z : (tensor<4x8xf32>, tensor<f32>, tensor<si8>) -> tensor<4x8xsi8>
  %a = graph.dequantize %q, %s, %z : (tensor<4x8xsi8>, tensor<f32>, tensor<si8>) -> tensor<4x8xf32>
  %w = graph.dequantize %bytes, %s, %z : (tensor<8x2xsi8>, tensor<f32>, tensor<si8>) -> tensor<8x2xf32>
  %y = graph.matmul %a, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}
