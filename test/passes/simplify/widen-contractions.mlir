// RUN: %ingot-opt %s -simplify-widen-contractions=target=x86-64-v3 | FileCheck %s
// RUN: %ingot-opt %s -simplify-widen-contractions=target=generic | FileCheck %s --check-prefix=GENERIC
// RUN: %ingot-opt %s -simplify-widen-contractions=target=hexagon-v67 | FileCheck %s --check-prefix=PARTS
// RUN: %ingot-opt %s -simplify-widen-contractions="target=hexagon-v67 strict=true" | FileCheck %s --check-prefix=STRICT
// RUN: %ingot-opt %s -simplify-widen-contractions=target=x86-64-v4+vnni | FileCheck %s --check-prefix=FOUR
// RUN: %ingot-opt %s -simplify-widen-contractions="target=x86-64-v4+vnni strict=true" | FileCheck %s --check-prefix=FOUR-STRICT
// RUN: %ingot-opt %s -simplify-widen-contractions=target=sm_89 | FileCheck %s --check-prefix=ADA
// RUN: %ingot-opt %s -simplify-widen-contractions=target=sm_80 | FileCheck %s --check-prefix=AMPERE
// RUN: %ingot-opt %s -simplify-widen-contractions="target=sm_89 strict=true" | FileCheck %s --check-prefix=ADA-STRICT
// REQUIRES: ingot-opt

// A convolution of 8-bit integers that are dequantized with the scale 1 becomes
// a convolution of integers, also if they are transposed in between. The bias
// is added in f32 as before.
// CHECK-LABEL: @convolution(
// CHECK: %[[X:.*]] = graph.transpose %arg0 {{.*}} -> tensor<1x4x4x8xui8>
// CHECK: %[[Y:.*]] = graph.conv %[[X]], %arg1 {{{.*}}x_zero = 3 : i64} : (tensor<1x4x4x8xui8>, tensor<3x3x8x2xsi8>) -> tensor<1x2x2x2xsi32>
// CHECK: %[[F:.*]] = graph.cast %[[Y]] : (tensor<1x2x2x2xsi32>) -> tensor<1x2x2x2xf32>
// CHECK: %[[SUM:.*]] = graph.add %[[F]], %arg2
// CHECK: return %[[SUM]]
// GENERIC-LABEL: @convolution(
// GENERIC: graph.conv {{.*}} -> tensor<1x2x2x2xf32>
func.func @convolution(%q: tensor<1x8x4x4xui8>, %w: tensor<3x3x8x2xsi8>, %b: tensor<2xf32>) -> tensor<1x2x2x2xf32> {
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %three = graph.constant dense<3> : tensor<ui8> : tensor<ui8>
  %none = graph.constant dense<0> : tensor<2xsi8> : tensor<2xsi8>
  %x = graph.dequantize %q, %one, %three : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xf32>
  %last = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x8x4x4xf32>) -> tensor<1x4x4x8xf32>
  %f = graph.dequantize %w, %one, %none : (tensor<3x3x8x2xsi8>, tensor<f32>, tensor<2xsi8>) -> tensor<3x3x8x2xf32>
  %y = graph.conv %last, %f, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1} : (tensor<1x4x4x8xf32>, tensor<3x3x8x2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  return %y : tensor<1x2x2x2xf32>
}

// uint8 weights with the zero point 128 become int8.
// CHECK-LABEL: @unsigned_weights(
// CHECK: graph.xor
// CHECK: graph.conv %{{.*}} : (tensor<1x4x4x8xui8>, tensor<1x1x8x2xsi8>) -> tensor<1x4x4x2xsi32>
func.func @unsigned_weights(%q: tensor<1x4x4x8xui8>, %w: tensor<1x1x8x2xui8>) -> tensor<1x4x4x2xsi32> {
  %zero = graph.constant dense<128> : tensor<si32> : tensor<si32>
  %x = graph.cast %q : (tensor<1x4x4x8xui8>) -> tensor<1x4x4x8xsi32>
  %c = graph.cast %w : (tensor<1x1x8x2xui8>) -> tensor<1x1x8x2xsi32>
  %f = graph.sub %c, %zero : (tensor<1x1x8x2xsi32>, tensor<si32>) -> tensor<1x1x8x2xsi32>
  %y = graph.conv %x, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1} : (tensor<1x4x4x8xsi32>, tensor<1x1x8x2xsi32>) -> tensor<1x4x4x2xsi32>
  return %y : tensor<1x4x4x2xsi32>
}

