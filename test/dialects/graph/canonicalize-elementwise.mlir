// Elementwise operators, and reductions of single elements, that
// canonicalization removes. All of this holds under --strict: no bit of a
// result changes.
//
// RUN: %ingot-opt %s -canonicalize | FileCheck %s
// REQUIRES: ingot-opt

// CHECK-LABEL: @neutral(
// CHECK-NEXT: return %arg0
func.func @neutral(%x: tensor<4xf32>) -> tensor<4xf32> {
  %negative_zero = graph.constant dense<-0.0> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<4xf32> : tensor<4xf32>
  %a = graph.add %negative_zero, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.sub %a, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = graph.mul %one, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = graph.div %c, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = graph.pow %d, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %e : tensor<4xf32>
}

// x + 0.0 is 0.0 where x is -0.0, so the addition stays.
// CHECK-LABEL: @positive_zero(
// CHECK: graph.add
func.func @positive_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %a = graph.add %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}

// Integers have only one zero.
// CHECK-LABEL: @integer_zero(
// CHECK-NEXT: return %arg0
func.func @integer_zero(%x: tensor<4xsi32>) -> tensor<4xsi32> {
  %zero = graph.constant dense<0> : tensor<si32> : tensor<si32>
  %a = graph.add %x, %zero : (tensor<4xsi32>, tensor<si32>) -> tensor<4xsi32>
  return %a : tensor<4xsi32>
}

// A multiplication by ones stays if the ones determine the shape of the result.
// CHECK-LABEL: @neutral_broadcasts(
// CHECK: graph.mul
func.func @neutral_broadcasts(%x: tensor<f32>) -> tensor<4xf32> {
  %one = graph.constant dense<1.0> : tensor<4xf32> : tensor<4xf32>
  %a = graph.mul %x, %one : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}

// 1 - x and 1 / x are not x.
// CHECK-LABEL: @not_commutative(
// CHECK: graph.sub
// CHECK: graph.div
func.func @not_commutative(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %a = graph.sub %zero, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.div %one, %a : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}

