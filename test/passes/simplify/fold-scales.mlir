// RUN: %ingot-opt %s -simplify-fold-scales | FileCheck %s
// REQUIRES: ingot-opt

// A multiplication by a factor per channel is folded into the weights and the
// bias of the convolution before it.
// CHECK-LABEL: @factor(
// CHECK-DAG: %[[S:.*]] = graph.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>
// CHECK-DAG: %[[W0:.*]] = graph.constant {{.*}} tensor<1x1x2x3xf32>
// CHECK-DAG: %[[B0:.*]] = graph.constant dense<5.0
// CHECK: %[[W:.*]] = graph.mul %[[W0]], %[[S]]
// CHECK-NEXT: %[[B:.*]] = graph.mul %[[B0]], %[[S]]
// CHECK-NEXT: %[[Y:.*]] = graph.conv %arg0, %[[W]], %[[B]]
// CHECK-NEXT: return %[[Y]]
func.func @factor(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x3xf32> {
  %w = graph.constant dense<1.0> : tensor<1x1x2x3xf32> : tensor<1x1x2x3xf32>
  %b = graph.constant dense<0.5> : tensor<3xf32> : tensor<3xf32>
  %s = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32> : tensor<3xf32>
  %c = graph.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<1x1x2x3xf32>, tensor<3xf32>) -> tensor<1x4x4x3xf32>
  %y = graph.mul %c, %s : (tensor<1x4x4x3xf32>, tensor<3xf32>) -> tensor<1x4x4x3xf32>
  return %y : tensor<1x4x4x3xf32>
}

