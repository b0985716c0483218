// RUN: %ingot-opt %s -simplify-assign-layout | FileCheck %s
// RUN: %ingot-opt %s -simplify-assign-layout=strict=true | FileCheck %s --check-prefix=STRICT
// REQUIRES: ingot-opt

// A transpose moves after the operators that read it until it meets its
// inverse.
// CHECK-LABEL: @cancel(
// CHECK-NEXT: graph.relu %arg0 : (tensor<1x4x4x3xf32>)
// CHECK-NEXT: return
func.func @cancel(%x: tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32> {
  %t = graph.transpose %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32>
  %r = graph.relu %t : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %u = graph.transpose %r {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x4x4x3xf32>
  return %u : tensor<1x4x4x3xf32>
}

// If both operands have the same transpose, the transpose moves after the
// operator.
// CHECK-LABEL: @residual(
// CHECK-NEXT: graph.add %arg0, %arg1
// CHECK-NEXT: return
func.func @residual(%x: tensor<1x4x4x3xf32>, %y: tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32> {
  %t = graph.transpose %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32>
  %s = graph.transpose %y {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32>
  %r = graph.add %t, %s : (tensor<1x3x4x4xf32>, tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %u = graph.transpose %r {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x4x4x3xf32>
  return %u : tensor<1x4x4x3xf32>
}

// A transpose stays where moving it saves nothing, and the pass terminates.
// CHECK-LABEL: @not_worth(
// CHECK-NEXT: graph.transpose %arg0
// CHECK-NEXT: graph.add
// CHECK-NEXT: return
func.func @not_worth(%x: tensor<1x4x4x3xf32>, %y: tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> {
  %t = graph.transpose %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32>
  %r = graph.add %t, %y : (tensor<1x3x4x4xf32>, tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  return %r : tensor<1x3x4x4xf32>
}

// When a transpose moves after an operator, an operand of lower rank gets
// leading axes of size 1 before it is permuted. Here the permutation is a
// reshape.
// CHECK-LABEL: @broadcast(
// CHECK: %[[C:.*]] = graph.reshape {{.*}} -> tensor<1x1x1x3xf32>
// CHECK-NEXT: graph.mul %arg0, %[[C]] : (tensor<1x4x4x3xf32>, tensor<1x1x1x3xf32>)
// CHECK-NEXT: return
func.func @broadcast(%x: tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32> {
  %c = graph.constant dense<[[[1.0]], [[2.0]], [[3.0]]]> : tensor<3x1x1xf32> : tensor<3x1x1xf32>
  %t = graph.transpose %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32>
  %r = graph.mul %t, %c : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %u = graph.transpose %r {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x4x4x3xf32>
  return %u : tensor<1x4x4x3xf32>
}

// When a transpose moves after a concatenation, the axis of the concatenation
// is permuted.
// CHECK-LABEL: @concat(
// CHECK-NEXT: graph.concat %arg0, %arg1 {axis = 3
// CHECK-NEXT: return
func.func @concat(%x: tensor<1x4x4x3xf32>, %y: tensor<1x4x4x5xf32>) -> tensor<1x4x4x8xf32> {
  %t = graph.transpose %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32>
  %s = graph.transpose %y {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x5xf32>) -> tensor<1x5x4x4xf32>
  %r = graph.concat %t, %s {axis = 1 : i64} : (tensor<1x3x4x4xf32>, tensor<1x5x4x4xf32>) -> tensor<1x8x4x4xf32>
  %u = graph.transpose %r {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x8x4x4xf32>) -> tensor<1x4x4x8xf32>
  return %u : tensor<1x4x4x8xf32>
}

// A transpose before a flattening and a matrix multiplication is removed: the
// rows of the constant weights are permuted instead.
// CHECK-LABEL: @flatten(
// CHECK: %[[W3:.*]] = graph.reshape {{.*}} -> tensor<3x2x2x10xf32>
// CHECK-NEXT: %[[T:.*]] = graph.transpose %[[W3]] {perm = array<i64: 1, 2, 0, 3>}
// CHECK-NEXT: %[[W:.*]] = graph.reshape %[[T]] {{.*}} -> tensor<12x10xf32>
// CHECK-NEXT: %[[X:.*]] = graph.reshape %arg0
// CHECK-NEXT: graph.matmul %[[X]], %[[W]]
func.func @flatten(%x: tensor<1x2x2x3xf32>) -> tensor<1x10xf32> {
  %w = graph.constant dense<1.0> : tensor<12x10xf32> : tensor<12x10xf32>
  %t = graph.transpose %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x2x2x3xf32>) -> tensor<1x3x2x2xf32>
  %f = graph.reshape %t : (tensor<1x3x2x2xf32>) -> tensor<1x12xf32>
  %y = graph.matmul %f, %w : (tensor<1x12xf32>, tensor<12x10xf32>) -> tensor<1x10xf32>
  return %y : tensor<1x10xf32>
}

// A transpose that only moves axes of size 1 becomes a reshape.
// CHECK-LABEL: @ones(
// CHECK-NEXT: graph.reshape %arg0
// CHECK-NEXT: return
func.func @ones(%x: tensor<1x1x8x8xf32>) -> tensor<1x8x8x1xf32> {
  %t = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x1x8x8xf32>) -> tensor<1x8x8x1xf32>
  return %t : tensor<1x8x8x1xf32>
}

// A transpose moves after an operator with a large constant, whose transpose
// will be folded. The pass does not move the transpose back because the
// constant is larger, and terminates.
// CHECK-LABEL: @small_beside_large_constant(
// CHECK: graph.less_or_equal
// CHECK: return
func.func @small_beside_large_constant(%x: tensor<1x2x3x4xf32>) -> tensor<8x4x2x3xi1> {
  %c = graph.constant dense<1.0> : tensor<8x4x2x3xf32> : tensor<8x4x2x3xf32>
  %t = graph.transpose %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x2x3x4xf32>) -> tensor<1x4x2x3xf32>
  %y = graph.less_or_equal %t, %c : (tensor<1x4x2x3xf32>, tensor<8x4x2x3xf32>) -> tensor<8x4x2x3xi1>
  return %y : tensor<8x4x2x3xi1>
}

// A transpose moves after an operator even if the other operand, which has no
// elements, must be transposed for it.
// CHECK-LABEL: @nothing(
// CHECK: graph.transpose %arg1
// CHECK: graph.mul %{{.*}} : (tensor<1x1x1x8xf32>, tensor<0x4x4x8xf32>) -> tensor<0x4x4x8xf32>
func.func @nothing(%x: tensor<1x1x1x8xf32>, %n: tensor<0x8x4x4xf32>) -> tensor<0x8x4x4xf32> {
  %t = graph.transpose %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x1x1x8xf32>) -> tensor<1x8x1x1xf32>
  %y = graph.mul %t, %n : (tensor<1x8x1x1xf32>, tensor<0x8x4x4xf32>) -> tensor<0x8x4x4xf32>
  return %y : tensor<0x8x4x4xf32>
}

// A transpose moves after a reshape that merges axes which the transpose leaves
// adjacent, and then meets its inverse.
// CHECK-LABEL: @through_reshape(
// CHECK-NEXT: %[[R:.*]] = graph.reshape %arg0 : (tensor<1x8x4x16xf32>) -> tensor<1x32x16xf32>
// CHECK-NEXT: graph.exp %[[R]]
// CHECK-NEXT: return
func.func @through_reshape(%x: tensor<1x8x4x16xf32>) -> tensor<1x32x16xf32> {
  %a = graph.transpose %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x8x4x16xf32>) -> tensor<1x16x8x4xf32>
  %b = graph.reshape %a : (tensor<1x16x8x4xf32>) -> tensor<1x16x32xf32>
  %c = graph.exp %b : (tensor<1x16x32xf32>) -> tensor<1x16x32xf32>
  %d = graph.transpose %c {perm = array<i64: 0, 2, 1>} : (tensor<1x16x32xf32>) -> tensor<1x32x16xf32>
  return %d : tensor<1x32x16xf32>
}

// Transposes stay before a returned concatenation, whose operands are
// transposed while they are written to it. A transpose after the concatenation
// would be a pass over the whole tensor.
// CHECK-LABEL: @returned_concat(
// CHECK-COUNT-2: graph.transpose
// CHECK-NEXT: %[[C:.*]] = graph.concat
// CHECK-NEXT: return %[[C]]
func.func @returned_concat(%x: tensor<1x8x4x16xf32>, %y: tensor<1x8x4x16xf32>) -> tensor<1x32x8x4xf32> {
  %a = graph.transpose %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x8x4x16xf32>) -> tensor<1x16x8x4xf32>
  %b = graph.transpose %y {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x8x4x16xf32>) -> tensor<1x16x8x4xf32>
  %c = graph.concat %a, %b {axis = 1 : i64} : (tensor<1x16x8x4xf32>, tensor<1x16x8x4xf32>) -> tensor<1x32x8x4xf32>
  return %c : tensor<1x32x8x4xf32>
}

// A transpose of height and width moves after a 1x1 convolution that reduces
// the number of channels, because then fewer elements are transposed.
// CHECK-LABEL: @behind_pointwise(
// CHECK: %[[C:.*]] = graph.conv %arg0{{.*}} -> tensor<1x8x4x1xf32>
// CHECK-NEXT: graph.transpose %[[C]] {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x8x4x1xf32>) -> tensor<1x4x8x1xf32>
func.func @behind_pointwise(%x: tensor<1x8x4x16xf32>) -> tensor<1x4x8x1xf32> {
  %w = graph.constant dense<0.5> : tensor<1x1x16x1xf32> : tensor<1x1x16x1xf32>
  %t = graph.transpose %x {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x8x4x16xf32>) -> tensor<1x4x8x16xf32>
  %y = graph.conv %t, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x8x16xf32>, tensor<1x1x16x1xf32>) -> tensor<1x4x8x1xf32>
  return %y : tensor<1x4x8x1xf32>
}

// A transpose stays before a convolution with a larger window than 1x1.
// CHECK-LABEL: @before_window(
// CHECK: graph.transpose %arg0
// CHECK-NEXT: graph.conv
func.func @before_window(%x: tensor<1x8x4x16xf32>) -> tensor<1x4x8x1xf32> {
  %w = graph.constant dense<0.5> : tensor<1x3x16x1xf32> : tensor<1x3x16x1xf32>
  %t = graph.transpose %x {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x8x4x16xf32>) -> tensor<1x4x8x16xf32>
  %y = graph.conv %t, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 1>, groups = 1 : i64} : (tensor<1x4x8x16xf32>, tensor<1x3x16x1xf32>) -> tensor<1x4x8x1xf32>
  return %y : tensor<1x4x8x1xf32>
}

// A normalization of whole images does not depend on the order of their
// elements, so the transposes around it are removed. With --strict they stay,
// because the elements are summed in the order of the model.
// CHECK-LABEL: @norm(
// CHECK-NEXT: %[[FLAT:.*]] = graph.reshape %arg0 : (tensor<2x4x5x3xf32>) -> tensor<2x1x60xf32>
// CHECK-NEXT: %[[NORM:.*]] = graph.layer_norm %[[FLAT]]
// CHECK-NEXT: %[[SUM:.*]] = graph.add %[[NORM]], %arg1
// CHECK-NEXT: %[[BACK:.*]] = graph.reshape %[[SUM]] : (tensor<2x1x60xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: graph.relu %[[BACK]]
// CHECK-NEXT: return
// STRICT-LABEL: @norm(
// STRICT-NEXT: graph.transpose %arg0
func.func @norm(%x: tensor<2x4x5x3xf32>, %c: tensor<1x1x1xf32>) -> tensor<2x4x5x3xf32> {
  %t = graph.transpose %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
  %f = graph.reshape %t : (tensor<2x3x4x5xf32>) -> tensor<2x1x60xf32>
  %n = graph.layer_norm %f {center = true, epsilon = 1.0e-05 : f32} : (tensor<2x1x60xf32>) -> tensor<2x1x60xf32>
  %a = graph.add %n, %c : (tensor<2x1x60xf32>, tensor<1x1x1xf32>) -> tensor<2x1x60xf32>
  %b = graph.reshape %a : (tensor<2x1x60xf32>) -> tensor<2x3x4x5xf32>
  %r = graph.relu %b : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %u = graph.transpose %r {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  return %u : tensor<2x4x5x3xf32>
}

// The pass visits each value after a normalization only once: here, 2^40 paths
// lead from the normalization to the result.
// CHECK-LABEL: @norm_doubled(
// CHECK-NEXT: %[[FLAT:.*]] = graph.reshape %arg0
// CHECK-NEXT: %[[NORM:.*]] = graph.layer_norm %[[FLAT]]
// CHECK-COUNT-40: graph.add
// CHECK-NEXT: %[[BACK:.*]] = graph.reshape {{.*}} -> tensor<1x4x5x3xf32>
// CHECK-NEXT: %[[T:.*]] = graph.transpose %[[BACK]]
// CHECK-NEXT: return %[[T]]
func.func @norm_doubled(%x: tensor<1x4x5x3xf32>) -> tensor<1x3x4x5xf32> {
  %t = graph.transpose %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x5x3xf32>) -> tensor<1x3x4x5xf32>
  %f = graph.reshape %t : (tensor<1x3x4x5xf32>) -> tensor<1x1x60xf32>
  %n = graph.layer_norm %f {center = true, epsilon = 1.0e-05 : f32} : (tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s0 = graph.add %n, %n : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s1 = graph.add %s0, %s0 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s2 = graph.add %s1, %s1 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s3 = graph.add %s2, %s2 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s4 = graph.add %s3, %s3 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s5 = graph.add %s4, %s4 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s6 = graph.add %s5, %s5 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s7 = graph.add %s6, %s6 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s8 = graph.add %s7, %s7 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s9 = graph.add %s8, %s8 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s10 = graph.add %s9, %s9 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s11 = graph.add %s10, %s10 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s12 = graph.add %s11, %s11 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s13 = graph.add %s12, %s12 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s14 = graph.add %s13, %s13 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s15 = graph.add %s14, %s14 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s16 = graph.add %s15, %s15 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s17 = graph.add %s16, %s16 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s18 = graph.add %s17, %s17 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s19 = graph.add %s18, %s18 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s20 = graph.add %s19, %s19 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s21 = graph.add %s20, %s20 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s22 = graph.add %s21, %s21 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s23 = graph.add %s22, %s22 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s24 = graph.add %s23, %s23 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s25 = graph.add %s24, %s24 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s26 = graph.add %s25, %s25 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s27 = graph.add %s26, %s26 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s28 = graph.add %s27, %s27 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s29 = graph.add %s28, %s28 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s30 = graph.add %s29, %s29 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s31 = graph.add %s30, %s30 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s32 = graph.add %s31, %s31 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s33 = graph.add %s32, %s32 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s34 = graph.add %s33, %s33 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s35 = graph.add %s34, %s34 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s36 = graph.add %s35, %s35 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s37 = graph.add %s36, %s36 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s38 = graph.add %s37, %s37 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %s39 = graph.add %s38, %s38 : (tensor<1x1x60xf32>, tensor<1x1x60xf32>) -> tensor<1x1x60xf32>
  %b = graph.reshape %s39 : (tensor<1x1x60xf32>) -> tensor<1x3x4x5xf32>
  return %b : tensor<1x3x4x5xf32>
}

// Transposes around a normalization of groups of channels, or across images,
// stay, because the transpose changes which elements are normalized together.
// CHECK-LABEL: @norm_of_groups(
// CHECK-NEXT: graph.transpose %arg0
// CHECK-LABEL: @norm_of_images(
// CHECK: %[[T:.*]] = graph.transpose
// CHECK-NEXT: graph.layer_norm %[[T]]
func.func @norm_of_groups(%x: tensor<2x4x5x6xf32>) -> tensor<2x6x4x5xf32> {
  %t = graph.transpose %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<2x4x5x6xf32>) -> tensor<2x6x4x5xf32>
  %f = graph.reshape %t : (tensor<2x6x4x5xf32>) -> tensor<2x3x40xf32>
  %n = graph.layer_norm %f {center = true, epsilon = 1.0e-05 : f32} : (tensor<2x3x40xf32>) -> tensor<2x3x40xf32>
  %b = graph.reshape %n : (tensor<2x3x40xf32>) -> tensor<2x6x4x5xf32>
  return %b : tensor<2x6x4x5xf32>
}
func.func @norm_of_images(%x: tensor<3x4x5x2xf32>) -> tensor<2x3x4x5xf32> {
  %t = graph.transpose %x {perm = array<i64: 3, 0, 1, 2>} : (tensor<3x4x5x2xf32>) -> tensor<2x3x4x5xf32>
  %f = graph.reshape %t : (tensor<2x3x4x5xf32>) -> tensor<2x1x60xf32>
  %n = graph.layer_norm %f {center = true, epsilon = 1.0e-05 : f32} : (tensor<2x1x60xf32>) -> tensor<2x1x60xf32>
  %b = graph.reshape %n : (tensor<2x1x60xf32>) -> tensor<2x3x4x5xf32>
  return %b : tensor<2x3x4x5xf32>
}
