// RUN: %ingot-opt %s -decide-form-integer-scales=target=hexagon-v67 | FileCheck %s
// RUN: %ingot-opt %s -decide-form-integer-scales=target=cortex-m4 | FileCheck %s --check-prefix=CORES
// RUN: %ingot-opt %s -decide-form-integer-scales=target=x86-64-v3 | FileCheck %s --check-prefix=FLOATS
// REQUIRES: ingot-opt

// The scale 0.01 and the zero point 7 of a result are applied in integers with
// 10 fractional bits: the factor is 0.01 * 2^(32 + 10 - 5), for sums shifted
// left by 5, and the addend is (7 + 1/2) * 2^10. A target on which floats are
// equally fast computes them in floats.
// CHECK-LABEL: @sums(
// CHECK: %[[SUMS:.*]] = graph.matmul
// CHECK: %[[LEFT:.*]] = graph.constant dense<5> : tensor<si32>
// CHECK: %[[SHIFTED:.*]] = graph.bit_shift %[[SUMS]], %[[LEFT]] :
// CHECK: %[[M:.*]] = graph.constant dense<1374389504> : tensor<si32>
// CHECK: %[[SCALED:.*]] = graph.mul_high %[[SHIFTED]], %[[M]]
// CHECK: %[[OFFSET:.*]] = graph.constant dense<7680> : tensor<si32>
// CHECK: %[[MOVED:.*]] = graph.add %[[SCALED]], %[[OFFSET]]
// CHECK: %[[RIGHT:.*]] = graph.constant dense<10> : tensor<si32>
// CHECK: %[[STEPS:.*]] = graph.bit_shift %[[MOVED]], %[[RIGHT]] {direction = "RIGHT"}
// CHECK: %[[LEAST:.*]] = graph.constant dense<0> : tensor<si32>
// CHECK: graph.maximum %[[STEPS]], %[[LEAST]]
// CHECK: %[[MOST:.*]] = graph.constant dense<255> : tensor<si32>
// CHECK: graph.minimum %{{.*}}, %[[MOST]]
// CHECK: graph.cast %{{.*}} : (tensor<4x6xsi32>) -> tensor<4x6xui8>
// FLOATS-LABEL: @sums(
// FLOATS: graph.quantize
func.func @sums(%x: tensor<4x8xui8>, %w: tensor<8x6xsi8>) -> tensor<4x6xui8> {
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %none = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %scale = graph.constant dense<0.01> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<7> : tensor<ui8> : tensor<ui8>
  %sums = graph.matmul %x, %w : (tensor<4x8xui8>, tensor<8x6xsi8>) -> tensor<4x6xsi32>
  %f = graph.cast %sums : (tensor<4x6xsi32>) -> tensor<4x6xf32>
  %d = graph.dequantize %f, %scale, %none : (tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> tensor<4x6xf32>
  %q = graph.quantize %d, %one, %zero : (tensor<4x6xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x6xui8>
  return %q : tensor<4x6xui8>
}

// A zero point may be larger than all numbers: a weight 1 with the zero point
// -128 counts as 129, so the sums times 400 do not fit into 32 bits.
// CHECK-LABEL: @zero_points(
// CHECK-NOT: graph.mul_high
// CHECK: graph.quantize
func.func @zero_points(%x: tensor<4x8xui8>) -> tensor<4x6xui8> {
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %none = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %scale = graph.constant dense<400.0> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %w = graph.constant dense<1> : tensor<8x6xsi8> : tensor<8x6xsi8>
  %x_zero = graph.constant dense<128> : tensor<ui8> : tensor<ui8>
  %w_zero = graph.constant dense<-128> : tensor<si8> : tensor<si8>
  %sums = graph.matmul %x, %w, %x_zero, %w_zero : (tensor<4x8xui8>, tensor<8x6xsi8>, tensor<ui8>, tensor<si8>) -> tensor<4x6xsi32>
  %f = graph.cast %sums : (tensor<4x6xsi32>) -> tensor<4x6xf32>
  %d = graph.dequantize %f, %scale, %none : (tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> tensor<4x6xf32>
  %q = graph.quantize %d, %one, %zero : (tensor<4x6xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x6xui8>
  return %q : tensor<4x6xui8>
}

// Constant weights bound the sums: with the scale 40 and 6 fractional bits, the
// bound 40 * 256 * 130 of these weights fits into 32 bits. The bound 40 * 8 *
// 256 * 128 of unknown weights would not.
// CHECK-LABEL: @weights(
// CHECK: %[[LEFT:.*]] = graph.constant dense<15> : tensor<si32>
// CHECK: graph.mul_high
// CHECK: graph.constant dense<8> : tensor<si32>
// CHECK: graph.bit_shift
// CHECK-NOT: f32>
// CHECK: return
func.func @weights(%x: tensor<4x8xui8>) -> tensor<4x6xui8> {
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %none = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %scale = graph.constant dense<40.0> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %w = graph.constant dense<[[100, 0, 0, 0, 0, 0], [0, 90, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [-30, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, -128, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 127]]> : tensor<8x6xsi8> : tensor<8x6xsi8>
  %sums = graph.matmul %x, %w : (tensor<4x8xui8>, tensor<8x6xsi8>) -> tensor<4x6xsi32>
  %f = graph.cast %sums : (tensor<4x6xsi32>) -> tensor<4x6xf32>
  %d = graph.dequantize %f, %scale, %none : (tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> tensor<4x6xf32>
  %q = graph.quantize %d, %one, %zero : (tensor<4x6xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x6xui8>
  return %q : tensor<4x6xui8>
}

// An addition of two quantized tensors: each has a factor and a shift for its
// scale, and the sum has one shift to the right. The zero points are combined
// into one addend: (-128 * 0.5 + 3 * 0.25) / 0.5 - 3 + 1/2.
// CHECK-LABEL: @addition(
// CHECK: %[[A:.*]] = graph.mul_high
// CHECK: %[[B:.*]] = graph.mul_high
// CHECK: %[[SUM:.*]] = graph.add %[[A]], %[[B]]
// CHECK: %[[OFFSET:.*]] = graph.constant dense<-132096> : tensor<si32>
// CHECK: %[[MOVED:.*]] = graph.add %[[SUM]], %[[OFFSET]]
// CHECK: graph.bit_shift %[[MOVED]], %{{.*}} {direction = "RIGHT"}
// CHECK-NOT: f32>
func.func @addition(%a: tensor<4x8xui8>, %b: tensor<4x8xsi8>) -> tensor<4x8xsi8> {
  %sa = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %za = graph.constant dense<128> : tensor<ui8> : tensor<ui8>
  %sb = graph.constant dense<0.25> : tensor<f32> : tensor<f32>
  %zb = graph.constant dense<-3> : tensor<si8> : tensor<si8>
  %fa = graph.dequantize %a, %sa, %za : (tensor<4x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x8xf32>
  %fb = graph.dequantize %b, %sb, %zb : (tensor<4x8xsi8>, tensor<f32>, tensor<si8>) -> tensor<4x8xf32>
  %sum = graph.add %fa, %fb : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %q = graph.quantize %sum, %sa, %zb : (tensor<4x8xf32>, tensor<f32>, tensor<si8>) -> tensor<4x8xsi8>
  return %q : tensor<4x8xsi8>
}

// Bounds between dequantization and quantization are applied to the scaled
// integer sum.
// CHECK-LABEL: @limits(
// CHECK: %[[SCALED:.*]] = graph.mul_high
// CHECK: %[[NONE:.*]] = graph.constant dense<0> : tensor<si32>
// CHECK: %[[POSITIVE:.*]] = graph.maximum %[[SCALED]], %[[NONE]]
// CHECK: %[[LIMIT:.*]] = graph.constant dense<12288> : tensor<si32>
// CHECK: graph.minimum %[[POSITIVE]], %[[LIMIT]]
// CHECK: %[[OFFSET:.*]] = graph.constant dense<10752> : tensor<si32>
// CHECK-NOT: graph.quantize
func.func @limits(%x: tensor<8xsi16>) -> tensor<8xui8> {
  %scale = graph.constant dense<0.001> : tensor<f32> : tensor<f32>
  %most = graph.constant dense<3.0> : tensor<f32> : tensor<f32>
  %step = graph.constant dense<0.25> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<10> : tensor<ui8> : tensor<ui8>
  %f = graph.cast %x : (tensor<8xsi16>) -> tensor<8xf32>
  %y = graph.mul %f, %scale : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %r = graph.relu %y : (tensor<8xf32>) -> tensor<8xf32>
  %m = graph.minimum %r, %most : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %q = graph.quantize %m, %step, %zero : (tensor<8xf32>, tensor<f32>, tensor<ui8>) -> tensor<8xui8>
  return %q : tensor<8xui8>
}

// Each lower bound of 1e6 fits into 32 bits, with 10 fractional bits, but not
// the sum of three such terms. It has 9 fractional bits.
// CHECK-LABEL: @limited_terms(
// CHECK-COUNT-3: graph.constant dense<512000000> : tensor<si32>
// CHECK: graph.constant dense<9> : tensor<si32>
// CHECK-NOT: graph.quantize
// CHECK: return
func.func @limited_terms(%a: tensor<8xsi8>, %b: tensor<8xsi8>, %c: tensor<8xsi8>) -> tensor<8xui8> {
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %least = graph.constant dense<1000000.0> : tensor<f32> : tensor<f32>
  %none = graph.constant dense<0> : tensor<si8> : tensor<si8>
  %zero = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %fa = graph.dequantize %a, %one, %none : (tensor<8xsi8>, tensor<f32>, tensor<si8>) -> tensor<8xf32>
  %fb = graph.dequantize %b, %one, %none : (tensor<8xsi8>, tensor<f32>, tensor<si8>) -> tensor<8xf32>
  %fc = graph.dequantize %c, %one, %none : (tensor<8xsi8>, tensor<f32>, tensor<si8>) -> tensor<8xf32>
  %ma = graph.maximum %fa, %least : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %mb = graph.maximum %fb, %least : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %mc = graph.maximum %fc, %least : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %ab = graph.add %ma, %mb : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %abc = graph.add %ab, %mc : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %q = graph.quantize %abc, %one, %zero : (tensor<8xf32>, tensor<f32>, tensor<ui8>) -> tensor<8xui8>
  return %q : tensor<8xui8>
}

// A max pool of a dequantized tensor whose result is quantized with the same
// scale becomes a max pool of uint8. With another scale, the elements are
// scaled before the pool.
// CHECK-LABEL: @pool(
// CHECK: graph.max_pool %arg0 {{.*}} : (tensor<1x4x4x8xui8>) -> tensor<1x2x2x8xui8>
// CHECK: %[[SCALED:.*]] = graph.mul_high
// CHECK: %[[BYTES:.*]] = graph.cast %{{.*}} -> tensor<1x4x4x8xui8>
// CHECK: graph.max_pool %[[BYTES]]
// CORES-LABEL: @pool(
// CORES: graph.max_pool %arg0
func.func @pool(%x: tensor<1x4x4x8xui8>) -> (tensor<1x2x2x8xui8>, tensor<1x2x2x8xui8>) {
  %scale = graph.constant dense<0.03> : tensor<f32> : tensor<f32>
  %other = graph.constant dense<0.04> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<10> : tensor<ui8> : tensor<ui8>
  %f = graph.dequantize %x, %scale, %zero : (tensor<1x4x4x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x4x8xf32>
  %p = graph.max_pool %f {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x4x4x8xf32>) -> tensor<1x2x2x8xf32>
  %q = graph.quantize %p, %scale, %zero : (tensor<1x2x2x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2x8xui8>
  %p2 = graph.max_pool %f {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x4x4x8xf32>) -> tensor<1x2x2x8xf32>
  %q2 = graph.quantize %p2, %other, %zero : (tensor<1x2x2x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2x8xui8>
  return %q, %q2 : tensor<1x2x2x8xui8>, tensor<1x2x2x8xui8>
}

// A mean over whole images becomes an integer sum, which is scaled.
// CHECK-LABEL: @mean(
// CHECK: %[[WIDE:.*]] = graph.cast %arg0 : (tensor<1x4x4x8xui8>) -> tensor<1x4x4x8xsi32>
// CHECK: %[[SUM:.*]] = graph.reduce_sum %[[WIDE]] {axes = array<i64: 1, 2>} : (tensor<1x4x4x8xsi32>) -> tensor<1x1x1x8xsi32>
// CHECK: graph.mul_high
// CHECK-NOT: graph.average_pool
func.func @mean(%x: tensor<1x4x4x8xui8>) -> tensor<1x1x1x8xui8> {
  %scale = graph.constant dense<0.03> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<10> : tensor<ui8> : tensor<ui8>
  %f = graph.dequantize %x, %scale, %zero : (tensor<1x4x4x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x4x8xf32>
  %p = graph.average_pool %f {kernel = array<i64: 4, 4>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, count_padding = false} : (tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
  %q = graph.quantize %p, %scale, %zero : (tensor<1x1x1x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x1x1x8xui8>
  return %q : tensor<1x1x1x8xui8>
}

// A window with dilations reads only some positions of an image, so its mean is
// not the mean of the whole image.
// CHECK-LABEL: @dilated_mean(
// CHECK: graph.average_pool
// CHECK-NOT: graph.reduce_sum
func.func @dilated_mean(%x: tensor<1x3x3x8xui8>) -> tensor<1x1x1x8xui8> {
  %scale = graph.constant dense<0.03> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %f = graph.dequantize %x, %scale, %zero : (tensor<1x3x3x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x3x3x8xf32>
  %p = graph.average_pool %f {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 2, 2>, low = array<i64: 0, 0>, high = array<i64: 2, 2>, count_padding = true} : (tensor<1x3x3x8xf32>) -> tensor<1x1x1x8xf32>
  %q = graph.quantize %p, %scale, %zero : (tensor<1x1x1x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x1x1x8xui8>
  return %q : tensor<1x1x1x8xui8>
}

// A sum that a constant broadcasts to a larger shape stays floats, even if all
// elements of the constant are equal; likewise its mean.
// CHECK-LABEL: @larger(
// CHECK: graph.quantize
// CHECK: graph.reduce_sum {{.*}} : (tensor<4x8xf32>) -> tensor<4x1xf32>
// CHECK: graph.quantize
func.func @larger(%x: tensor<1x8xui8>) -> (tensor<4x8xui8>, tensor<4x1xui8>) {
  %scale = graph.constant dense<0.03> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<10> : tensor<ui8> : tensor<ui8>
  %half = graph.constant dense<0.5> : tensor<4x8xf32> : tensor<4x8xf32>
  %f = graph.dequantize %x, %scale, %zero : (tensor<1x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x8xf32>
  %y = graph.add %f, %half : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %q = graph.quantize %y, %scale, %zero : (tensor<4x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x8xui8>
  %z = graph.add %f, %half : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = graph.reduce_sum %z {axes = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %q2 = graph.quantize %r, %scale, %zero : (tensor<4x1xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x1xui8>
  return %q, %q2 : tensor<4x8xui8>, tensor<4x1xui8>
}

// A splat constant that makes no result larger is part of a sum.
// CHECK-LABEL: @same_shape(
// CHECK-NOT: f32>
// CHECK: return
func.func @same_shape(%x: tensor<4x8xui8>) -> tensor<4x8xui8> {
  %scale = graph.constant dense<0.03> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<10> : tensor<ui8> : tensor<ui8>
  %half = graph.constant dense<0.5> : tensor<1x8xf32> : tensor<1x8xf32>
  %f = graph.dequantize %x, %scale, %zero : (tensor<4x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x8xf32>
  %y = graph.add %f, %half : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %q = graph.quantize %y, %scale, %zero : (tensor<4x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x8xui8>
  return %q : tensor<4x8xui8>
}

// Sums of empty tensors stay as they are.
// CHECK-LABEL: @empty(
// CHECK: graph.reduce_sum
// CHECK: graph.quantize
// CHECK: graph.reduce_sum
// CHECK: graph.quantize
func.func @empty(%x: tensor<0x4xui8>, %y: tensor<4x0xui8>) -> (tensor<0x1xui8>, tensor<4x1xui8>) {
  %scale = graph.constant dense<0.03> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<10> : tensor<ui8> : tensor<ui8>
  %f = graph.dequantize %x, %scale, %zero : (tensor<0x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<0x4xf32>
  %s = graph.reduce_sum %f {axes = array<i64: 1>} : (tensor<0x4xf32>) -> tensor<0x1xf32>
  %q = graph.quantize %s, %scale, %zero : (tensor<0x1xf32>, tensor<f32>, tensor<ui8>) -> tensor<0x1xui8>
  %f2 = graph.dequantize %y, %scale, %zero : (tensor<4x0xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x0xf32>
  %s2 = graph.reduce_sum %f2 {axes = array<i64: 1>} : (tensor<4x0xf32>) -> tensor<4x1xf32>
  %q2 = graph.quantize %s2, %scale, %zero : (tensor<4x1xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x1xui8>
  return %q, %q2 : tensor<0x1xui8>, tensor<4x1xui8>
}

// Negative numbers become large unsigned ones, by a conversion or a
// subtraction. With the scale 1000, only sums of small numbers fit into 32 bits.
// CHECK-LABEL: @wraps(
// CHECK: graph.cast
// CHECK: graph.quantize
// CHECK: graph.sub
// CHECK: graph.quantize
// CHECK: graph.cast
// CHECK: graph.mul_high
func.func @wraps(%x: tensor<8xsi8>, %y: tensor<8xui8>) -> (tensor<8xui8>, tensor<8xui8>, tensor<8xui8>) {
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %scale = graph.constant dense<1000.0> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %none = graph.constant dense<0> : tensor<ui16> : tensor<ui16>
  %wide = graph.cast %x : (tensor<8xsi8>) -> tensor<8xui16>
  %f = graph.dequantize %wide, %scale, %none : (tensor<8xui16>, tensor<f32>, tensor<ui16>) -> tensor<8xf32>
  %q = graph.quantize %f, %one, %zero : (tensor<8xf32>, tensor<f32>, tensor<ui8>) -> tensor<8xui8>
  %c = graph.constant dense<3> : tensor<ui16> : tensor<ui16>
  %small = graph.cast %y : (tensor<8xui8>) -> tensor<8xui16>
  %less = graph.sub %small, %c : (tensor<8xui16>, tensor<ui16>) -> tensor<8xui16>
  %f2 = graph.dequantize %less, %scale, %none : (tensor<8xui16>, tensor<f32>, tensor<ui16>) -> tensor<8xf32>
  %q2 = graph.quantize %f2, %one, %zero : (tensor<8xf32>, tensor<f32>, tensor<ui8>) -> tensor<8xui8>
  %again = graph.cast %y : (tensor<8xui8>) -> tensor<8xui16>
  %f3 = graph.dequantize %again, %scale, %none : (tensor<8xui16>, tensor<f32>, tensor<ui16>) -> tensor<8xf32>
  %q3 = graph.quantize %f3, %one, %zero : (tensor<8xf32>, tensor<f32>, tensor<ui8>) -> tensor<8xui8>
  return %q, %q2, %q3 : tensor<8xui8>, tensor<8xui8>, tensor<8xui8>
}

// A constant that is added to integers moves behind the scale only if the
// integer sum cannot wrap around.
// CHECK-LABEL: @constant(
// CHECK: %[[SUM:.*]] = graph.add %{{.*}} : (tensor<8xsi32>, tensor<si32>)
// CHECK: %[[SCALED:.*]] = graph.dequantize %[[SUM]]
// CHECK: graph.quantize %[[SCALED]]
// CHECK: %[[WIDE:.*]] = graph.cast %arg0
// CHECK: graph.mul_high %[[WIDE]]
// CHECK-NOT: graph.quantize
// CHECK: return
func.func @constant(%x: tensor<8xsi16>) -> (tensor<8xsi8>, tensor<8xsi8>) {
  %unit = graph.constant dense<5.9604645e-8> : tensor<f32> : tensor<f32>
  %none = graph.constant dense<0> : tensor<si32> : tensor<si32>
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<0> : tensor<si8> : tensor<si8>
  %w = graph.cast %x : (tensor<8xsi16>) -> tensor<8xsi32>
  %large = graph.constant dense<2147483643> : tensor<si32> : tensor<si32>
  %a = graph.add %w, %large : (tensor<8xsi32>, tensor<si32>) -> tensor<8xsi32>
  %f = graph.dequantize %a, %unit, %none : (tensor<8xsi32>, tensor<f32>, tensor<si32>) -> tensor<8xf32>
  %q = graph.quantize %f, %one, %zero : (tensor<8xf32>, tensor<f32>, tensor<si8>) -> tensor<8xsi8>
  %v = graph.cast %x : (tensor<8xsi16>) -> tensor<8xsi32>
  %small = graph.constant dense<1000000000> : tensor<si32> : tensor<si32>
  %b = graph.add %v, %small : (tensor<8xsi32>, tensor<si32>) -> tensor<8xsi32>
  %g = graph.dequantize %b, %unit, %none : (tensor<8xsi32>, tensor<f32>, tensor<si32>) -> tensor<8xf32>
  %r = graph.quantize %g, %one, %zero : (tensor<8xf32>, tensor<f32>, tensor<si8>) -> tensor<8xsi8>
  return %q, %r : tensor<8xsi8>, tensor<8xsi8>
}

// The bias of a convolution is merged into the addend of the scaled sums. On
// Cortex-M, where sums start with a bias at no cost, the addend is merged into
// the bias.
// CHECK-LABEL: @bias(
// CHECK: graph.conv %arg0, %arg1 {
// CHECK: %[[OFFSET:.*]] = graph.constant dense<[7785, 7658]> : tensor<2xsi32>
// CHECK: graph.add %{{.*}}, %[[OFFSET]]
// CORES-LABEL: @bias(
// CORES: %[[BIAS:.*]] = graph.constant dense<[105, -44]> : tensor<2xsi32>
// CORES: graph.conv %arg0, %arg1, %[[BIAS]]
// CORES: graph.constant dense<7680> : tensor<si32>
func.func @bias(%x: tensor<1x3x3x4xui8>, %w: tensor<1x1x4x2xsi8>) -> tensor<1x3x3x2xui8> {
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %none = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<7> : tensor<ui8> : tensor<ui8>
  %scale = graph.constant dense<[0.0009765625, 0.00048828125]> : tensor<2xf32> : tensor<2xf32>
  %add = graph.constant dense<[100.0, -50.0]> : tensor<2xf32> : tensor<2xf32>
  %bias = graph.constant dense<[5, 6]> : tensor<2xsi32> : tensor<2xsi32>
  %sums = graph.conv %x, %w, %bias {dilations = array<i64: 1, 1>, groups = 1 : i64, low = array<i64: 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<1x3x3x4xui8>, tensor<1x1x4x2xsi8>, tensor<2xsi32>) -> tensor<1x3x3x2xsi32>
  %f = graph.cast %sums : (tensor<1x3x3x2xsi32>) -> tensor<1x3x3x2xf32>
  %y = graph.add %f, %add : (tensor<1x3x3x2xf32>, tensor<2xf32>) -> tensor<1x3x3x2xf32>
  %d = graph.dequantize %y, %scale, %none : (tensor<1x3x3x2xf32>, tensor<2xf32>, tensor<f32>) -> tensor<1x3x3x2xf32>
  %q = graph.quantize %d, %one, %zero : (tensor<1x3x3x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x3x3x2xui8>
  return %q : tensor<1x3x3x2xui8>
}

// Sums that do not fit into 32 bits with enough fractional bits stay floats.
// CHECK-LABEL: @wide(
// CHECK: graph.quantize
func.func @wide(%x: tensor<8xsi32>) -> tensor<8xui8> {
  %scale = graph.constant dense<0.25> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %f = graph.cast %x : (tensor<8xsi32>) -> tensor<8xf32>
  %q = graph.quantize %f, %scale, %zero : (tensor<8xf32>, tensor<f32>, tensor<ui8>) -> tensor<8xui8>
  return %q : tensor<8xui8>
}

// Floats that another operator also reads are computed anyway, so the scale is
// not folded into integers. The division by the scale becomes a multiplication.
// CHECK-LABEL: @shared(
// CHECK: %[[INVERSE:.*]] = graph.constant dense<999.999938> : tensor<f32>
// CHECK: %[[SCALED:.*]] = graph.mul %{{.*}}, %[[INVERSE]] : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK: %[[ONE:.*]] = graph.constant dense<1.000000e+00> : tensor<f32>
// CHECK: graph.quantize %[[SCALED]], %[[ONE]], %{{.*}}
func.func @shared(%x: tensor<8xsi32>) -> (tensor<8xui8>, tensor<8xf32>) {
  %scale = graph.constant dense<0.001> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %f = graph.cast %x : (tensor<8xsi32>) -> tensor<8xf32>
  %y = graph.mul %f, %scale : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %q = graph.quantize %y, %scale, %zero : (tensor<8xf32>, tensor<f32>, tensor<ui8>) -> tensor<8xui8>
  return %q, %y : tensor<8xui8>, tensor<8xf32>
}

// A scale that is not constant stays a float.
// CHECK-LABEL: @unknown_scale(
// CHECK: graph.quantize
func.func @unknown_scale(%x: tensor<8xsi32>, %scale: tensor<f32>) -> tensor<8xui8> {
  %zero = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %f = graph.cast %x : (tensor<8xsi32>) -> tensor<8xf32>
  %q = graph.quantize %f, %scale, %zero : (tensor<8xf32>, tensor<f32>, tensor<ui8>) -> tensor<8xui8>
  return %q : tensor<8xui8>
}

// A tensor that is dequantized and quantized again with the same scale is not
// changed, except for its shape.
// CHECK-LABEL: @as_before(
// CHECK-NEXT: %[[SAME:.*]] = graph.reshape %arg0 : (tensor<2x4xui16>) -> tensor<8xui16>
// CHECK-NEXT: return %[[SAME]]
func.func @as_before(%q: tensor<2x4xui16>) -> tensor<8xui16> {
  %scale = graph.constant dense<0.002> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<38488> : tensor<ui16> : tensor<ui16>
  %x = graph.dequantize %q, %scale, %zero : (tensor<2x4xui16>, tensor<f32>, tensor<ui16>) -> tensor<2x4xf32>
  %flat = graph.reshape %x : (tensor<2x4xf32>) -> tensor<8xf32>
  %y = graph.quantize %flat, %scale, %zero : (tensor<8xf32>, tensor<f32>, tensor<ui16>) -> tensor<8xui16>
  return %y : tensor<8xui16>
}

// The constant that a zero point leaves after a product is merged with the
// other constants: the addend of the scaled sums, or the bias of floats.
// CHECK-LABEL: @behind_zero(
// CHECK: %[[SUMS:.*]] = graph.matmul
// CHECK-NOT: graph.sub
// CHECK: graph.mul_high
// CHECK: %[[ADDEND:.*]] = graph.constant dense<[-2560, 2560]> : tensor<2xsi32>
// CHECK: graph.add %{{.*}}, %[[ADDEND]]
// CHECK: %[[SECOND:.*]] = graph.matmul
// CHECK-NOT: graph.sub
// CHECK: graph.cast %[[SECOND]]
// CHECK: %[[BIAS:.*]] = graph.constant dense<[-5.000000e-01, 2.000000e+00]> : tensor<2xf32>
// CHECK: graph.add %{{.*}}, %[[BIAS]]
func.func @behind_zero(%x: tensor<1x8xui8>, %w: tensor<8x2xsi8>) -> (tensor<1x2xui8>, tensor<1x2xf32>) {
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %none = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %scale = graph.constant dense<0.25> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %moved = graph.constant dense<[12, -8]> : tensor<2xsi32> : tensor<2xsi32>
  %bias = graph.constant dense<[2.5, 0.0]> : tensor<2xf32> : tensor<2xf32>
  %y = graph.matmul %x, %w : (tensor<1x8xui8>, tensor<8x2xsi8>) -> tensor<1x2xsi32>
  %s = graph.sub %y, %moved : (tensor<1x2xsi32>, tensor<2xsi32>) -> tensor<1x2xsi32>
  %f = graph.cast %s : (tensor<1x2xsi32>) -> tensor<1x2xf32>
  %d = graph.dequantize %f, %scale, %none : (tensor<1x2xf32>, tensor<f32>, tensor<f32>) -> tensor<1x2xf32>
  %q = graph.quantize %d, %one, %zero : (tensor<1x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2xui8>
  %y2 = graph.matmul %x, %w : (tensor<1x8xui8>, tensor<8x2xsi8>) -> tensor<1x2xsi32>
  %s2 = graph.sub %y2, %moved : (tensor<1x2xsi32>, tensor<2xsi32>) -> tensor<1x2xsi32>
  %f2 = graph.cast %s2 : (tensor<1x2xsi32>) -> tensor<1x2xf32>
  %d2 = graph.dequantize %f2, %scale, %none : (tensor<1x2xf32>, tensor<f32>, tensor<f32>) -> tensor<1x2xf32>
  %z = graph.add %d2, %bias : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  return %q, %z : tensor<1x2xui8>, tensor<1x2xf32>
}

// A zero point's constant stays before the conversion to floats if the sums may
// exceed 2^24, since floats would lose their low digits; if the conversion is
// one to int8, which wraps around; and if it makes the sums larger.
// CHECK-LABEL: @behind_no_zero(
// CHECK: %[[WIDE:.*]] = graph.sub %{{.*}} : (tensor<1x2xsi32>, tensor<2xsi32>)
// CHECK: graph.cast %[[WIDE]]
// CHECK: %[[WRAPS:.*]] = graph.sub %{{.*}} : (tensor<1x2xsi32>, tensor<2xsi32>)
// CHECK: graph.cast %[[WRAPS]] : (tensor<1x2xsi32>) -> tensor<1x2xsi8>
// CHECK: %[[LARGER:.*]] = graph.sub %{{.*}} : (tensor<1x2xsi32>, tensor<3x2xsi32>)
// CHECK: graph.cast %[[LARGER]]
// CHECK: %[[BEFORE:.*]] = graph.sub %{{.*}} : (tensor<1x2xsi32>, tensor<2xsi32>)
// CHECK: graph.cast %[[BEFORE]]
func.func @behind_no_zero(%x: tensor<1x8xui8>, %w: tensor<8x2xsi8>, %n: tensor<1x2xsi32>) -> (tensor<1x2xf32>, tensor<1x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) {
  %none = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<0> : tensor<si8> : tensor<si8>
  %scale = graph.constant dense<0.25> : tensor<f32> : tensor<f32>
  %moved = graph.constant dense<[12, -8]> : tensor<2xsi32> : tensor<2xsi32>
  %larger = graph.constant dense<12> : tensor<3x2xsi32> : tensor<3x2xsi32>
  %bias = graph.constant dense<[2.5, 0.0]> : tensor<2xf32> : tensor<2xf32>
  %above = graph.constant dense<1.0> : tensor<3x2xf32> : tensor<3x2xf32>
  %s = graph.sub %n, %moved : (tensor<1x2xsi32>, tensor<2xsi32>) -> tensor<1x2xsi32>
  %f = graph.cast %s : (tensor<1x2xsi32>) -> tensor<1x2xf32>
  %d = graph.dequantize %f, %scale, %none : (tensor<1x2xf32>, tensor<f32>, tensor<f32>) -> tensor<1x2xf32>
  %z = graph.add %d, %bias : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  %y = graph.matmul %x, %w : (tensor<1x8xui8>, tensor<8x2xsi8>) -> tensor<1x2xsi32>
  %s2 = graph.sub %y, %moved : (tensor<1x2xsi32>, tensor<2xsi32>) -> tensor<1x2xsi32>
  %f2 = graph.cast %s2 : (tensor<1x2xsi32>) -> tensor<1x2xsi8>
  %d2 = graph.dequantize %f2, %scale, %zero : (tensor<1x2xsi8>, tensor<f32>, tensor<si8>) -> tensor<1x2xf32>
  %z2 = graph.add %d2, %bias : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  %y3 = graph.matmul %x, %w : (tensor<1x8xui8>, tensor<8x2xsi8>) -> tensor<1x2xsi32>
  %s3 = graph.sub %y3, %larger : (tensor<1x2xsi32>, tensor<3x2xsi32>) -> tensor<3x2xsi32>
  %f3 = graph.cast %s3 : (tensor<3x2xsi32>) -> tensor<3x2xf32>
  %d3 = graph.dequantize %f3, %scale, %none : (tensor<3x2xf32>, tensor<f32>, tensor<f32>) -> tensor<3x2xf32>
  %z3 = graph.add %d3, %bias : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %y4 = graph.matmul %x, %w : (tensor<1x8xui8>, tensor<8x2xsi8>) -> tensor<1x2xsi32>
  %s4 = graph.sub %y4, %moved : (tensor<1x2xsi32>, tensor<2xsi32>) -> tensor<1x2xsi32>
  %f4 = graph.cast %s4 : (tensor<1x2xsi32>) -> tensor<1x2xf32>
  %d4 = graph.dequantize %f4, %scale, %none : (tensor<1x2xf32>, tensor<f32>, tensor<f32>) -> tensor<1x2xf32>
  %z4 = graph.add %d4, %above : (tensor<1x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %z, %z2, %z3, %z4 : tensor<1x2xf32>, tensor<1x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>
}

// If the unit of the integer sums is too coarse for a bias, the bias is added
// after the multiplication by the scale's factor.
// CORES-LABEL: @coarse(
// CORES: graph.conv %arg0, %{{[a-z0-9_]*}} {dilations
// CORES: graph.constant dense<17510> : tensor<si32>
// CORES: return
func.func @coarse(%x: tensor<1x2x2x4xui8>) -> tensor<1x2x2x1xui8> {
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %none = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %scale = graph.constant dense<0.2> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<16> : tensor<ui8> : tensor<ui8>
  %w = graph.constant dense<1> : tensor<1x1x4x1xsi8> : tensor<1x1x4x1xsi8>
  %bias = graph.constant dense<[3]> : tensor<1xsi32> : tensor<1xsi32>
  %y = graph.conv %x, %w, %bias {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x2x2x4xui8>, tensor<1x1x4x1xsi8>, tensor<1xsi32>) -> tensor<1x2x2x1xsi32>
  %f = graph.cast %y : (tensor<1x2x2x1xsi32>) -> tensor<1x2x2x1xf32>
  %d = graph.dequantize %f, %scale, %none : (tensor<1x2x2x1xf32>, tensor<f32>, tensor<f32>) -> tensor<1x2x2x1xf32>
  %q = graph.quantize %d, %one, %zero : (tensor<1x2x2x1xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2x1xui8>
  return %q : tensor<1x2x2x1xui8>
}