// A constant that is added to a convolution without a bias becomes its bias. A
// single number is expanded to all channels. The constant may be the left
// operand.
// CHECK-LABEL: @term(
// CHECK: %[[B:.*]] = graph.expand {{.*}} -> tensor<3xf32>
// CHECK-NEXT: %[[Y:.*]] = graph.conv %arg0, %{{.*}}, %[[B]]
// CHECK-NEXT: return %[[Y]]
func.func @term(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x3xf32> {
  %w = graph.constant dense<1.0> : tensor<1x1x2x3xf32> : tensor<1x1x2x3xf32>
  %t = graph.constant dense<0.5> : tensor<1xf32> : tensor<1xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<1x1x2x3xf32>) -> tensor<1x4x4x3xf32>
  %y = graph.add %t, %c : (tensor<1xf32>, tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
  return %y : tensor<1x4x4x3xf32>
}

// A factor is not folded into the weights if another operator also reads the
// unscaled result.
// CHECK-LABEL: @read_twice(
// CHECK: %[[P:.*]] = graph.matmul
// CHECK-NEXT: %[[Y:.*]] = graph.mul %[[P]]
// CHECK-NEXT: return %[[P]], %[[Y]]
func.func @read_twice(%x: tensor<5x2xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>) {
  %w = graph.constant dense<1.0> : tensor<2x3xf32> : tensor<2x3xf32>
  %s = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32> : tensor<3xf32>
  %c = graph.matmul %x, %w : (tensor<5x2xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
  %y = graph.mul %c, %s : (tensor<5x3xf32>, tensor<3xf32>) -> tensor<5x3xf32>
  return %c, %y : tensor<5x3xf32>, tensor<5x3xf32>
}

// A factor per row of a matrix multiplication is not folded into the weights,
// even if there are as many rows as columns.
// CHECK-LABEL: @rows(
// CHECK: %[[P:.*]] = graph.matmul
// CHECK-NEXT: %[[Y:.*]] = graph.mul %[[P]]
// CHECK-NEXT: return %[[Y]]
func.func @rows(%x: tensor<3x2xf32>) -> tensor<3x3xf32> {
  %w = graph.constant dense<1.0> : tensor<2x3xf32> : tensor<2x3xf32>
  %s = graph.constant dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32> : tensor<3x1xf32>
  %c = graph.matmul %x, %w : (tensor<3x2xf32>, tensor<2x3xf32>) -> tensor<3x3xf32>
  %y = graph.mul %c, %s : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x3xf32>
  return %y : tensor<3x3xf32>
}

// A matrix multiplication takes a factor per column into its weights; a
// constant that is added stays in its epilogue.
// CHECK-LABEL: @product(
// CHECK: %[[W:.*]] = graph.mul %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>)
// CHECK-NEXT: %[[P:.*]] = graph.matmul %arg0, %[[W]]
// CHECK-NEXT: %[[Y:.*]] = graph.add %[[P]]
// CHECK-NEXT: return %[[Y]]
func.func @product(%x: tensor<5x2xf32>) -> tensor<5x3xf32> {
  %w = graph.constant dense<1.0> : tensor<2x3xf32> : tensor<2x3xf32>
  %s = graph.constant dense<2.0> : tensor<1xf32> : tensor<1xf32>
  %t = graph.constant dense<0.5> : tensor<3xf32> : tensor<3xf32>
  %c = graph.matmul %x, %w : (tensor<5x2xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
  %m = graph.mul %s, %c : (tensor<1xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  %y = graph.add %m, %t : (tensor<5x3xf32>, tensor<3xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// Constant factors of both operands of a matrix multiplication are combined
// into one factor after it.
// CHECK-LABEL: @hoist(
// CHECK: %[[C:.*]] = graph.constant dense<1.250000e-01>
// CHECK: %[[T:.*]] = graph.transpose %arg1
// CHECK: %[[P:.*]] = graph.matmul %arg0, %[[T]]
// CHECK-NEXT: %[[Y:.*]] = graph.mul %[[P]], %[[C]]
// CHECK-NEXT: return %[[Y]]
func.func @hoist(%a: tensor<4x8xf32>, %b: tensor<5x8xf32>) -> tensor<4x5xf32> {
  %quarter = graph.constant dense<0.25> : tensor<f32> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<1xf32> : tensor<1xf32>
  %s = graph.mul %a, %quarter : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %t = graph.mul %b, %half : (tensor<5x8xf32>, tensor<1xf32>) -> tensor<5x8xf32>
  %u = graph.transpose %t {perm = array<i64: 1, 0>} : (tensor<5x8xf32>) -> tensor<8x5xf32>
  %y = graph.matmul %s, %u : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// The factor of an operand stays if another operator also reads the scaled
// operand, which is then computed anyway.
// CHECK-LABEL: @hoist_shared(
// CHECK: %[[S:.*]] = graph.mul
// CHECK-NEXT: graph.matmul %[[S]], %arg1
func.func @hoist_shared(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>) -> (tensor<4x5xf32>, tensor<4x8xf32>) {
  %quarter = graph.constant dense<0.25> : tensor<f32> : tensor<f32>
  %s = graph.mul %a, %quarter : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %y = graph.matmul %s, %b : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return %y, %s : tensor<4x5xf32>, tensor<4x8xf32>
}

// A division by a constant becomes a multiplication, and an addition of 0 is
// removed, although this preserves neither rounding nor the sign of zeros.
// CHECK-LABEL: @numbers(
// CHECK: %[[C:.*]] = graph.constant dense<0.333333343>
// CHECK: graph.mul %arg0, %[[C]]
// CHECK-NEXT: return
func.func @numbers(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %three = graph.constant dense<3.0> : tensor<f32> : tensor<f32>
  %a = graph.add %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %y = graph.div %a, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// A constant of whole numbers that is added to an int8 convolution becomes its
// bias. A constant with fractions, or one that is too large for 32-bit sums,
// stays.
// CHECK-LABEL: @whole_term(
// CHECK: %[[B:.*]] = graph.constant dense<[-3, 70000]> : tensor<2xsi32>
// CHECK: %[[C:.*]] = graph.conv %arg0, %{{.*}}, %[[B]]
// CHECK-NEXT: %[[F:.*]] = graph.cast %[[C]]
// CHECK-NEXT: return %[[F]]
func.func @whole_term(%x: tensor<1x4x4x2xui8>) -> tensor<1x4x4x2xf32> {
  %w = graph.constant dense<1> : tensor<1x1x2x2xsi8> : tensor<1x1x2x2xsi8>
  %t = graph.constant dense<[-3.0, 70000.0]> : tensor<2xf32> : tensor<2xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x4x2xui8>, tensor<1x1x2x2xsi8>) -> tensor<1x4x4x2xsi32>
  %f = graph.cast %c : (tensor<1x4x4x2xsi32>) -> tensor<1x4x4x2xf32>
  %y = graph.add %f, %t : (tensor<1x4x4x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  return %y : tensor<1x4x4x2xf32>
}

// CHECK-LABEL: @other_terms(
// CHECK: graph.conv %arg0, %{{[0-9a-z_]*}} {
// CHECK: graph.add
// CHECK: graph.conv %arg0, %{{[0-9a-z_]*}} {
// CHECK: graph.add
// CHECK: return
func.func @other_terms(%x: tensor<1x4x4x2xui8>) -> (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) {
  %w = graph.constant dense<1> : tensor<1x1x2x2xsi8> : tensor<1x1x2x2xsi8>
  %t = graph.constant dense<[-3.5, 70000.0]> : tensor<2xf32> : tensor<2xf32>
  %l = graph.constant dense<[1.0, 2147483000.0]> : tensor<2xf32> : tensor<2xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x4x2xui8>, tensor<1x1x2x2xsi8>) -> tensor<1x4x4x2xsi32>
  %f = graph.cast %c : (tensor<1x4x4x2xsi32>) -> tensor<1x4x4x2xf32>
  %y = graph.add %f, %t : (tensor<1x4x4x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  %d = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x4x2xui8>, tensor<1x1x2x2xsi8>) -> tensor<1x4x4x2xsi32>
  %g = graph.cast %d : (tensor<1x4x4x2xsi32>) -> tensor<1x4x4x2xf32>
  %z = graph.add %g, %l : (tensor<1x4x4x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  return %y, %z : tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>
}

// Very small factors stay before the matmul: their product underflows.
// CHECK-LABEL: @hoist_tiny(
// CHECK: %[[A:.*]] = graph.mul %arg0
// CHECK: %[[B:.*]] = graph.mul %arg1
// CHECK: %[[Y:.*]] = graph.matmul %[[A]], %[[B]]
// CHECK-NEXT: return %[[Y]]
func.func @hoist_tiny(%a: tensor<4x5xf32>, %b: tensor<5x3xf32>) -> tensor<4x3xf32> {
  %k = graph.constant dense<1.0e-23> : tensor<f32> : tensor<f32>
  %x = graph.mul %a, %k : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
  %y = graph.mul %b, %k : (tensor<5x3xf32>, tensor<f32>) -> tensor<5x3xf32>
  %z = graph.matmul %x, %y : (tensor<4x5xf32>, tensor<5x3xf32>) -> tensor<4x3xf32>
  return %z : tensor<4x3xf32>
}

// A factor is not folded into weights if f16 cannot represent the products as
// normal numbers: 100 * 1000 overflows, and 2^-8 * 2^-8 is denormal. Single
// denormal products beside normal ones in the same column do not matter.
// CHECK-LABEL: @range(
// CHECK: %[[A:.*]] = graph.matmul %arg0
// CHECK-NEXT: %[[B:.*]] = graph.mul %[[A]]
// CHECK: %[[C:.*]] = graph.matmul %arg0
// CHECK-NEXT: %[[D:.*]] = graph.mul %[[C]]
// CHECK: %[[W:.*]] = graph.mul %{{.*}}, %{{.*}} -> tensor<2x2xf16>
// CHECK-NEXT: %[[E:.*]] = graph.matmul %arg0, %[[W]]
// CHECK-NEXT: return %[[B]], %[[D]], %[[E]]
func.func @range(%x: tensor<5x2xf16>) -> (tensor<5x2xf16>, tensor<5x2xf16>, tensor<5x2xf16>) {
  %large = graph.constant dense<100.0> : tensor<2x2xf16> : tensor<2x2xf16>
  %thousand = graph.constant dense<[1.0, 1000.0]> : tensor<2xf16> : tensor<2xf16>
  %a = graph.matmul %x, %large : (tensor<5x2xf16>, tensor<2x2xf16>) -> tensor<5x2xf16>
  %b = graph.mul %a, %thousand : (tensor<5x2xf16>, tensor<2xf16>) -> tensor<5x2xf16>
  %small = graph.constant dense<[[0.00390625, 1.0], [0.0, 1.0]]> : tensor<2x2xf16> : tensor<2x2xf16>
  %little = graph.constant dense<0.00390625> : tensor<f16> : tensor<f16>
  %c = graph.matmul %x, %small : (tensor<5x2xf16>, tensor<2x2xf16>) -> tensor<5x2xf16>
  %d = graph.mul %c, %little : (tensor<5x2xf16>, tensor<f16>) -> tensor<5x2xf16>
  %mixed = graph.constant dense<[[0.00390625, 0.0], [1.0, 0.0]]> : tensor<2x2xf16> : tensor<2x2xf16>
  %e = graph.matmul %x, %mixed : (tensor<5x2xf16>, tensor<2x2xf16>) -> tensor<5x2xf16>
  %f = graph.mul %e, %little : (tensor<5x2xf16>, tensor<f16>) -> tensor<5x2xf16>
  return %b, %d, %f : tensor<5x2xf16>, tensor<5x2xf16>, tensor<5x2xf16>
}

// A division stays if its quotient is rounded to an integer or compared, also
// by way of other elementwise operators and moves.
// CHECK-LABEL: @decisive(
// CHECK: %[[A:.*]] = graph.div %arg0
// CHECK-NEXT: graph.transpose %[[A]]
// CHECK: %[[B:.*]] = graph.div %arg0
// CHECK-NEXT: graph.cast %[[B]]
// CHECK: %[[C:.*]] = graph.div %arg0
// CHECK-NEXT: graph.less %[[C]]
// CHECK: %[[D:.*]] = graph.mul %arg0
// CHECK-NEXT: graph.quantize %[[D]]
func.func @decisive(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<2x3xsi64>, tensor<2x3xi1>, tensor<2x3xui8>) {
  %width = graph.constant dense<82.0> : tensor<f32> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %a = graph.div %x, %width : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %t = graph.transpose %a {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %s = graph.add %t, %half : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %f = graph.floor %s : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %b = graph.div %x, %width : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %i = graph.cast %b : (tensor<2x3xf32>) -> tensor<2x3xsi64>
  %c = graph.div %x, %width : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %l = graph.less %c, %half : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xi1>
  %d = graph.div %x, %width : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %q = graph.quantize %d, %half, %zero : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  return %f, %i, %l, %q : tensor<3x2xf32>, tensor<2x3xsi64>, tensor<2x3xi1>, tensor<2x3xui8>
}