// Any other zero point of the weights is multiplied by the sum over each window
// and subtracted from the result.
// CHECK-LABEL: @zero_of_weights(
// CHECK: %[[Y:.*]] = graph.conv %arg0, %arg1 {{.*}} -> tensor<1x4x4x2xsi32>
// CHECK: %[[ONES:.*]] = graph.constant dense<1> : tensor<1x1x8x1xui8>
// CHECK: %[[SEEN:.*]] = graph.conv %arg0, %[[ONES]] {{.*}} -> tensor<1x4x4x1xsi32>
// CHECK: %[[ZERO:.*]] = graph.constant dense<100> : tensor<si32>
// CHECK: %[[MOVED:.*]] = graph.mul %[[SEEN]], %[[ZERO]]
// CHECK: graph.sub %[[Y]], %[[MOVED]]
func.func @zero_of_weights(%q: tensor<1x4x4x8xui8>, %w: tensor<1x1x8x2xui8>) -> tensor<1x4x4x2xsi32> {
  %zero = graph.constant dense<100> : tensor<si32> : tensor<si32>
  %x = graph.cast %q : (tensor<1x4x4x8xui8>) -> tensor<1x4x4x8xsi32>
  %c = graph.cast %w : (tensor<1x1x8x2xui8>) -> tensor<1x1x8x2xsi32>
  %f = graph.sub %c, %zero : (tensor<1x1x8x2xsi32>, tensor<si32>) -> tensor<1x1x8x2xsi32>
  %y = graph.conv %x, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1} : (tensor<1x4x4x8xsi32>, tensor<1x1x8x2xsi32>) -> tensor<1x4x4x2xsi32>
  return %y : tensor<1x4x4x2xsi32>
}

// A number that is subtracted from integers is no zero point if it is not a
// value of their type, or if it broadcasts them.
// CHECK-LABEL: @no_zero_point(
// CHECK: graph.matmul {{.*}} : (tensor<2x4xsi32>, tensor<4x3xsi32>) -> tensor<2x3xsi32>
// CHECK: graph.matmul {{.*}} : (tensor<2x4xsi32>, tensor<4x3xsi32>) -> tensor<2x3xsi32>
func.func @no_zero_point(%q: tensor<2x4xui8>, %r: tensor<1x4xui8>, %w: tensor<4x3xsi8>) -> (tensor<2x3xsi32>, tensor<2x3xsi32>) {
  %large = graph.constant dense<300> : tensor<si32> : tensor<si32>
  %rows = graph.constant dense<7> : tensor<2x4xsi32> : tensor<2x4xsi32>
  %f = graph.cast %w : (tensor<4x3xsi8>) -> tensor<4x3xsi32>
  %c = graph.cast %q : (tensor<2x4xui8>) -> tensor<2x4xsi32>
  %x = graph.sub %c, %large : (tensor<2x4xsi32>, tensor<si32>) -> tensor<2x4xsi32>
  %y = graph.matmul %x, %f : (tensor<2x4xsi32>, tensor<4x3xsi32>) -> tensor<2x3xsi32>
  %d = graph.cast %r : (tensor<1x4xui8>) -> tensor<1x4xsi32>
  %z = graph.sub %d, %rows : (tensor<1x4xsi32>, tensor<2x4xsi32>) -> tensor<2x4xsi32>
  %v = graph.matmul %z, %f : (tensor<2x4xsi32>, tensor<4x3xsi32>) -> tensor<2x3xsi32>
  return %y, %v : tensor<2x3xsi32>, tensor<2x3xsi32>
}

