// RUN: %ingot-opt %s -simplify-raise-composites -canonicalize | FileCheck %s
// REQUIRES: ingot-opt

//===----------------------------------------------------------------------===//
// Normalizations
//===----------------------------------------------------------------------===//

// A layer normalization as PyTorch exports it below opset 17: ReduceMean, Sub,
// Pow, ReduceMean, Add, Sqrt, Div, Mul, Add.
// CHECK-LABEL: @layer_norm(
// CHECK-NEXT: %[[Y:.*]] = graph.layer_norm %arg0, %arg1, %arg2 {center = true, epsilon = 9.99999974E-6 : f32}
// CHECK-NEXT: return %[[Y]]
func.func @layer_norm(%x: tensor<2x5x8xf32>, %scale: tensor<8xf32>, %bias: tensor<8xf32>) -> tensor<2x5x8xf32> {
  %two = graph.constant dense<2.0> : tensor<f32> : tensor<f32>
  %epsilon = graph.constant dense<1.0e-5> : tensor<f32> : tensor<f32>
  %m = graph.reduce_mean %x {axes = array<i64: 2>} : (tensor<2x5x8xf32>) -> tensor<2x5x1xf32>
  %d = graph.sub %x, %m : (tensor<2x5x8xf32>, tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
  %q = graph.pow %d, %two : (tensor<2x5x8xf32>, tensor<f32>) -> tensor<2x5x8xf32>
  %v = graph.reduce_mean %q {axes = array<i64: 2>} : (tensor<2x5x8xf32>) -> tensor<2x5x1xf32>
  %e = graph.add %v, %epsilon : (tensor<2x5x1xf32>, tensor<f32>) -> tensor<2x5x1xf32>
  %s = graph.sqrt %e : (tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
  %n = graph.div %d, %s : (tensor<2x5x8xf32>, tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
  %p = graph.mul %n, %scale : (tensor<2x5x8xf32>, tensor<8xf32>) -> tensor<2x5x8xf32>
  %y = graph.add %p, %bias : (tensor<2x5x8xf32>, tensor<8xf32>) -> tensor<2x5x8xf32>
  return %y : tensor<2x5x8xf32>
}

// A layer normalization with other operand orders, a multiplication for the
// square, and a reciprocal for the division.
// CHECK-LABEL: @layer_norm_reordered(
// CHECK-NEXT: %[[Y:.*]] = graph.layer_norm %arg0, %arg1, %arg2 {center = true
// CHECK-NEXT: return %[[Y]]
func.func @layer_norm_reordered(%x: tensor<5x8xf32>, %scale: tensor<8xf32>, %bias: tensor<8xf32>) -> tensor<5x8xf32> {
  %epsilon = graph.constant dense<1.0e-12> : tensor<1x1xf32> : tensor<1x1xf32>
  %m = graph.reduce_mean %x {axes = array<i64: 1>} : (tensor<5x8xf32>) -> tensor<5x1xf32>
  %d = graph.sub %x, %m : (tensor<5x8xf32>, tensor<5x1xf32>) -> tensor<5x8xf32>
  %q = graph.mul %d, %d : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %v = graph.reduce_mean %q {axes = array<i64: 1>} : (tensor<5x8xf32>) -> tensor<5x1xf32>
  %e = graph.add %epsilon, %v : (tensor<1x1xf32>, tensor<5x1xf32>) -> tensor<5x1xf32>
  %s = graph.sqrt %e : (tensor<5x1xf32>) -> tensor<5x1xf32>
  %r = graph.reciprocal %s : (tensor<5x1xf32>) -> tensor<5x1xf32>
  %n = graph.mul %r, %d : (tensor<5x1xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %p = graph.mul %scale, %n : (tensor<8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %y = graph.add %bias, %p : (tensor<8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return %y : tensor<5x8xf32>
}

// A layer normalization as Keras writes it: x * s + (bias - mean * s) with
// s = scale / deviation.
// CHECK-LABEL: @layer_norm_keras(
// CHECK-NEXT: %[[Y:.*]] = graph.layer_norm %arg0, %arg1, %arg2 {center = true, epsilon = 1.000000e-03 : f32}
// CHECK-NEXT: return %[[Y]]
func.func @layer_norm_keras(%x: tensor<5x8xf32>, %scale: tensor<8xf32>, %bias: tensor<8xf32>) -> tensor<5x8xf32> {
  %epsilon = graph.constant dense<1.0e-3> : tensor<f32> : tensor<f32>
  %m = graph.reduce_mean %x {axes = array<i64: 1>} : (tensor<5x8xf32>) -> tensor<5x1xf32>
  %d = graph.sub %x, %m : (tensor<5x8xf32>, tensor<5x1xf32>) -> tensor<5x8xf32>
  %q = graph.mul %d, %d : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %v = graph.reduce_mean %q {axes = array<i64: 1>} : (tensor<5x8xf32>) -> tensor<5x1xf32>
  %e = graph.add %v, %epsilon : (tensor<5x1xf32>, tensor<f32>) -> tensor<5x1xf32>
  %r = graph.sqrt %e : (tensor<5x1xf32>) -> tensor<5x1xf32>
  %i = graph.reciprocal %r : (tensor<5x1xf32>) -> tensor<5x1xf32>
  %s = graph.mul %i, %scale : (tensor<5x1xf32>, tensor<8xf32>) -> tensor<5x8xf32>
  %xs = graph.mul %x, %s : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %ms = graph.mul %m, %s : (tensor<5x1xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %b = graph.sub %bias, %ms : (tensor<8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %y = graph.add %xs, %b : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return %y : tensor<5x8xf32>
}

// A layer normalization over two axes, which the scale has as well: both axes
// are reshaped to one, so that the normalization is over rows.
// CHECK-LABEL: @two_axes(
// CHECK-DAG: %[[R:.*]] = graph.reshape %arg0 : (tensor<5x2x4xf32>) -> tensor<5x8xf32>
// CHECK-DAG: %[[S:.*]] = graph.reshape %arg1 : (tensor<2x4xf32>) -> tensor<8xf32>
// CHECK: %[[N:.*]] = graph.layer_norm %[[R]], %[[S]]
// CHECK-NEXT: graph.reshape %[[N]] : (tensor<5x8xf32>) -> tensor<5x2x4xf32>
func.func @two_axes(%x: tensor<5x2x4xf32>, %scale: tensor<2x4xf32>) -> tensor<5x2x4xf32> {
  %epsilon = graph.constant dense<1.0e-5> : tensor<f32> : tensor<f32>
  %m = graph.reduce_mean %x {axes = array<i64: 1, 2>} : (tensor<5x2x4xf32>) -> tensor<5x1x1xf32>
  %d = graph.sub %x, %m : (tensor<5x2x4xf32>, tensor<5x1x1xf32>) -> tensor<5x2x4xf32>
  %q = graph.mul %d, %d : (tensor<5x2x4xf32>, tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  %v = graph.reduce_mean %q {axes = array<i64: 1, 2>} : (tensor<5x2x4xf32>) -> tensor<5x1x1xf32>
  %e = graph.add %v, %epsilon : (tensor<5x1x1xf32>, tensor<f32>) -> tensor<5x1x1xf32>
  %s = graph.sqrt %e : (tensor<5x1x1xf32>) -> tensor<5x1x1xf32>
  %n = graph.div %d, %s : (tensor<5x2x4xf32>, tensor<5x1x1xf32>) -> tensor<5x2x4xf32>
  %y = graph.mul %n, %scale : (tensor<5x2x4xf32>, tensor<2x4xf32>) -> tensor<5x2x4xf32>
  return %y : tensor<5x2x4xf32>
}

// An instance normalization has a scale for each channel: it stays as
// reductions, whose layout can change.
// CHECK-LABEL: @instance_norm(
// CHECK-NOT: layer_norm
// CHECK: return
func.func @instance_norm(%x: tensor<5x2x4xf32>, %scale: tensor<5x1x1xf32>) -> tensor<5x2x4xf32> {
  %epsilon = graph.constant dense<1.0e-5> : tensor<f32> : tensor<f32>
  %m = graph.reduce_mean %x {axes = array<i64: 1, 2>} : (tensor<5x2x4xf32>) -> tensor<5x1x1xf32>
  %d = graph.sub %x, %m : (tensor<5x2x4xf32>, tensor<5x1x1xf32>) -> tensor<5x2x4xf32>
  %q = graph.mul %d, %d : (tensor<5x2x4xf32>, tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  %v = graph.reduce_mean %q {axes = array<i64: 1, 2>} : (tensor<5x2x4xf32>) -> tensor<5x1x1xf32>
  %e = graph.add %v, %epsilon : (tensor<5x1x1xf32>, tensor<f32>) -> tensor<5x1x1xf32>
  %s = graph.sqrt %e : (tensor<5x1x1xf32>) -> tensor<5x1x1xf32>
  %n = graph.div %d, %s : (tensor<5x2x4xf32>, tensor<5x1x1xf32>) -> tensor<5x2x4xf32>
  %y = graph.mul %n, %scale : (tensor<5x2x4xf32>, tensor<5x1x1xf32>) -> tensor<5x2x4xf32>
  return %y : tensor<5x2x4xf32>
}

// A normalization is raised only if it is over the last axis.
// CHECK-LABEL: @first_axis(
// CHECK-NOT: layer_norm
// CHECK: return
func.func @first_axis(%x: tensor<8x5xf32>) -> tensor<8x5xf32> {
  %epsilon = graph.constant dense<1.0e-5> : tensor<f32> : tensor<f32>
  %m = graph.reduce_mean %x {axes = array<i64: 0>} : (tensor<8x5xf32>) -> tensor<1x5xf32>
  %d = graph.sub %x, %m : (tensor<8x5xf32>, tensor<1x5xf32>) -> tensor<8x5xf32>
  %q = graph.mul %d, %d : (tensor<8x5xf32>, tensor<8x5xf32>) -> tensor<8x5xf32>
  %v = graph.reduce_mean %q {axes = array<i64: 0>} : (tensor<8x5xf32>) -> tensor<1x5xf32>
  %e = graph.add %v, %epsilon : (tensor<1x5xf32>, tensor<f32>) -> tensor<1x5xf32>
  %s = graph.sqrt %e : (tensor<1x5xf32>) -> tensor<1x5xf32>
  %n = graph.div %d, %s : (tensor<8x5xf32>, tensor<1x5xf32>) -> tensor<8x5xf32>
  return %n : tensor<8x5xf32>
}

// An RMS normalization as in LLaMA: x * (1 / sqrt(mean(x^2) + epsilon)), then
// multiplied by the weights, which are the first operand.
// CHECK-LABEL: @rms_norm(
// CHECK-NEXT: %[[Y:.*]] = graph.layer_norm %arg0, %arg1 {center = false
// CHECK-NEXT: return %[[Y]]
func.func @rms_norm(%x: tensor<5x8xf32>, %scale: tensor<8xf32>) -> tensor<5x8xf32> {
  %two = graph.constant dense<2.0> : tensor<f32> : tensor<f32>
  %epsilon = graph.constant dense<1.0e-5> : tensor<f32> : tensor<f32>
  %q = graph.pow %x, %two : (tensor<5x8xf32>, tensor<f32>) -> tensor<5x8xf32>
  %v = graph.reduce_mean %q {axes = array<i64: 1>} : (tensor<5x8xf32>) -> tensor<5x1xf32>
  %e = graph.add %v, %epsilon : (tensor<5x1xf32>, tensor<f32>) -> tensor<5x1xf32>
  %s = graph.sqrt %e : (tensor<5x1xf32>) -> tensor<5x1xf32>
  %r = graph.reciprocal %s : (tensor<5x1xf32>) -> tensor<5x1xf32>
  %n = graph.mul %x, %r : (tensor<5x8xf32>, tensor<5x1xf32>) -> tensor<5x8xf32>
  %y = graph.mul %scale, %n : (tensor<8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return %y : tensor<5x8xf32>
}

// An RMS normalization whose root is a power. A scale for each row stays a
// multiplication: the scale of a normalization is one for each column.
// CHECK-LABEL: @rms_norm_by_power(
// CHECK: %[[N:.*]] = graph.layer_norm %arg0 {center = false
// CHECK-NEXT: graph.mul %[[N]], %arg1
func.func @rms_norm_by_power(%x: tensor<5x8xf32>, %scale: tensor<5x1xf32>) -> tensor<5x8xf32> {
  %half = graph.constant dense<-0.5> : tensor<f32> : tensor<f32>
  %epsilon = graph.constant dense<1.0e-5> : tensor<f32> : tensor<f32>
  %q = graph.mul %x, %x : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %v = graph.reduce_mean %q {axes = array<i64: 1>} : (tensor<5x8xf32>) -> tensor<5x1xf32>
  %e = graph.add %v, %epsilon : (tensor<5x1xf32>, tensor<f32>) -> tensor<5x1xf32>
  %r = graph.pow %e, %half : (tensor<5x1xf32>, tensor<f32>) -> tensor<5x1xf32>
  %n = graph.mul %x, %r : (tensor<5x8xf32>, tensor<5x1xf32>) -> tensor<5x8xf32>
  %y = graph.mul %n, %scale : (tensor<5x8xf32>, tensor<5x1xf32>) -> tensor<5x8xf32>
  return %y : tensor<5x8xf32>
}

// Nothing is raised if the epsilon is not constant.
// CHECK-LABEL: @unknown_epsilon(
// CHECK-NOT: layer_norm
// CHECK: return
func.func @unknown_epsilon(%x: tensor<5x8xf32>, %epsilon: tensor<f32>) -> tensor<5x8xf32> {
  %q = graph.mul %x, %x : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %v = graph.reduce_mean %q {axes = array<i64: 1>} : (tensor<5x8xf32>) -> tensor<5x1xf32>
  %e = graph.add %v, %epsilon : (tensor<5x1xf32>, tensor<f32>) -> tensor<5x1xf32>
  %s = graph.sqrt %e : (tensor<5x1xf32>) -> tensor<5x1xf32>
  %n = graph.div %x, %s : (tensor<5x8xf32>, tensor<5x1xf32>) -> tensor<5x8xf32>
  return %n : tensor<5x8xf32>
}

// Nothing is raised if the deviation is also returned: computing it twice would
// cost more.
// CHECK-LABEL: @deviation_is_read(
// CHECK-NOT: layer_norm
// CHECK: return
func.func @deviation_is_read(%x: tensor<5x8xf32>) -> (tensor<5x8xf32>, tensor<5x1xf32>) {
  %epsilon = graph.constant dense<1.0e-5> : tensor<f32> : tensor<f32>
  %q = graph.mul %x, %x : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %v = graph.reduce_mean %q {axes = array<i64: 1>} : (tensor<5x8xf32>) -> tensor<5x1xf32>
  %e = graph.add %v, %epsilon : (tensor<5x1xf32>, tensor<f32>) -> tensor<5x1xf32>
  %s = graph.sqrt %e : (tensor<5x1xf32>) -> tensor<5x1xf32>
  %n = graph.div %x, %s : (tensor<5x8xf32>, tensor<5x1xf32>) -> tensor<5x8xf32>
  return %n, %s : tensor<5x8xf32>, tensor<5x1xf32>
}

// Nothing is raised if the divisor is the deviation of another tensor.
// CHECK-LABEL: @other_deviation(
// CHECK-NOT: layer_norm
// CHECK: return
func.func @other_deviation(%x: tensor<5x8xf32>, %z: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %epsilon = graph.constant dense<1.0e-5> : tensor<f32> : tensor<f32>
  %q = graph.mul %z, %z : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  %v = graph.reduce_mean %q {axes = array<i64: 1>} : (tensor<5x8xf32>) -> tensor<5x1xf32>
  %e = graph.add %v, %epsilon : (tensor<5x1xf32>, tensor<f32>) -> tensor<5x1xf32>
  %s = graph.sqrt %e : (tensor<5x1xf32>) -> tensor<5x1xf32>
  %n = graph.div %x, %s : (tensor<5x8xf32>, tensor<5x1xf32>) -> tensor<5x8xf32>
  return %n : tensor<5x8xf32>
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

// CHECK-LABEL: @softmax(
// CHECK-NEXT: %[[Y:.*]] = graph.softmax %arg0 {axis = 1 : i64}
// CHECK-NEXT: return %[[Y]]
func.func @softmax(%x: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %m = graph.reduce_max %x {axes = array<i64: 1>} : (tensor<5x8xf32>) -> tensor<5x1xf32>
  %d = graph.sub %x, %m : (tensor<5x8xf32>, tensor<5x1xf32>) -> tensor<5x8xf32>
  %e = graph.exp %d : (tensor<5x8xf32>) -> tensor<5x8xf32>
  %s = graph.reduce_sum %e {axes = array<i64: 1>} : (tensor<5x8xf32>) -> tensor<5x1xf32>
  %y = graph.div %e, %s : (tensor<5x8xf32>, tensor<5x1xf32>) -> tensor<5x8xf32>
  return %y : tensor<5x8xf32>
}

// A softmax that does not subtract the maximum, and has a reciprocal instead of
// the division.
// CHECK-LABEL: @softmax_by_reciprocal(
// CHECK-NEXT: %[[Y:.*]] = graph.softmax %arg0 {axis = 0 : i64}
// CHECK-NEXT: return %[[Y]]
func.func @softmax_by_reciprocal(%x: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %e = graph.exp %x : (tensor<5x8xf32>) -> tensor<5x8xf32>
  %s = graph.reduce_sum %e {axes = array<i64: 0>} : (tensor<5x8xf32>) -> tensor<1x8xf32>
  %r = graph.reciprocal %s : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %y = graph.mul %r, %e : (tensor<1x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return %y : tensor<5x8xf32>
}

// The maximum along another axis is not the maximum of the softmax: it stays.
// CHECK-LABEL: @other_maximum(
// CHECK: graph.reduce_max
// CHECK: %[[D:.*]] = graph.sub
// CHECK-NEXT: graph.softmax %[[D]] {axis = 1 : i64}
func.func @other_maximum(%x: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %m = graph.reduce_max %x {axes = array<i64: 0>} : (tensor<5x8xf32>) -> tensor<1x8xf32>
  %d = graph.sub %x, %m : (tensor<5x8xf32>, tensor<1x8xf32>) -> tensor<5x8xf32>
  %e = graph.exp %d : (tensor<5x8xf32>) -> tensor<5x8xf32>
  %s = graph.reduce_sum %e {axes = array<i64: 1>} : (tensor<5x8xf32>) -> tensor<5x1xf32>
  %y = graph.div %e, %s : (tensor<5x8xf32>, tensor<5x1xf32>) -> tensor<5x8xf32>
  return %y : tensor<5x8xf32>
}

// Nothing is raised if the sum of the exponentials is also returned.
// CHECK-LABEL: @sum_is_read(
// CHECK-NOT: softmax
// CHECK: return
func.func @sum_is_read(%x: tensor<5x8xf32>) -> (tensor<5x8xf32>, tensor<5x1xf32>) {
  %e = graph.exp %x : (tensor<5x8xf32>) -> tensor<5x8xf32>
  %s = graph.reduce_sum %e {axes = array<i64: 1>} : (tensor<5x8xf32>) -> tensor<5x1xf32>
  %y = graph.div %e, %s : (tensor<5x8xf32>, tensor<5x1xf32>) -> tensor<5x8xf32>
  return %y, %s : tensor<5x8xf32>, tensor<5x1xf32>
}

// CHECK-LABEL: @log_softmax(
// CHECK-NEXT: %[[A:.*]] = graph.log_softmax %arg0 {axis = 1 : i64}
// CHECK-NEXT: %[[B:.*]] = graph.log_softmax %arg1 {axis = 1 : i64}
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @log_softmax(%x: tensor<5x8xf32>, %z: tensor<5x8xf32>) -> (tensor<5x8xf32>, tensor<5x8xf32>) {
  %m = graph.reduce_max %x {axes = array<i64: 1>} : (tensor<5x8xf32>) -> tensor<5x1xf32>
  %d = graph.sub %x, %m : (tensor<5x8xf32>, tensor<5x1xf32>) -> tensor<5x8xf32>
  %e = graph.exp %d : (tensor<5x8xf32>) -> tensor<5x8xf32>
  %s = graph.reduce_sum %e {axes = array<i64: 1>} : (tensor<5x8xf32>) -> tensor<5x1xf32>
  %l = graph.log %s : (tensor<5x1xf32>) -> tensor<5x1xf32>
  %y = graph.sub %d, %l : (tensor<5x8xf32>, tensor<5x1xf32>) -> tensor<5x8xf32>
  %t = graph.softmax %z {axis = 1 : i64} : (tensor<5x8xf32>) -> tensor<5x8xf32>
  %u = graph.log %t : (tensor<5x8xf32>) -> tensor<5x8xf32>
  return %y, %u : tensor<5x8xf32>, tensor<5x8xf32>
}

// A softmax as in PyTorch's attention: a row that is masked completely becomes
// zero.
// CHECK-LABEL: @guarded(
// CHECK-NEXT: %[[Y:.*]] = graph.softmax %arg0 {axis = 1 : i64, zero_nan}
// CHECK-NEXT: return %[[Y]]
func.func @guarded(%x: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %s = graph.softmax %x {axis = 1 : i64} : (tensor<5x8xf32>) -> tensor<5x8xf32>
  %n = graph.is_nan %s : (tensor<5x8xf32>) -> tensor<5x8xi1>
  %y = graph.where %n, %zero, %s : (tensor<5x8xi1>, tensor<f32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return %y : tensor<5x8xf32>
}

// CHECK-LABEL: @guarded_by_one(
// CHECK: graph.where
func.func @guarded_by_one(%x: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %s = graph.softmax %x {axis = 1 : i64} : (tensor<5x8xf32>) -> tensor<5x8xf32>
  %n = graph.is_nan %s : (tensor<5x8xf32>) -> tensor<5x8xi1>
  %y = graph.where %n, %one, %s : (tensor<5x8xi1>, tensor<f32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return %y : tensor<5x8xf32>
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

// GELU as PyTorch writes it, x * (0.5 * (erf(x / sqrt(2)) + 1)), and with
// x * 0.5 first.
// CHECK-LABEL: @gelu(
// CHECK-NEXT: %[[A:.*]] = graph.gelu %arg0 :
// CHECK-NEXT: %[[B:.*]] = graph.gelu %arg1 :
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @gelu(%x: tensor<8xf32>, %z: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %root = graph.constant dense<1.41421354> : tensor<f32> : tensor<f32>
  %inverse = graph.constant dense<0.707106769> : tensor<f32> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %a = graph.div %x, %root : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %b = graph.erf %a : (tensor<8xf32>) -> tensor<8xf32>
  %c = graph.add %b, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %d = graph.mul %half, %c : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %y = graph.mul %x, %d : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %e = graph.mul %z, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %f = graph.mul %inverse, %z : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %g = graph.erf %f : (tensor<8xf32>) -> tensor<8xf32>
  %h = graph.add %one, %g : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %i = graph.mul %e, %h : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %y, %i : tensor<8xf32>, tensor<8xf32>
}

// The tanh approximation of GELU: the argument of tanh is
// sqrt(2 / pi) * (x + 0.044715 * x^3), with the cube as a power or a product.
// CHECK-LABEL: @gelu_tanh(
// CHECK-NEXT: %[[A:.*]] = graph.gelu %arg0 {approximate = "tanh"}
// CHECK-NEXT: %[[B:.*]] = graph.gelu %arg1 {approximate = "tanh"}
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @gelu_tanh(%x: tensor<8xf32>, %z: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %three = graph.constant dense<3.0> : tensor<f32> : tensor<f32>
  %cubic = graph.constant dense<4.471500e-02> : tensor<f32> : tensor<f32>
  %root = graph.constant dense<0.797884583> : tensor<f32> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %a = graph.pow %x, %three : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %b = graph.mul %a, %cubic : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %c = graph.add %x, %b : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %d = graph.mul %c, %root : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %e = graph.tanh %d : (tensor<8xf32>) -> tensor<8xf32>
  %f = graph.add %e, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %g = graph.mul %x, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %y = graph.mul %g, %f : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %h = graph.mul %z, %z : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %i = graph.mul %h, %z : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %j = graph.mul %cubic, %i : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %k = graph.add %j, %z : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %l = graph.mul %root, %k : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %m = graph.tanh %l : (tensor<8xf32>) -> tensor<8xf32>
  %n = graph.add %one, %m : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %o = graph.mul %half, %n : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %p = graph.mul %o, %z : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %y, %p : tensor<8xf32>, tensor<8xf32>
}

// A GELU is found in its product with a gate.
// CHECK-LABEL: @gated(
// CHECK-NEXT: %[[G:.*]] = graph.gelu %arg0
// CHECK-NEXT: graph.mul %[[G]], %arg1
func.func @gated(%x: tensor<8xf32>, %gate: tensor<8xf32>) -> tensor<8xf32> {
  %root = graph.constant dense<1.41421354> : tensor<f32> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %a = graph.div %x, %root : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %b = graph.erf %a : (tensor<8xf32>) -> tensor<8xf32>
  %c = graph.add %b, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %d = graph.mul %x, %c : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %e = graph.mul %d, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %y = graph.mul %e, %gate : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// No GELU: the first function has another constant, and the second one
// multiplies by the error function of another tensor.
// CHECK-LABEL: @not_gelu(
// CHECK-NOT: gelu
// CHECK: return
func.func @not_gelu(%x: tensor<8xf32>, %z: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %root = graph.constant dense<1.5> : tensor<f32> : tensor<f32>
  %inverse = graph.constant dense<0.707106769> : tensor<f32> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %a = graph.div %x, %root : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %b = graph.erf %a : (tensor<8xf32>) -> tensor<8xf32>
  %c = graph.add %b, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %d = graph.mul %half, %c : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %y = graph.mul %x, %d : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %e = graph.mul %x, %inverse : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %f = graph.erf %e : (tensor<8xf32>) -> tensor<8xf32>
  %g = graph.add %f, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %h = graph.mul %half, %g : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %i = graph.mul %z, %h : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %y, %i : tensor<8xf32>, tensor<8xf32>
}

// Nothing is raised if the error function is also returned.
// CHECK-LABEL: @erf_is_read(
// CHECK-NOT: gelu
// CHECK: return
func.func @erf_is_read(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %root = graph.constant dense<1.41421354> : tensor<f32> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %a = graph.div %x, %root : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %b = graph.erf %a : (tensor<8xf32>) -> tensor<8xf32>
  %c = graph.add %b, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %d = graph.mul %half, %c : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %y = graph.mul %x, %d : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %y, %b : tensor<8xf32>, tensor<8xf32>
}

// SiLU becomes a swish, also with a factor in the sigmoid (the quick GELU), and
// with the sigmoid written out.
// CHECK-LABEL: @swish(
// CHECK-DAG: %[[A:.*]] = graph.swish %arg0 :
// CHECK-DAG: %[[B:.*]] = graph.swish %arg0 {alpha = 1.702000e+00 : f32}
// CHECK-DAG: %[[C:.*]] = graph.swish %arg1 :
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @swish(%x: tensor<8xf32>, %z: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %c = graph.constant dense<1.702> : tensor<f32> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %s = graph.sigmoid %x : (tensor<8xf32>) -> tensor<8xf32>
  %y = graph.mul %x, %s : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %m = graph.mul %x, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %t = graph.sigmoid %m : (tensor<8xf32>) -> tensor<8xf32>
  %u = graph.mul %t, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %n = graph.neg %z : (tensor<8xf32>) -> tensor<8xf32>
  %e = graph.exp %n : (tensor<8xf32>) -> tensor<8xf32>
  %p = graph.add %e, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %r = graph.reciprocal %p : (tensor<8xf32>) -> tensor<8xf32>
  %v = graph.mul %z, %r : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %y, %u, %v : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// In f64, the constants of a gelu have to be exact.
// CHECK-LABEL: @double_gelu(
// CHECK-DAG: %[[A:.*]] = graph.gelu %arg0
// CHECK-DAG: graph.erf
// CHECK: return %[[A]], %
func.func @double_gelu(%x: tensor<8xf64>) -> (tensor<8xf64>, tensor<8xf64>) {
  %root = graph.constant dense<0.70710678118654752> : tensor<f64> : tensor<f64>
  %rounded = graph.constant dense<0.70711> : tensor<f64> : tensor<f64>
  %one = graph.constant dense<1.0> : tensor<f64> : tensor<f64>
  %half = graph.constant dense<0.5> : tensor<f64> : tensor<f64>
  %a0 = graph.mul %x, %root : (tensor<8xf64>, tensor<f64>) -> tensor<8xf64>
  %a1 = graph.erf %a0 : (tensor<8xf64>) -> tensor<8xf64>
  %a2 = graph.add %a1, %one : (tensor<8xf64>, tensor<f64>) -> tensor<8xf64>
  %a3 = graph.mul %x, %a2 : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xf64>
  %y = graph.mul %a3, %half : (tensor<8xf64>, tensor<f64>) -> tensor<8xf64>
  %b0 = graph.mul %x, %rounded : (tensor<8xf64>, tensor<f64>) -> tensor<8xf64>
  %b1 = graph.erf %b0 : (tensor<8xf64>) -> tensor<8xf64>
  %b2 = graph.add %b1, %one : (tensor<8xf64>, tensor<f64>) -> tensor<8xf64>
  %b3 = graph.mul %x, %b2 : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xf64>
  %z = graph.mul %b3, %half : (tensor<8xf64>, tensor<f64>) -> tensor<8xf64>
  return %y, %z : tensor<8xf64>, tensor<8xf64>
}

// In f64, a normalization with an epsilon that an f32 attribute rounds stays
// decomposed.
// CHECK-LABEL: @double_norm(
// CHECK-NOT: layer_norm
// CHECK: return
func.func @double_norm(%x: tensor<3x8xf64>) -> tensor<3x8xf64> {
  %epsilon = graph.constant dense<1.0e-05> : tensor<f64> : tensor<f64>
  %q = graph.mul %x, %x : (tensor<3x8xf64>, tensor<3x8xf64>) -> tensor<3x8xf64>
  %v = graph.reduce_mean %q {axes = array<i64: 1>} : (tensor<3x8xf64>) -> tensor<3x1xf64>
  %e = graph.add %v, %epsilon : (tensor<3x1xf64>, tensor<f64>) -> tensor<3x1xf64>
  %s = graph.sqrt %e : (tensor<3x1xf64>) -> tensor<3x1xf64>
  %y = graph.div %x, %s : (tensor<3x8xf64>, tensor<3x1xf64>) -> tensor<3x8xf64>
  return %y : tensor<3x8xf64>
}

// In f64, a factor that the f32 attribute of swish rounds stays a product, and
// the division of a hard sigmoid by 6 stays, too.
// CHECK-LABEL: @doubles(
// CHECK-DAG: graph.swish %arg0 {alpha = 5.000000e-01 : f32}
// CHECK-DAG: graph.sigmoid
// CHECK-DAG: graph.minimum
// CHECK-NOT: graph.hard_sigmoid
// CHECK: return
func.func @doubles(%x: tensor<8xf64>) -> (tensor<8xf64>, tensor<8xf64>, tensor<8xf64>) {
  %half = graph.constant dense<0.5> : tensor<f64> : tensor<f64>
  %number = graph.constant dense<1.702> : tensor<f64> : tensor<f64>
  %zero = graph.constant dense<0.0> : tensor<f64> : tensor<f64>
  %three = graph.constant dense<3.0> : tensor<f64> : tensor<f64>
  %six = graph.constant dense<6.0> : tensor<f64> : tensor<f64>
  %a = graph.mul %x, %half : (tensor<8xf64>, tensor<f64>) -> tensor<8xf64>
  %b = graph.sigmoid %a : (tensor<8xf64>) -> tensor<8xf64>
  %c = graph.mul %x, %b : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xf64>
  %d = graph.mul %x, %number : (tensor<8xf64>, tensor<f64>) -> tensor<8xf64>
  %e = graph.sigmoid %d : (tensor<8xf64>) -> tensor<8xf64>
  %f = graph.mul %x, %e : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xf64>
  %g = graph.add %x, %three : (tensor<8xf64>, tensor<f64>) -> tensor<8xf64>
  %h = graph.maximum %g, %zero : (tensor<8xf64>, tensor<f64>) -> tensor<8xf64>
  %i = graph.minimum %h, %six : (tensor<8xf64>, tensor<f64>) -> tensor<8xf64>
  %j = graph.div %i, %six : (tensor<8xf64>, tensor<f64>) -> tensor<8xf64>
  return %c, %f, %j : tensor<8xf64>, tensor<8xf64>, tensor<8xf64>
}

// No swish: the tensor is multiplied by the sigmoid of another tensor.
// CHECK-LABEL: @not_swish(
// CHECK-NOT: swish
// CHECK: return
func.func @not_swish(%x: tensor<8xf32>, %z: tensor<8xf32>) -> tensor<8xf32> {
  %s = graph.sigmoid %z : (tensor<8xf32>) -> tensor<8xf32>
  %y = graph.mul %x, %s : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// Hard swish: x * clamp(x + 3, 0, 6) / 6, where the division comes before or
// after the multiplication.
// CHECK-LABEL: @hard_swish(
// CHECK-NEXT: %[[A:.*]] = graph.hard_swish %arg0
// CHECK-NEXT: %[[B:.*]] = graph.hard_swish %arg1
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @hard_swish(%x: tensor<8xf32>, %z: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %three = graph.constant dense<3.0> : tensor<f32> : tensor<f32>
  %six = graph.constant dense<6.0> : tensor<f32> : tensor<f32>
  %sixth = graph.constant dense<0.166666672> : tensor<f32> : tensor<f32>
  %a = graph.add %x, %three : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %b = graph.maximum %a, %zero : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %c = graph.minimum %b, %six : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %d = graph.mul %x, %c : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %y = graph.div %d, %six : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %e = graph.add %three, %z : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %f = graph.minimum %e, %six : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %g = graph.relu %f : (tensor<8xf32>) -> tensor<8xf32>
  %h = graph.mul %g, %sixth : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %i = graph.mul %h, %z : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %y, %i : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: @hard_sigmoid(
// CHECK-NEXT: graph.hard_sigmoid %arg0 {alpha = 0.166666672 : f32}
func.func @hard_sigmoid(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %three = graph.constant dense<3.0> : tensor<f32> : tensor<f32>
  %six = graph.constant dense<6.0> : tensor<f32> : tensor<f32>
  %a = graph.add %x, %three : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %b = graph.maximum %a, %zero : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %c = graph.minimum %b, %six : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %y = graph.div %c, %six : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// No hard swish: the clamp has other bounds.
// CHECK-LABEL: @not_hard_swish(
// CHECK-NOT: hard_swish
// CHECK: return
func.func @not_hard_swish(%x: tensor<8xf32>) -> tensor<8xf32> {
  %three = graph.constant dense<3.0> : tensor<f32> : tensor<f32>
  %five = graph.constant dense<5.0> : tensor<f32> : tensor<f32>
  %six = graph.constant dense<6.0> : tensor<f32> : tensor<f32>
  %a = graph.add %x, %three : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %b = graph.relu %a : (tensor<8xf32>) -> tensor<8xf32>
  %c = graph.minimum %b, %five : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %d = graph.mul %x, %c : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %y = graph.div %d, %six : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// Mish: x * tanh(log(1 + exp(x)))
// CHECK-LABEL: @mish(
// CHECK-NEXT: %[[Y:.*]] = graph.mish %arg0
// CHECK-NEXT: return %[[Y]]
func.func @mish(%x: tensor<8xf32>) -> tensor<8xf32> {
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %e = graph.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %p = graph.add %one, %e : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %l = graph.log %p : (tensor<8xf32>) -> tensor<8xf32>
  %t = graph.tanh %l : (tensor<8xf32>) -> tensor<8xf32>
  %y = graph.mul %x, %t : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// 0.166 is not 1 / 6 in f16, which has 11 bits of precision.
// CHECK-LABEL: @narrow_hard_swish(
// CHECK: graph.hard_swish %arg0
// CHECK-NOT: hard_swish
// CHECK: return
func.func @narrow_hard_swish(%x: tensor<8xf16>) -> (tensor<8xf16>, tensor<8xf16>) {
  %three = graph.constant dense<3.0> : tensor<f16> : tensor<f16>
  %none = graph.constant dense<0.0> : tensor<f16> : tensor<f16>
  %six = graph.constant dense<6.0> : tensor<f16> : tensor<f16>
  %sixth = graph.constant dense<0.16666> : tensor<f16> : tensor<f16>
  %about = graph.constant dense<0.166> : tensor<f16> : tensor<f16>
  %a = graph.add %x, %three : (tensor<8xf16>, tensor<f16>) -> tensor<8xf16>
  %b = graph.maximum %a, %none : (tensor<8xf16>, tensor<f16>) -> tensor<8xf16>
  %c = graph.minimum %b, %six : (tensor<8xf16>, tensor<f16>) -> tensor<8xf16>
  %d = graph.mul %c, %sixth : (tensor<8xf16>, tensor<f16>) -> tensor<8xf16>
  %y = graph.mul %x, %d : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  %e = graph.add %x, %three : (tensor<8xf16>, tensor<f16>) -> tensor<8xf16>
  %f = graph.maximum %e, %none : (tensor<8xf16>, tensor<f16>) -> tensor<8xf16>
  %g = graph.minimum %f, %six : (tensor<8xf16>, tensor<f16>) -> tensor<8xf16>
  %h = graph.mul %g, %about : (tensor<8xf16>, tensor<f16>) -> tensor<8xf16>
  %z = graph.mul %x, %h : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  return %y, %z : tensor<8xf16>, tensor<8xf16>
}
