// RUN: %ingot-opt %s -decide-form-fixed-point=target=hexagon-v67 | FileCheck %s
// RUN: %ingot-opt %s -decide-form-fixed-point=target=x86-64-v3 | FileCheck %s --check-prefix=FLOATS
// RUN: %ingot-opt %s -decide-form-fixed-point=target=cortex-m4 | FileCheck %s --check-prefix=FLOATS
// REQUIRES: ingot-opt

// A softmax of integer sums is computed with powers of 2, whose exponents are
// the sums times log2(e). The powers of a row have 30 fractional bits, their
// sum has 4 fewer, and the quotients have 28.
// CHECK-LABEL: @softmax(
// CHECK: %[[SUMS:.*]] = graph.matmul
// CHECK: %[[X:.*]] = graph.mul_high
// CHECK: %[[TOP:.*]] = graph.reduce_max %[[X]] {axes = array<i64: 1>} : (tensor<4x16xsi32>) -> tensor<4x1xsi32>
// CHECK: %[[BELOW:.*]] = graph.sub %[[X]], %[[TOP]]
// CHECK: %[[WHOLE:.*]] = graph.bit_shift %{{.*}} {direction = "RIGHT"}
// CHECK: %[[BITS:.*]] = graph.bit_cast %[[BELOW]] : (tensor<4x16xsi32>) -> tensor<4x16xui32>
// CHECK: graph.bit_shift %[[BITS]], %{{.*}}
// CHECK: graph.constant dense<1073741824> : tensor<si32>
// CHECK: graph.sub %{{.*}}, %[[WHOLE]]
// CHECK: %[[POWERS:.*]] = graph.bit_shift %{{.*}}, %{{.*}} {direction = "RIGHT"} : (tensor<4x16xsi32>, tensor<4x16xsi32>)
// CHECK: %[[FOUR:.*]] = graph.constant dense<4> : tensor<si32>
// CHECK: %[[PARTS:.*]] = graph.bit_shift %[[POWERS]], %[[FOUR]] {direction = "RIGHT"}
// CHECK: graph.reduce_sum %[[PARTS]]
// CHECK: %[[Y:.*]] = graph.mul_high %[[POWERS]]
// CHECK: %[[UNIT:.*]] = graph.constant dense<3.7252903E-9> : tensor<f32>
// CHECK: graph.dequantize %[[Y]], %[[UNIT]]
// FLOATS-LABEL: @softmax(
// FLOATS: graph.softmax
// FLOATS-NOT: graph.reduce_max
func.func @softmax(%x: tensor<4x8xui8>, %w: tensor<8x16xsi8>) -> tensor<4x16xui8> {
  %none = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %scale = graph.constant dense<0.015625> : tensor<f32> : tensor<f32>
  %step = graph.constant dense<0.00390625> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %sums = graph.matmul %x, %w : (tensor<4x8xui8>, tensor<8x16xsi8>) -> tensor<4x16xsi32>
  %f = graph.cast %sums : (tensor<4x16xsi32>) -> tensor<4x16xf32>
  %d = graph.dequantize %f, %scale, %none : (tensor<4x16xf32>, tensor<f32>, tensor<f32>) -> tensor<4x16xf32>
  %s = graph.softmax %d {axis = 1 : i64} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %q = graph.quantize %s, %step, %zero : (tensor<4x16xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x16xui8>
  return %q : tensor<4x16xui8>
}

// A residual sum that a normalization and an addition read is computed once, as
// an integer. The rows of the normalization are shifted until their largest
// number has 29 bits. Scale and bias become part of the quantization.
// CHECK-LABEL: @residual(
// CHECK: %[[A:.*]] = graph.mul_high
// CHECK: %[[B:.*]] = graph.mul_high
// CHECK: %[[TERMS:.*]] = graph.add %[[A]], %[[B]]
// CHECK: %[[SUM:.*]] = graph.add %[[TERMS]]
// CHECK: %[[REAL:.*]] = graph.dequantize %[[SUM]]
// CHECK: graph.reduce_sum
// CHECK: %[[CENTERED:.*]] = graph.sub %[[SUM]]
// CHECK: %[[SIZES:.*]] = graph.abs %[[CENTERED]]
// CHECK: graph.reduce_max %[[SIZES]]
// CHECK: %[[LEFT:.*]] = graph.bit_shift %[[CENTERED]], %{{.*}} : (tensor<4x16xsi32>, tensor<4x1xsi32>)
// CHECK: %[[LARGE:.*]] = graph.bit_shift %[[LEFT]], %{{.*}} {direction = "RIGHT"} : (tensor<4x16xsi32>, tensor<4x1xsi32>)
// CHECK: %[[SQUARES:.*]] = graph.mul_high %[[LARGE]], %[[LARGE]]
// CHECK: graph.reduce_sum %[[SQUARES]]
// CHECK: %[[Y:.*]] = graph.mul_high %[[LARGE]]
// CHECK: %[[N:.*]] = graph.dequantize %[[Y]]
// CHECK: %[[SCALED:.*]] = graph.mul %[[N]]
// CHECK: graph.quantize %[[SCALED]]
// CHECK: graph.add %[[REAL]]
// FLOATS-LABEL: @residual(
// FLOATS: graph.layer_norm
func.func @residual(%a: tensor<4x16xui8>, %b: tensor<4x16xui8>, %c: tensor<4x16xui8>, %gamma: tensor<16xf32>) -> (tensor<4x16xui8>, tensor<4x16xui8>) {
  %sa = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %sb = graph.constant dense<0.3> : tensor<f32> : tensor<f32>
  %step = graph.constant dense<0.02> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<128> : tensor<ui8> : tensor<ui8>
  %fa = graph.dequantize %a, %sa, %zero : (tensor<4x16xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x16xf32>
  %fb = graph.dequantize %b, %sb, %zero : (tensor<4x16xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x16xf32>
  %fc = graph.dequantize %c, %sb, %zero : (tensor<4x16xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x16xf32>
  %sum = graph.add %fa, %fb : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %n = graph.layer_norm %sum, %gamma {center = true, epsilon = 1.0E-5 : f32} : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %q = graph.quantize %n, %step, %zero : (tensor<4x16xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x16xui8>
  %next = graph.add %sum, %fc : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %r = graph.quantize %next, %sb, %zero : (tensor<4x16xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x16xui8>
  return %q, %r : tensor<4x16xui8>, tensor<4x16xui8>
}

// An activation of integer sums becomes a table with its values at 256 points
// and the slopes between them. The points cover the range of sums in which the
// 8-bit result changes.
// CHECK-LABEL: @swish(
// CHECK: graph.matmul
// CHECK: %[[T:.*]] = graph.minimum
// CHECK: %[[PLACE:.*]] = graph.cast %{{.*}} : (tensor<4x16xsi32>) -> tensor<4x16xui8>
// CHECK-COUNT-2: graph.gather %{{.*}}, %[[PLACE]] {axis = 0 : i64, in_range} : (tensor<256xui8>
// CHECK: graph.gather %{{.*}}, %[[PLACE]] {axis = 0 : i64, in_range} : (tensor<256xsi8>
// CHECK-NOT: f32>
// CHECK: return
// FLOATS-LABEL: @swish(
// FLOATS-NOT: graph.gather
func.func @swish(%x: tensor<4x8xui8>, %w: tensor<8x16xsi8>) -> tensor<4x16xui8> {
  %none = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %scale = graph.constant dense<0.001> : tensor<f32> : tensor<f32>
  %step = graph.constant dense<0.02> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<15> : tensor<ui8> : tensor<ui8>
  %sums = graph.matmul %x, %w : (tensor<4x8xui8>, tensor<8x16xsi8>) -> tensor<4x16xsi32>
  %f = graph.cast %sums : (tensor<4x16xsi32>) -> tensor<4x16xf32>
  %d = graph.dequantize %f, %scale, %none : (tensor<4x16xf32>, tensor<f32>, tensor<f32>) -> tensor<4x16xf32>
  %s = graph.sigmoid %d : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %y = graph.mul %d, %s : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %q = graph.quantize %y, %step, %zero : (tensor<4x16xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x16xui8>
  return %q : tensor<4x16xui8>
}

// A function with jumps cannot be approximated by lines between 256 points, and
// stays as it is.
// CHECK-LABEL: @jumps(
// CHECK-NOT: graph.gather
// CHECK: graph.floor
// CHECK: graph.quantize
func.func @jumps(%x: tensor<4x8xui8>, %w: tensor<8x16xsi8>) -> tensor<4x16xui8> {
  %none = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %scale = graph.constant dense<0.001> : tensor<f32> : tensor<f32>
  %step = graph.constant dense<0.02> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<15> : tensor<ui8> : tensor<ui8>
  %sums = graph.matmul %x, %w : (tensor<4x8xui8>, tensor<8x16xsi8>) -> tensor<4x16xsi32>
  %f = graph.cast %sums : (tensor<4x16xsi32>) -> tensor<4x16xf32>
  %d = graph.dequantize %f, %scale, %none : (tensor<4x16xf32>, tensor<f32>, tensor<f32>) -> tensor<4x16xf32>
  %e = graph.floor %d : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %q = graph.quantize %e, %step, %zero : (tensor<4x16xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x16xui8>
  return %q : tensor<4x16xui8>
}

// Samples may miss a jump of `sign`, so its function stays as it is, too.
// CHECK-LABEL: @equal(
// CHECK-NOT: graph.gather
// CHECK: graph.sign
// CHECK: graph.quantize
func.func @equal(%a: tensor<4x16xsi8>, %b: tensor<4x16xsi8>) -> tensor<4x16xui8> {
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %step = graph.constant dense<0.01> : tensor<f32> : tensor<f32>
  %none = graph.constant dense<0> : tensor<si8> : tensor<si8>
  %zero = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %fa = graph.dequantize %a, %one, %none : (tensor<4x16xsi8>, tensor<f32>, tensor<si8>) -> tensor<4x16xf32>
  %fb = graph.dequantize %b, %one, %none : (tensor<4x16xsi8>, tensor<f32>, tensor<si8>) -> tensor<4x16xf32>
  %d = graph.sub %fa, %fb : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %s = graph.sign %d : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %far = graph.abs %s : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %y = graph.sub %one, %far : (tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %q = graph.quantize %y, %step, %zero : (tensor<4x16xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x16xui8>
  return %q : tensor<4x16xui8>
}

// A softmax of integer scores plus a mask of floats. The maximum of each row of
// the mask is subtracted, and the result is limited to -128, in units of 2^-22:
// 2^-128 rounds to 0. These integers are added to the scores, except in rows
// where float sums would lose the scores. In a row of -inf all results are 0.
// CHECK-LABEL: @masked(
// CHECK: %[[X:.*]] = graph.mul_high
// CHECK: %[[TOP:.*]] = graph.reduce_max %{{.*}} {axes = array<i64: 1>} : (tensor<1x16xf32>) -> tensor<1x1xf32>
// CHECK: %[[FINITE:.*]] = graph.maximum %[[TOP]]
// CHECK: graph.sub %{{.*}}, %[[FINITE]] : (tensor<1x16xf32>, tensor<1x1xf32>)
// CHECK: %[[DEEPEST:.*]] = graph.constant dense<0xCE000000> : tensor<f32>
// CHECK: %[[IS_ABOVE:.*]] = graph.greater %[[BELOW:.*]], %[[DEEPEST]]
// CHECK: %[[LIMITED:.*]] = graph.where %[[IS_ABOVE]], %[[BELOW]], %[[DEEPEST]]
// CHECK: graph.abs %[[FINITE]]
// CHECK: %[[KEPT:.*]] = graph.where %{{.*}} : (tensor<1x1xi1>, tensor<si32>, tensor<si32>) -> tensor<1x1xsi32>
// CHECK: %[[SCORES:.*]] = graph.and %[[X]], %[[KEPT]]
// CHECK: %[[MASK:.*]] = graph.cast %[[LIMITED]] : (tensor<1x16xf32>) -> tensor<1x16xsi32>
// CHECK: %[[SUM:.*]] = graph.add %[[SCORES]], %[[MASK]] : (tensor<4x16xsi32>, tensor<1x16xsi32>)
// CHECK: %[[LARGEST:.*]] = graph.reduce_max %[[SUM]]
// CHECK: graph.maximum %[[LARGEST]]
// CHECK: graph.reduce_sum
// CHECK: graph.maximum
// CHECK-NOT: graph.softmax
// CHECK: return
// FLOATS-LABEL: @masked(
// FLOATS: graph.softmax
func.func @masked(%x: tensor<4x8xui8>, %w: tensor<8x16xsi8>, %mask: tensor<1x16xf32>) -> tensor<4x16xui8> {
  %none = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %scale = graph.constant dense<0.0001> : tensor<f32> : tensor<f32>
  %step = graph.constant dense<0.00390625> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %sums = graph.matmul %x, %w : (tensor<4x8xui8>, tensor<8x16xsi8>) -> tensor<4x16xsi32>
  %f = graph.cast %sums : (tensor<4x16xsi32>) -> tensor<4x16xf32>
  %d = graph.dequantize %f, %scale, %none : (tensor<4x16xf32>, tensor<f32>, tensor<f32>) -> tensor<4x16xf32>
  %m = graph.add %d, %mask : (tensor<4x16xf32>, tensor<1x16xf32>) -> tensor<4x16xf32>
  %s = graph.softmax %m {axis = 1 : i64} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %q = graph.quantize %s, %step, %zero : (tensor<4x16xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x16xui8>
  return %q : tensor<4x16xui8>
}

// A number that replaces hidden scores (-10000) is treated like a mask that is
// added to the scores, because it is far below all other scores.
// CHECK-LABEL: @hidden(
// CHECK: %[[MASK:.*]] = graph.where %arg2, %[[LOW:.*]], %{{.*}} : (tensor<4x16xi1>, tensor<f32>, tensor<f32>) -> tensor<4x16xf32>
// CHECK: graph.reduce_max %[[MASK]]
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @hidden(%x: tensor<4x8xui8>, %w: tensor<8x16xsi8>, %hidden: tensor<4x16xi1>) -> tensor<4x16xf32> {
  %none = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %scale = graph.constant dense<0.0001> : tensor<f32> : tensor<f32>
  %low = graph.constant dense<-10000.0> : tensor<f32> : tensor<f32>
  %sums = graph.matmul %x, %w : (tensor<4x8xui8>, tensor<8x16xsi8>) -> tensor<4x16xsi32>
  %f = graph.cast %sums : (tensor<4x16xsi32>) -> tensor<4x16xf32>
  %d = graph.dequantize %f, %scale, %none : (tensor<4x16xf32>, tensor<f32>, tensor<f32>) -> tensor<4x16xf32>
  %m = graph.where %hidden, %low, %d : (tensor<4x16xi1>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %s = graph.softmax %m {axis = 1 : i64} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  return %s : tensor<4x16xf32>
}

// A number that replaces hidden scores is not treated like a mask if scores may
// be less than the number (-10).
// CHECK-LABEL: @not_hidden(
// CHECK: graph.softmax
func.func @not_hidden(%x: tensor<4x8xui8>, %w: tensor<8x16xsi8>, %hidden: tensor<4x16xi1>) -> tensor<4x16xf32> {
  %none = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %scale = graph.constant dense<0.0001> : tensor<f32> : tensor<f32>
  %low = graph.constant dense<-10.0> : tensor<f32> : tensor<f32>
  %sums = graph.matmul %x, %w : (tensor<4x8xui8>, tensor<8x16xsi8>) -> tensor<4x16xsi32>
  %f = graph.cast %sums : (tensor<4x16xsi32>) -> tensor<4x16xf32>
  %d = graph.dequantize %f, %scale, %none : (tensor<4x16xf32>, tensor<f32>, tensor<f32>) -> tensor<4x16xf32>
  %m = graph.where %hidden, %low, %d : (tensor<4x16xi1>, tensor<f32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %s = graph.softmax %m {axis = 1 : i64} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  return %s : tensor<4x16xf32>
}

// A masked softmax without a quantization after it stays in floats: a row of
// -inf has to give NaN, which no integer can represent.
// CHECK-LABEL: @masked_floats(
// CHECK: graph.softmax
func.func @masked_floats(%x: tensor<4x8xui8>, %w: tensor<8x16xsi8>, %mask: tensor<1x16xf32>) -> tensor<4x16xf32> {
  %none = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %scale = graph.constant dense<0.0001> : tensor<f32> : tensor<f32>
  %sums = graph.matmul %x, %w : (tensor<4x8xui8>, tensor<8x16xsi8>) -> tensor<4x16xsi32>
  %f = graph.cast %sums : (tensor<4x16xsi32>) -> tensor<4x16xf32>
  %d = graph.dequantize %f, %scale, %none : (tensor<4x16xf32>, tensor<f32>, tensor<f32>) -> tensor<4x16xf32>
  %m = graph.add %d, %mask : (tensor<4x16xf32>, tensor<1x16xf32>) -> tensor<4x16xf32>
  %s = graph.softmax %m {axis = 1 : i64} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  return %s : tensor<4x16xf32>
}