// A contraction of integers with another scale than 1 does not change.
// CHECK-LABEL: @scaled(
// CHECK: graph.matmul {{.*}} -> tensor<2x2xf32>
func.func @scaled(%a: tensor<2x8xui8>, %b: tensor<8x2xsi8>, %s: tensor<f32>) -> tensor<2x2xf32> {
  %z = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %n = graph.constant dense<0> : tensor<si8> : tensor<si8>
  %x = graph.dequantize %a, %s, %z : (tensor<2x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x8xf32>
  %w = graph.dequantize %b, %s, %n : (tensor<8x2xsi8>, tensor<f32>, tensor<si8>) -> tensor<8x2xf32>
  %y = graph.matmul %x, %w : (tensor<2x8xf32>, tensor<8x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// On a target that computes floats one by one, 16-bit integers are split into
// their upper byte, which has the sign, and their lower byte. Each byte has its
// own zero point: -300 is -2 * 256 + 212.
// PARTS-LABEL: @halves(
// PARTS-DAG: %[[EIGHT:.*]] = graph.constant dense<8> : tensor<si16>
// PARTS-DAG: %[[SHIFTED:.*]] = graph.bit_shift %arg0, %[[EIGHT]] {direction = "RIGHT"}
// PARTS-DAG: %[[UPPER:.*]] = graph.cast %[[SHIFTED]] : (tensor<1x4x4x8xsi16>) -> tensor<1x4x4x8xsi8>
// PARTS-DAG: %[[LOWER:.*]] = graph.cast %arg0 : (tensor<1x4x4x8xsi16>) -> tensor<1x4x4x8xui8>
// PARTS-DAG: graph.conv %[[UPPER]], %arg1 {{{.*}}x_zero = -2 : i64} : (tensor<1x4x4x8xsi8>, tensor<1x1x8x2xsi8>) -> tensor<1x4x4x2xsi32>
// PARTS-DAG: graph.conv %[[LOWER]], %arg1 {{{.*}}x_zero = 212 : i64} : (tensor<1x4x4x8xui8>, tensor<1x1x8x2xsi8>) -> tensor<1x4x4x2xsi32>
// PARTS: %[[SCALED:.*]] = graph.mul %{{.*}}, %{{.*}} : (tensor<1x4x4x2xf32>, tensor<f32>)
// PARTS: %[[SUM:.*]] = graph.add %[[SCALED]], %{{.*}}
// PARTS: return %[[SUM]]
// f32 rounds sums of products of 16-bit integers, and with --strict the result
// must be rounded in the same way, so the contraction stays in f32. It also
// stays in f32 on targets with float vectors, unless their int8 instructions do
// four times as many multiply-adds. Even there, sums of few products (8 here)
// stay in f32; sums of 64 products (@long_halves) are computed in integers.
// FOUR-LABEL: @halves(
// FOUR: graph.conv {{.*}} -> tensor<1x4x4x2xf32>
// STRICT-LABEL: @halves(
// STRICT: graph.conv {{.*}} -> tensor<1x4x4x2xf32>
// CHECK-LABEL: @halves(
// CHECK: graph.conv {{.*}} -> tensor<1x4x4x2xf32>
func.func @halves(%q: tensor<1x4x4x8xsi16>, %w: tensor<1x1x8x2xsi8>, %b: tensor<2xf32>) -> tensor<1x4x4x2xf32> {
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<-300> : tensor<si16> : tensor<si16>
  %none = graph.constant dense<0> : tensor<si8> : tensor<si8>
  %x = graph.dequantize %q, %one, %zero : (tensor<1x4x4x8xsi16>, tensor<f32>, tensor<si16>) -> tensor<1x4x4x8xf32>
  %f = graph.dequantize %w, %one, %none : (tensor<1x1x8x2xsi8>, tensor<f32>, tensor<si8>) -> tensor<1x1x8x2xf32>
  %y = graph.conv %x, %f, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1} : (tensor<1x4x4x8xf32>, tensor<1x1x8x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  return %y : tensor<1x4x4x2xf32>
}

// FOUR-LABEL: @long_halves(
// FOUR-DAG: graph.matmul %{{.*}}, %arg1 : (tensor<3x64xui8>, tensor<64x2xsi8>) -> tensor<3x2xsi32>
// FOUR-DAG: graph.matmul %{{.*}}, %arg1, %{{.*}}, %{{.*}} : (tensor<3x64xui8>, tensor<64x2xsi8>, tensor<ui8>, tensor<si8>) -> tensor<3x2xsi32>
// FOUR: graph.mul %{{.*}}, %{{.*}} : (tensor<3x2xf32>, tensor<f32>)
// FOUR: graph.add
// FOUR-STRICT-LABEL: @long_halves(
// FOUR-STRICT: graph.matmul {{.*}} -> tensor<3x2xf32>
// CHECK-LABEL: @long_halves(
// CHECK: graph.matmul {{.*}} -> tensor<3x2xf32>
func.func @long_halves(%q: tensor<3x64xui16>, %w: tensor<64x2xsi8>) -> tensor<3x2xf32> {
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<200> : tensor<ui16> : tensor<ui16>
  %none = graph.constant dense<0> : tensor<si8> : tensor<si8>
  %x = graph.dequantize %q, %one, %zero : (tensor<3x64xui16>, tensor<f32>, tensor<ui16>) -> tensor<3x64xf32>
  %f = graph.dequantize %w, %one, %none : (tensor<64x2xsi8>, tensor<f32>, tensor<si8>) -> tensor<64x2xf32>
  %y = graph.matmul %x, %f : (tensor<3x64xf32>, tensor<64x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// A GPU multiplies 8-bit floats directly if it has instructions for that,
// otherwise as f16. They are multiplied as f32 on CPUs, and with --strict,
// which prescribes the order of the sum.
// ADA-LABEL: @bytes_of_floats(
// ADA: %[[W:.*]] = graph.constant {{.*}} tensor<8x4xf8E5M2>
// ADA: %[[Y:.*]] = graph.matmul %arg0, %[[W]] : (tensor<2x8xf8E4M3FN>, tensor<8x4xf8E5M2>) -> tensor<2x4xf32>
// ADA: return %[[Y]]
// AMPERE-LABEL: @bytes_of_floats(
// AMPERE: %[[X:.*]] = graph.cast %arg0 : (tensor<2x8xf8E4M3FN>) -> tensor<2x8xf16>
// AMPERE: graph.matmul %[[X]], %{{.*}} : (tensor<2x8xf16>, tensor<8x4xf16>) -> tensor<2x4xf32>
// ADA-STRICT-LABEL: @bytes_of_floats(
// ADA-STRICT: graph.matmul {{.*}} : (tensor<2x8xf32>, tensor<8x4xf32>)
// CHECK-LABEL: @bytes_of_floats(
// CHECK: graph.matmul {{.*}} : (tensor<2x8xf32>, tensor<8x4xf32>)
func.func @bytes_of_floats(%q: tensor<2x8xf8E4M3FN>) -> tensor<2x4xf32> {
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %none = graph.constant dense<0.0> : tensor<f8E4M3FN> : tensor<f8E4M3FN>
  %none_of_w = graph.constant dense<0.0> : tensor<f8E5M2> : tensor<f8E5M2>
  %stored = graph.constant dense<1.5> : tensor<8x4xf8E5M2> : tensor<8x4xf8E5M2>
  %x = graph.dequantize %q, %one, %none : (tensor<2x8xf8E4M3FN>, tensor<f32>, tensor<f8E4M3FN>) -> tensor<2x8xf32>
  %w = graph.dequantize %stored, %one, %none_of_w : (tensor<8x4xf8E5M2>, tensor<f32>, tensor<f8E5M2>) -> tensor<8x4xf32>
  %y = graph.matmul %x, %w : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// Weights of 4 bits become bytes without a zero point.
// CHECK-LABEL: @four_bits(
// CHECK: %[[WIDE:.*]] = graph.cast %arg1 : (tensor<3x3x8x2xui4>) -> tensor<3x3x8x2xsi8>
// CHECK: %[[W:.*]] = graph.sub %[[WIDE]], %{{.*}} : (tensor<3x3x8x2xsi8>, tensor<si8>) -> tensor<3x3x8x2xsi8>
// CHECK: graph.conv %arg0, %[[W]] {{.*}} -> tensor<1x2x2x2xsi32>
func.func @four_bits(%q: tensor<1x4x4x8xui8>, %w: tensor<3x3x8x2xui4>) -> tensor<1x2x2x2xf32> {
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %three = graph.constant dense<3> : tensor<ui8> : tensor<ui8>
  %seven = graph.constant dense<7> : tensor<ui4> : tensor<ui4>
  %x = graph.dequantize %q, %one, %three : (tensor<1x4x4x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x4x8xf32>
  %f = graph.dequantize %w, %one, %seven : (tensor<3x3x8x2xui4>, tensor<f32>, tensor<ui4>) -> tensor<3x3x8x2xf32>
  %y = graph.conv %x, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1} : (tensor<1x4x4x8xf32>, tensor<3x3x8x2xf32>) -> tensor<1x2x2x2xf32>
  return %y : tensor<1x2x2x2xf32>
}
