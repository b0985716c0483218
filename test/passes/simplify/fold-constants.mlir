// RUN: %ingot-opt %s -simplify-fold-constants | FileCheck %s
// REQUIRES: ingot-opt

// Expressions that depend only on constants are evaluated; the addition of the
// result to an argument stays.
// CHECK-LABEL: @evaluated(
// CHECK: %[[C:.*]] = graph.constant dense<[1.100000e+01, 2.200000e+01, 3.300000e+01, 4.400000e+01]>
// CHECK-NEXT: graph.add %arg0, %[[C]]
// CHECK-NEXT: return
func.func @evaluated(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> : tensor<4xf32>
  %b = graph.constant dense<10.0> : tensor<1xf32> : tensor<1xf32>
  %c = graph.mul %a, %b : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %d = graph.add %c, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = graph.add %x, %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// Constant expressions that are returned are evaluated, too.
// CHECK-LABEL: @returned(
// CHECK: %[[C:.*]] = graph.constant dense<[-1, 2]> : tensor<2xsi64>
// CHECK-NEXT: return %[[C]]
func.func @returned() -> tensor<2xsi64> {
  %a = graph.constant dense<[1, -2]> : tensor<2xsi64> : tensor<2xsi64>
  %y = graph.neg %a : (tensor<2xsi64>) -> tensor<2xsi64>
  return %y : tensor<2xsi64>
}

// An expression whose million elements all come from one constant element is
// not evaluated, so that the constant stays small.
// CHECK-LABEL: @large(
// CHECK: graph.constant dense<1.0{{.*}}tensor<1xf32>
// CHECK-NEXT: graph.expand
// CHECK-NEXT: graph.neg
// CHECK-NEXT: return
func.func @large() -> tensor<1000x1000xf32> {
  %a = graph.constant dense<1.0> : tensor<1xf32> : tensor<1xf32>
  %y = graph.expand %a : (tensor<1xf32>) -> tensor<1000x1000xf32>
  %z = graph.neg %y : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  return %z : tensor<1000x1000xf32>
}

// The packing of constant weights into panels is evaluated; unpacking is not,
// since the kernel reads the packed weights.
// CHECK-LABEL: @unpack(
// CHECK-NOT: graph.pack_panels
// CHECK: %[[W:.*]] = graph.unpack_panels
// CHECK-NEXT: graph.matmul %arg0, %[[W]]
func.func @unpack(%x: tensor<3x2xf32>) -> tensor<3x4xf32> {
  %w = graph.constant dense<[[1.,2.,3.,4.],[5.,6.,7.,8.]]> : tensor<2x4xf32> : tensor<2x4xf32>
  %p = graph.pack_panels %w {panel = 16 : i64, tail = 4 : i64} : (tensor<2x4xf32>) -> tensor<8xf32>
  %u = graph.unpack_panels %p {panel = 16 : i64, tail = 4 : i64} : (tensor<8xf32>) -> tensor<2x4xf32>
  %y = graph.matmul %x, %u : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// Constants whose data is not in the text cannot be evaluated.
// CHECK-LABEL: @elided(
// CHECK: graph.constant dense_resource<lost>
// CHECK-NEXT: graph.neg
// CHECK-NEXT: graph.add
func.func @elided(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = graph.constant dense_resource<lost> : tensor<2xf32> : tensor<2xf32>
  %b = graph.neg %a : (tensor<2xf32>) -> tensor<2xf32>
  %y = graph.add %x, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// Outside of its input, a convolution reads the zero point plus the value of its
// attribute x_outside.
// CHECK-LABEL: @outside(
// CHECK: graph.constant dense<{{\[\[\[\[}}5], [10], [51]], {{\[\[}}25], [32], [53]]]]> : tensor<1x2x3x1xsi32>
func.func @outside() -> tensor<1x2x3x1xsi32> {
  %x = graph.constant dense<[[[[1], [2]], [[3], [4]]]]> : tensor<1x2x2x1xui8> : tensor<1x2x2x1xui8>
  %w = graph.constant dense<[[[[1]], [[10]]]]> : tensor<1x2x1x1xsi8> : tensor<1x2x1x1xsi8>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 1>, groups = 1 : i64, x_zero = 1 : i64, x_outside = 5 : i64} : (tensor<1x2x2x1xui8>, tensor<1x2x1x1xsi8>) -> tensor<1x2x3x1xsi32>
  return %y : tensor<1x2x3x1xsi32>
}
