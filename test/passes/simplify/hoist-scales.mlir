// RUN: %ingot-opt %s -simplify-hoist-scales | FileCheck %s
// RUN: %ingot-opt %s -simplify-hoist-scales=target=sm_80 | FileCheck %s --check-prefix=DEVICE
// REQUIRES: ingot-opt

// A quantized convolution multiplies integers, and the scales of operands, bias
// and result become one factor per output channel after it.
// CHECK-LABEL: @convolution(
// CHECK: %[[ONE:.*]] = graph.constant dense<1.000000e+00> : tensor<f32>
// CHECK: %[[X:.*]] = graph.dequantize %arg0, %[[ONE]]
// CHECK: %[[I:.*]] = graph.dequantize %arg1
// CHECK: %[[W:.*]] = graph.transpose %[[I]]
// CHECK: %[[Q:.*]] = graph.div
// CHECK: %[[B:.*]] = graph.round %[[Q]]
// CHECK: %[[A:.*]] = graph.conv %[[X]], %[[W]], %[[B]]
// CHECK: %[[RATIO:.*]] = graph.constant dense<{{\[+}}5.000000e-01, 1.000000e+00, 2.000000e+00]]]]> : tensor<1x1x1x3xf32>
// CHECK: %[[S:.*]] = graph.dequantize %[[A]], %[[RATIO]]
// CHECK: %[[R:.*]] = graph.relu %[[S]]
// CHECK: %[[NONE:.*]] = graph.constant dense<1.000000e+00> : tensor<f32>
// CHECK: graph.quantize %[[R]], %[[NONE]]
func.func @convolution(%x: tensor<1x4x4x2xui8>, %w: tensor<3x2x1x1xsi8>, %b: tensor<3xsi32>) -> tensor<1x4x4x3xui8> {
  %sx = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %zx = graph.constant dense<3> : tensor<ui8> : tensor<ui8>
  %sw = graph.constant dense<[[[[0.25]]], [[[0.5]]], [[[1.0]]]]> : tensor<3x1x1x1xf32> : tensor<3x1x1x1xf32>
  %zw = graph.constant dense<0> : tensor<si8> : tensor<si8>
  %sb = graph.constant dense<[0.125, 0.25, 0.5]> : tensor<3xf32> : tensor<3xf32>
  %zb = graph.constant dense<0> : tensor<si32> : tensor<si32>
  %sy = graph.constant dense<0.25> : tensor<f32> : tensor<f32>
  %xf = graph.dequantize %x, %sx, %zx : (tensor<1x4x4x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x4x2xf32>
  %wf = graph.dequantize %w, %sw, %zw : (tensor<3x2x1x1xsi8>, tensor<3x1x1x1xf32>, tensor<si8>) -> tensor<3x2x1x1xf32>
  %wt = graph.transpose %wf {perm = array<i64: 2, 3, 1, 0>} : (tensor<3x2x1x1xf32>) -> tensor<1x1x2x3xf32>
  %bf = graph.dequantize %b, %sb, %zb : (tensor<3xsi32>, tensor<3xf32>, tensor<si32>) -> tensor<3xf32>
  %c = graph.conv %xf, %wt, %bf {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<1x1x2x3xf32>, tensor<3xf32>) -> tensor<1x4x4x3xf32>
  %r = graph.relu %c : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  %y = graph.quantize %r, %sy, %zx : (tensor<1x4x4x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x4x4x3xui8>
  return %y : tensor<1x4x4x3xui8>
}

// The mean of a quantized tensor becomes a sum of integers. Another operator
// that reads the dequantized tensor scales the same integers.
// CHECK-LABEL: @mean(
// CHECK: %[[X:.*]] = graph.dequantize %arg0
// CHECK: %[[F:.*]] = graph.mul %[[X]]
// CHECK: %[[A:.*]] = graph.reduce_sum %[[X]]
// CHECK: %[[M:.*]] = graph.dequantize %[[A]]
// CHECK: return %[[F]], %[[M]]
func.func @mean(%x: tensor<1x4x2xui8>) -> (tensor<1x4x2xf32>, tensor<1x1x2xf32>) {
  %sx = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %zx = graph.constant dense<3> : tensor<ui8> : tensor<ui8>
  %xf = graph.dequantize %x, %sx, %zx : (tensor<1x4x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x2xf32>
  %m = graph.reduce_mean %xf {axes = array<i64: 1>} : (tensor<1x4x2xf32>) -> tensor<1x1x2xf32>
  return %xf, %m : tensor<1x4x2xf32>, tensor<1x1x2xf32>
}

// If the left operand of a matrix multiplication has a scale for each row, the
// scales stay before the multiplication.
// CHECK-LABEL: @rows(
// CHECK: %[[X:.*]] = graph.dequantize %arg0, %{{.*}} tensor<2x1xf32>
// CHECK: %[[W:.*]] = graph.dequantize %arg1
// CHECK: %[[Y:.*]] = graph.matmul %[[X]], %[[W]]
// CHECK-NEXT: return %[[Y]]
func.func @rows(%x: tensor<2x4xui8>, %w: tensor<4x3xsi8>) -> tensor<2x3xf32> {
  %sx = graph.constant dense<[[0.5], [0.25]]> : tensor<2x1xf32> : tensor<2x1xf32>
  %zx = graph.constant dense<3> : tensor<ui8> : tensor<ui8>
  %sw = graph.constant dense<0.25> : tensor<f32> : tensor<f32>
  %zw = graph.constant dense<0> : tensor<si8> : tensor<si8>
  %xf = graph.dequantize %x, %sx, %zx : (tensor<2x4xui8>, tensor<2x1xf32>, tensor<ui8>) -> tensor<2x4xf32>
  %wf = graph.dequantize %w, %sw, %zw : (tensor<4x3xsi8>, tensor<f32>, tensor<si8>) -> tensor<4x3xf32>
  %y = graph.matmul %xf, %wf : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// The bias of a quantized matrix multiplication is rounded to the unit of the
// integer sums.
// CHECK-LABEL: @bias(
// CHECK: %[[Y:.*]] = graph.matmul
// CHECK: %[[B:.*]] = graph.round
// CHECK: %[[A:.*]] = graph.add %[[Y]], %[[B]]
// CHECK: %[[S:.*]] = graph.dequantize %[[A]]
// CHECK: return %[[S]]
func.func @bias(%x: tensor<2x4xui8>, %w: tensor<4x3xsi8>, %b: tensor<3xsi32>) -> tensor<2x3xf32> {
  %sx = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %zx = graph.constant dense<3> : tensor<ui8> : tensor<ui8>
  %zw = graph.constant dense<0> : tensor<si8> : tensor<si8>
  %sb = graph.constant dense<0.25> : tensor<f32> : tensor<f32>
  %zb = graph.constant dense<0> : tensor<si32> : tensor<si32>
  %xf = graph.dequantize %x, %sx, %zx : (tensor<2x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x4xf32>
  %wf = graph.dequantize %w, %sx, %zw : (tensor<4x3xsi8>, tensor<f32>, tensor<si8>) -> tensor<4x3xf32>
  %bf = graph.dequantize %b, %sb, %zb : (tensor<3xsi32>, tensor<f32>, tensor<si32>) -> tensor<3xf32>
  %p = graph.matmul %xf, %wf : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %y = graph.add %p, %bf : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// A quantized tensor whose scale is no multiple of the unit of the sums is not
// rounded to this unit: it is added to the scaled product.
// CHECK-LABEL: @residual(
// CHECK: %[[Y:.*]] = graph.matmul
// CHECK: %[[S:.*]] = graph.dequantize %[[Y]]
// CHECK: graph.add %[[S]], %{{.*}}
// CHECK-NOT: graph.round
// CHECK: return
func.func @residual(%x: tensor<2x4xui8>, %w: tensor<4x3xsi8>, %r: tensor<2x3xsi8>) -> tensor<2x3xf32> {
  %sx = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %zx = graph.constant dense<3> : tensor<ui8> : tensor<ui8>
  %z = graph.constant dense<0> : tensor<si8> : tensor<si8>
  %sr = graph.constant dense<0.375> : tensor<f32> : tensor<f32>
  %xf = graph.dequantize %x, %sx, %zx : (tensor<2x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x4xf32>
  %wf = graph.dequantize %w, %sx, %z : (tensor<4x3xsi8>, tensor<f32>, tensor<si8>) -> tensor<4x3xf32>
  %rf = graph.dequantize %r, %sr, %z : (tensor<2x3xsi8>, tensor<f32>, tensor<si8>) -> tensor<2x3xf32>
  %p = graph.matmul %xf, %wf : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %y = graph.add %p, %rf : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// In a sum of quantized tensors and constants, the scale of the result is
// divided out of the scales of the operands.
// CHECK-LABEL: @sum(
// CHECK: %[[T:.*]] = graph.div
// CHECK: %[[X:.*]] = graph.constant dense<2.000000e+00> : tensor<f32>
// CHECK: %[[A:.*]] = graph.dequantize %arg0, %[[X]]
// CHECK: %[[W:.*]] = graph.constant dense<1.000000e+00> : tensor<f32>
// CHECK: %[[B:.*]] = graph.dequantize %arg1, %[[W]]
// CHECK: %[[S:.*]] = graph.add %[[A]], %[[B]]
// CHECK: %[[U:.*]] = graph.add %[[S]], %[[T]]
// CHECK: %[[ONE:.*]] = graph.constant dense<1.000000e+00> : tensor<f32>
// CHECK: graph.quantize %[[U]], %[[ONE]]
func.func @sum(%a: tensor<4xui8>, %b: tensor<4xui8>) -> tensor<4xui8> {
  %sa = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %sb = graph.constant dense<0.25> : tensor<f32> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8> : tensor<ui8>
  %c = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> : tensor<4xf32>
  %af = graph.dequantize %a, %sa, %z : (tensor<4xui8>, tensor<f32>, tensor<ui8>) -> tensor<4xf32>
  %bf = graph.dequantize %b, %sb, %z : (tensor<4xui8>, tensor<f32>, tensor<ui8>) -> tensor<4xf32>
  %s = graph.add %af, %bf : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t = graph.add %s, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %q = graph.quantize %t, %sb, %z : (tensor<4xf32>, tensor<f32>, tensor<ui8>) -> tensor<4xui8>
  return %q : tensor<4xui8>
}

// The scale of the result stays in the quantization if another operator also
// reads the sum, or if a tensor is only requantized.
// CHECK-LABEL: @read_twice(
// CHECK: %[[SB:.*]] = graph.constant dense<2.500000e-01>
// CHECK: graph.quantize %{{.*}}, %[[SB]]
// CHECK: graph.quantize %{{.*}}, %[[SB]]
func.func @read_twice(%a: tensor<4xui8>, %b: tensor<4xui8>) -> (tensor<4xf32>, tensor<4xui8>, tensor<4xui8>) {
  %sa = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %sb = graph.constant dense<0.25> : tensor<f32> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8> : tensor<ui8>
  %af = graph.dequantize %a, %sa, %z : (tensor<4xui8>, tensor<f32>, tensor<ui8>) -> tensor<4xf32>
  %bf = graph.dequantize %b, %sa, %z : (tensor<4xui8>, tensor<f32>, tensor<ui8>) -> tensor<4xf32>
  %s = graph.add %af, %af : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %q = graph.quantize %s, %sb, %z : (tensor<4xf32>, tensor<f32>, tensor<ui8>) -> tensor<4xui8>
  %r = graph.quantize %bf, %sb, %z : (tensor<4xf32>, tensor<f32>, tensor<ui8>) -> tensor<4xui8>
  return %s, %q, %r : tensor<4xf32>, tensor<4xui8>, tensor<4xui8>
}

// A max pool between a dequantization and a quantization with the same scale is
// computed on integers. With another scale, the pool comes before the scaling,
// so that fewer elements are scaled.
// CHECK-LABEL: @maximum(
// CHECK-NEXT: %[[MAX:.*]] = graph.max_pool %arg0 {{.*}} -> tensor<1x2x2x3xui8>
// CHECK: return %[[MAX]]
func.func @maximum(%x: tensor<1x4x4x3xui8>) -> tensor<1x2x2x3xui8> {
  %s = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8> : tensor<ui8>
  %f = graph.dequantize %x, %s, %z : (tensor<1x4x4x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x4x3xf32>
  %m = graph.max_pool %f {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x4x4x3xf32>) -> tensor<1x2x2x3xf32>
  %y = graph.quantize %m, %s, %z : (tensor<1x2x2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2x3xui8>
  return %y : tensor<1x2x2x3xui8>
}

// CHECK-LABEL: @other_scale(
// CHECK: %[[MAX:.*]] = graph.max_pool %arg0 {{.*}} -> tensor<1x2x2x3xui8>
// CHECK: %[[FLOAT:.*]] = graph.dequantize %[[MAX]]
// CHECK: graph.quantize %[[FLOAT]]
func.func @other_scale(%x: tensor<1x4x4x3xui8>) -> tensor<1x2x2x3xui8> {
  %s = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %t = graph.constant dense<0.25> : tensor<f32> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8> : tensor<ui8>
  %f = graph.dequantize %x, %s, %z : (tensor<1x4x4x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x4x3xf32>
  %m = graph.max_pool %f {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x4x4x3xf32>) -> tensor<1x2x2x3xf32>
  %y = graph.quantize %m, %t, %z : (tensor<1x2x2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2x3xui8>
  return %y : tensor<1x2x2x3xui8>
}

// On a target that multiplies 8-bit floats, their scales move after the matrix
// multiplication, too.
// DEVICE-LABEL: @bytes_of_floats(
// DEVICE: %[[Y:.*]] = graph.matmul
// DEVICE: %[[SCALE:.*]] = graph.constant dense<1.250000e-01> : tensor<f32>
// DEVICE: graph.dequantize %[[Y]], %[[SCALE]]
// CHECK-LABEL: @bytes_of_floats(
// CHECK: graph.constant dense<5.000000e-01>
// CHECK: %[[Y:.*]] = graph.matmul
// CHECK-NEXT: return %[[Y]]
func.func @bytes_of_floats(%q: tensor<2x8xf8E4M3FN>) -> tensor<2x4xf32> {
  %half = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %quarter = graph.constant dense<0.25> : tensor<f32> : tensor<f32>
  %none = graph.constant dense<0.0> : tensor<f8E4M3FN> : tensor<f8E4M3FN>
  %stored = graph.constant dense<1.5> : tensor<8x4xf8E4M3FN> : tensor<8x4xf8E4M3FN>
  %x = graph.dequantize %q, %half, %none : (tensor<2x8xf8E4M3FN>, tensor<f32>, tensor<f8E4M3FN>) -> tensor<2x8xf32>
  %w = graph.dequantize %stored, %quarter, %none : (tensor<8x4xf8E4M3FN>, tensor<f32>, tensor<f8E4M3FN>) -> tensor<8x4xf32>
  %y = graph.matmul %x, %w : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