// CHECK-LABEL: @power_of_two(
// CHECK-NEXT: %[[C:.*]] = graph.constant dense<1.250000e-01>
// CHECK-NEXT: graph.mul %arg0, %[[C]]
func.func @power_of_two(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = graph.constant dense<8.0> : tensor<f32> : tensor<f32>
  %y = graph.div %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// A division by 3 does not become a product with 1/3, which is not exact in
// floating point.
// CHECK-LABEL: @other_divisor(
// CHECK: graph.div
func.func @other_divisor(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = graph.constant dense<3.0> : tensor<f32> : tensor<f32>
  %y = graph.div %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @twice(
// CHECK-NEXT: %[[A:.*]] = graph.abs %arg0
// CHECK-NEXT: %[[R:.*]] = graph.relu %[[A]]
// CHECK-NEXT: %[[F:.*]] = graph.floor %[[R]]
// CHECK-NEXT: return %[[F]]
func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %n = graph.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %a = graph.abs %n : (tensor<4xf32>) -> tensor<4xf32>
  %r = graph.relu %a : (tensor<4xf32>) -> tensor<4xf32>
  %s = graph.relu %r : (tensor<4xf32>) -> tensor<4xf32>
  %t = graph.neg %s : (tensor<4xf32>) -> tensor<4xf32>
  %u = graph.neg %t : (tensor<4xf32>) -> tensor<4xf32>
  %f = graph.floor %u : (tensor<4xf32>) -> tensor<4xf32>
  %g = graph.floor %f : (tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// Only the tighter of two bounds stays.
// CHECK-LABEL: @bounds(
// CHECK-DAG: %[[ONE:.*]] = graph.constant dense<1.0
// CHECK-DAG: %[[FIVE:.*]] = graph.constant dense<5.0
// CHECK: %[[L:.*]] = graph.maximum %arg0, %[[ONE]]
// CHECK-NEXT: %[[H:.*]] = graph.minimum %[[L]], %[[FIVE]]
// CHECK-NEXT: return %[[H]]
func.func @bounds(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %five = graph.constant dense<5.0> : tensor<f32> : tensor<f32>
  %six = graph.constant dense<6.0> : tensor<f32> : tensor<f32>
  %a = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.minimum %a, %six : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = graph.maximum %b, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d = graph.minimum %c, %five : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// Values that were clipped to [0, 6] need no second bound by 0.
// CHECK-LABEL: @bounded_already(
// CHECK: graph.relu
// CHECK-NEXT: %[[M:.*]] = graph.minimum
// CHECK-NEXT: return %[[M]]
func.func @bounded_already(%x: tensor<4xf32>) -> tensor<4xf32> {
  %six = graph.constant dense<6.0> : tensor<f32> : tensor<f32>
  %a = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.minimum %a, %six : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = graph.relu %b : (tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}

// If bounds cross, the last one wins, so all three stay.
// CHECK-LABEL: @crossed(
// CHECK: graph.maximum
// CHECK-NEXT: graph.minimum
// CHECK-NEXT: graph.maximum
func.func @crossed(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %low = graph.constant dense<-1.0> : tensor<f32> : tensor<f32>
  %a = graph.maximum %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = graph.minimum %a, %low : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = graph.maximum %b, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}

// A lossless conversion and its inverse are removed, and two widening
// conversions become one.
// CHECK-LABEL: @casts(
// CHECK-NEXT: %[[C:.*]] = graph.cast %arg1 : (tensor<4xsi8>) -> tensor<4xsi64>
// CHECK-NEXT: return %arg0, %[[C]]
func.func @casts(%x: tensor<4xf16>, %i: tensor<4xsi8>) -> (tensor<4xf16>, tensor<4xsi64>) {
  %a = graph.cast %x : (tensor<4xf16>) -> tensor<4xf32>
  %b = graph.cast %a : (tensor<4xf32>) -> tensor<4xf16>
  %c = graph.cast %i : (tensor<4xsi8>) -> tensor<4xsi32>
  %d = graph.cast %c : (tensor<4xsi32>) -> tensor<4xsi64>
  return %b, %d : tensor<4xf16>, tensor<4xsi64>
}

// Conversions that round, and conversions of integers through floats that
// saturate, stay.
// CHECK-LABEL: @casts_that_lose(
// CHECK-COUNT-4: graph.cast
func.func @casts_that_lose(%x: tensor<4xf32>, %i: tensor<4xsi8>) -> (tensor<4xf32>, tensor<4xui8>) {
  %a = graph.cast %x : (tensor<4xf32>) -> tensor<4xf16>
  %b = graph.cast %a : (tensor<4xf16>) -> tensor<4xf32>
  %c = graph.cast %i : (tensor<4xsi8>) -> tensor<4xf32>
  %d = graph.cast %c : (tensor<4xf32>) -> tensor<4xui8>
  return %b, %d : tensor<4xf32>, tensor<4xui8>
}

// The expansion of an operand that the operator broadcasts implicitly is
// removed.
// CHECK-LABEL: @expanded(
// CHECK-NEXT: graph.add %arg0, %arg1 : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
func.func @expanded(%x: tensor<3x4xf32>, %y: tensor<4xf32>) -> tensor<3x4xf32> {
  %e = graph.expand %y : (tensor<4xf32>) -> tensor<3x4xf32>
  %a = graph.add %x, %e : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %a : tensor<3x4xf32>
}

// An expansion that determines the shape of the result stays.
// CHECK-LABEL: @expanded_result(
// CHECK: graph.expand
func.func @expanded_result(%x: tensor<1x4xf32>, %y: tensor<4xf32>) -> tensor<3x4xf32> {
  %e = graph.expand %y : (tensor<4xf32>) -> tensor<3x4xf32>
  %a = graph.add %x, %e : (tensor<1x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %a : tensor<3x4xf32>
}

// The sum of one element is that element.
// CHECK-LABEL: @single_elements(
// CHECK-NEXT: return %arg0
func.func @single_elements(%x: tensor<4x1x1xf32>) -> tensor<4x1x1xf32> {
  %y = graph.reduce_sum %x {axes = array<i64: 1, 2>} : (tensor<4x1x1xf32>) -> tensor<4x1x1xf32>
  return %y : tensor<4x1x1xf32>
}

// A reduction of several axes need not reduce an axis of size 1.
// CHECK-LABEL: @single_axis(
// CHECK-NEXT: graph.reduce_mean %arg0 {axes = array<i64: 0>}
func.func @single_axis(%x: tensor<4x1xf32>) -> tensor<1x1xf32> {
  %y = graph.reduce_mean %x {axes = array<i64: 0, 1>} : (tensor<4x1xf32>) -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

// The L2 norm of one element is not the element but its absolute value, so it
// stays.
// CHECK-LABEL: @single_norm(
// CHECK: graph.reduce_l2
func.func @single_norm(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %y = graph.reduce_l2 %x {axes = array<i64: 1>} : (tensor<4x1xf32>) -> tensor<4x1xf32>
  return %y : tensor<4x1xf32>
}

// If 0.0 is quantized to the smallest integer, quantization already clips
// negative values, so the relu before it is removed.
// CHECK-LABEL: @bound_of_quantized(
// CHECK: %[[R:.*]] = graph.relu %arg0
// CHECK: graph.quantize %arg0,
// CHECK: graph.quantize %[[R]],
func.func @bound_of_quantized(%x: tensor<4xf32>) -> (tensor<4xsi8>, tensor<4xsi8>) {
  %scale = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %least = graph.constant dense<-128> : tensor<si8> : tensor<si8>
  %other = graph.constant dense<-127> : tensor<si8> : tensor<si8>
  %r = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %a = graph.quantize %r, %scale, %least : (tensor<4xf32>, tensor<f32>, tensor<si8>) -> tensor<4xsi8>
  %b = graph.quantize %r, %scale, %other : (tensor<4xf32>, tensor<f32>, tensor<si8>) -> tensor<4xsi8>
  return %a, %b : tensor<4xsi8>, tensor<4xsi8>
}
