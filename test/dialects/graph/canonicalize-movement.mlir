// Operators that only move elements, which canonicalization merges or removes.
//
// RUN: %ingot-opt %s -canonicalize | FileCheck %s
// REQUIRES: ingot-opt

// A slice that lies in one operand of a concatenation reads that operand.
// CHECK-LABEL: @slice_of_concat(
// CHECK-NEXT: graph.slice %arg1 {starts = array<i64: 0, 1>, steps = array<i64: 1, 2>} : (tensor<2x5xf32>) -> tensor<2x2xf32>
// CHECK-NEXT: return
func.func @slice_of_concat(%a: tensor<2x3xf32>, %b: tensor<2x5xf32>) -> tensor<2x2xf32> {
  %c = graph.concat %a, %b {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
  %s = graph.slice %c {starts = array<i64: 0, 4>, steps = array<i64: 1, 2>} : (tensor<2x8xf32>) -> tensor<2x2xf32>
  return %s : tensor<2x2xf32>
}

// Slices at the boundaries between the operands of a concatenation become the
// operands.
// CHECK-LABEL: @split_of_concat(
// CHECK-NEXT: return %arg0, %arg1
func.func @split_of_concat(%a: tensor<2x3xf32>, %b: tensor<2x5xf32>) -> (tensor<2x3xf32>, tensor<2x5xf32>) {
  %c = graph.concat %a, %b {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
  %s = graph.slice %c {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x3xf32>
  %t = graph.slice %c {starts = array<i64: 0, 3>, steps = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x5xf32>
  return %s, %t : tensor<2x3xf32>, tensor<2x5xf32>
}

// A slice that reads several operands of a concatenation drops the operands
// that it does not read.
// CHECK-LABEL: @slice_across(
// CHECK-NEXT: %[[C:.*]] = graph.concat %arg1, %arg2
// CHECK-NEXT: graph.slice %[[C]] {starts = array<i64: 1>, steps = array<i64: 1>}
func.func @slice_across(%a: tensor<3xf32>, %b: tensor<3xf32>, %d: tensor<3xf32>) -> tensor<4xf32> {
  %c = graph.concat %a, %b, %d {axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<9xf32>
  %s = graph.slice %c {starts = array<i64: 4>, steps = array<i64: 1>} : (tensor<9xf32>) -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// If another operator also reads the whole concatenation, the slice builds no
// concatenation of fewer operands.
// CHECK-LABEL: @slice_across_shared(
// CHECK-NEXT: %[[C:.*]] = graph.concat %arg0, %arg1, %arg2
// CHECK-NEXT: graph.slice %[[C]] {starts = array<i64: 4>
func.func @slice_across_shared(%a: tensor<3xf32>, %b: tensor<3xf32>, %d: tensor<3xf32>) -> (tensor<4xf32>, tensor<9xf32>) {
  %c = graph.concat %a, %b, %d {axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<9xf32>
  %s = graph.slice %c {starts = array<i64: 4>, steps = array<i64: 1>} : (tensor<9xf32>) -> tensor<4xf32>
  return %s, %c : tensor<4xf32>, tensor<9xf32>
}

// Adjacent slices of one tensor become one slice.
// CHECK-LABEL: @concat_of_slices(
// CHECK-NEXT: graph.slice %arg0 {starts = array<i64: 1, 0>, steps = array<i64: 1, 1>} : (tensor<8x2xf32>) -> tensor<5x2xf32>
// CHECK-NEXT: return
func.func @concat_of_slices(%x: tensor<8x2xf32>) -> tensor<5x2xf32> {
  %a = graph.slice %x {starts = array<i64: 1, 0>, steps = array<i64: 1, 1>} : (tensor<8x2xf32>) -> tensor<2x2xf32>
  %b = graph.slice %x {starts = array<i64: 3, 0>, steps = array<i64: 1, 1>} : (tensor<8x2xf32>) -> tensor<3x2xf32>
  %c = graph.concat %a, %b {axis = 0 : i64} : (tensor<2x2xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
  return %c : tensor<5x2xf32>
}

// Slices that are concatenated in the opposite order (a rotation) are not
// adjacent, so they stay.
// CHECK-LABEL: @rotation(
// CHECK: graph.concat
func.func @rotation(%x: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %a = graph.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<8x2xf32>) -> tensor<4x2xf32>
  %b = graph.slice %x {starts = array<i64: 4, 0>, steps = array<i64: 1, 1>} : (tensor<8x2xf32>) -> tensor<4x2xf32>
  %c = graph.concat %b, %a {axis = 0 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  return %c : tensor<8x2xf32>
}

// CHECK-LABEL: @slice_of_slice(
// CHECK-NEXT: graph.slice %arg0 {starts = array<i64: 4>, steps = array<i64: 4>}
// CHECK-NEXT: return
func.func @slice_of_slice(%x: tensor<16xf32>) -> tensor<3xf32> {
  %a = graph.slice %x {starts = array<i64: 2>, steps = array<i64: 2>} : (tensor<16xf32>) -> tensor<6xf32>
  %b = graph.slice %a {starts = array<i64: 1>, steps = array<i64: 2>} : (tensor<6xf32>) -> tensor<3xf32>
  return %b : tensor<3xf32>
}

// CHECK-LABEL: @concat_of_concat(
// CHECK-NEXT: graph.concat %arg0, %arg0, %arg0
// CHECK-NEXT: return
func.func @concat_of_concat(%x: tensor<4xf32>) -> tensor<12xf32> {
  %one = graph.concat %x {axis = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %a = graph.concat %one, %x {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %b = graph.concat %a, %x {axis = 0 : i64} : (tensor<8xf32>, tensor<4xf32>) -> tensor<12xf32>
  return %b : tensor<12xf32>
}

// Two transposes become one, even with a reshape in between that only adds and
// removes axes of size 1. This is K^T of an attention.
// CHECK-LABEL: @transposes(
// CHECK-NEXT: graph.transpose %arg0 {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x128x12x64xf32>) -> tensor<1x12x64x128xf32>
// CHECK-NEXT: return
func.func @transposes(%x: tensor<1x128x12x64xf32>) -> tensor<1x12x64x128xf32> {
  %a = graph.transpose %x {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x128x12x64xf32>) -> tensor<1x12x128x64xf32>
  %b = graph.reshape %a : (tensor<1x12x128x64xf32>) -> tensor<12x128x64xf32>
  %c = graph.transpose %b {perm = array<i64: 0, 2, 1>} : (tensor<12x128x64xf32>) -> tensor<12x64x128xf32>
  %d = graph.reshape %c : (tensor<12x64x128xf32>) -> tensor<1x12x64x128xf32>
  return %d : tensor<1x12x64x128xf32>
}

// A reshape that merges axes that are adjacent before the transpose moves
// before it. Here the positions of a channels-last image become one axis.
// CHECK-LABEL: @merged_neighbours(
// CHECK-NEXT: %[[R:.*]] = graph.reshape %arg0 : (tensor<1x8x4x16xf32>) -> tensor<1x32x16xf32>
// CHECK-NEXT: %[[T:.*]] = graph.transpose %[[R]] {perm = array<i64: 0, 2, 1>} : (tensor<1x32x16xf32>) -> tensor<1x16x32xf32>
// CHECK-NEXT: return %[[T]]
func.func @merged_neighbours(%x: tensor<1x8x4x16xf32>) -> tensor<1x16x32xf32> {
  %a = graph.transpose %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x8x4x16xf32>) -> tensor<1x16x8x4xf32>
  %b = graph.reshape %a : (tensor<1x16x8x4xf32>) -> tensor<1x16x32xf32>
  return %b : tensor<1x16x32xf32>
}

// A reshape that splits an axis moves before a transpose as well.
// CHECK-LABEL: @split_axis(
// CHECK-NEXT: %[[R:.*]] = graph.reshape %arg0 : (tensor<1x32x64xf32>) -> tensor<1x32x4x16xf32>
// CHECK-NEXT: %[[T:.*]] = graph.transpose %[[R]] {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x32x4x16xf32>) -> tensor<1x4x16x32xf32>
// CHECK-NEXT: return %[[T]]
func.func @split_axis(%x: tensor<1x32x64xf32>) -> tensor<1x4x16x32xf32> {
  %a = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<1x32x64xf32>) -> tensor<1x64x32xf32>
  %b = graph.reshape %a : (tensor<1x64x32xf32>) -> tensor<1x4x16x32xf32>
  return %b : tensor<1x4x16x32xf32>
}

// A reshape that merges axes in an order other than the stored one keeps
// transposes apart.
// CHECK-LABEL: @merged_axes(
// CHECK: graph.transpose
// CHECK: graph.reshape
// CHECK: graph.transpose
func.func @merged_axes(%x: tensor<2x3x4xf32>) -> tensor<4x6xf32> {
  %a = graph.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %b = graph.reshape %a : (tensor<3x2x4xf32>) -> tensor<6x4xf32>
  %c = graph.transpose %b {perm = array<i64: 1, 0>} : (tensor<6x4xf32>) -> tensor<4x6xf32>
  return %c : tensor<4x6xf32>
}

// A reshape between a matrix product and a residual sum moves after the sum, so
// that product and sum can be computed together.
// CHECK-LABEL: @sum_behind_reshape(
// CHECK-NEXT: %[[P:.*]] = graph.matmul %arg0, %arg1
// CHECK-NEXT: %[[B:.*]] = graph.add %[[P]], %arg2
// CHECK-NEXT: %[[R:.*]] = graph.reshape %arg3 : (tensor<1x5x4xf32>) -> tensor<5x4xf32>
// CHECK-NEXT: %[[S:.*]] = graph.add %[[B]], %[[R]]
// CHECK-NEXT: graph.reshape %[[S]] : (tensor<5x4xf32>) -> tensor<1x5x4xf32>
func.func @sum_behind_reshape(%x: tensor<5x8xf32>, %w: tensor<8x4xf32>, %bias: tensor<4xf32>, %y: tensor<1x5x4xf32>) -> tensor<1x5x4xf32> {
  %p = graph.matmul %x, %w : (tensor<5x8xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
  %r = graph.reshape %p : (tensor<5x4xf32>) -> tensor<1x5x4xf32>
  %b = graph.add %r, %bias : (tensor<1x5x4xf32>, tensor<4xf32>) -> tensor<1x5x4xf32>
  %s = graph.add %b, %y : (tensor<1x5x4xf32>, tensor<1x5x4xf32>) -> tensor<1x5x4xf32>
  return %s : tensor<1x5x4xf32>
}

// A reshaped function argument is stored anyway, so its reshape stays before
// the sum.
// CHECK-LABEL: @sum_of_stored(
// CHECK-NEXT: %[[R:.*]] = graph.reshape %arg0
// CHECK-NEXT: graph.add %[[R]], %arg1
func.func @sum_of_stored(%x: tensor<5x4xf32>, %y: tensor<1x5x4xf32>) -> tensor<1x5x4xf32> {
  %r = graph.reshape %x : (tensor<5x4xf32>) -> tensor<1x5x4xf32>
  %s = graph.add %r, %y : (tensor<1x5x4xf32>, tensor<1x5x4xf32>) -> tensor<1x5x4xf32>
  return %s : tensor<1x5x4xf32>
}

// Slices of a transposed tensor become transposes of slices, so that each
// operator that reads a slice moves only the elements of that slice.
// CHECK-LABEL: @slices_of_transpose(
// CHECK-NEXT: %[[A:.*]] = graph.slice %arg0 {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<4x6xf32>) -> tensor<4x2xf32>
// CHECK-NEXT: %[[TA:.*]] = graph.transpose %[[A]]
// CHECK-NEXT: %[[B:.*]] = graph.slice %arg0 {starts = array<i64: 0, 2>, steps = array<i64: 1, 1>} : (tensor<4x6xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: %[[TB:.*]] = graph.transpose %[[B]]
// CHECK-NEXT: return %[[TA]], %[[TB]]
func.func @slices_of_transpose(%x: tensor<4x6xf32>) -> (tensor<2x4xf32>, tensor<4x4xf32>) {
  %t = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %a = graph.slice %t {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<6x4xf32>) -> tensor<2x4xf32>
  %b = graph.slice %t {starts = array<i64: 2, 0>, steps = array<i64: 1, 1>} : (tensor<6x4xf32>) -> tensor<4x4xf32>
  return %a, %b : tensor<2x4xf32>, tensor<4x4xf32>
}

// A transpose whose whole result is also read has to be computed anyway.
// CHECK-LABEL: @slice_of_read_transpose(
// CHECK-NEXT: %[[T:.*]] = graph.transpose %arg0
// CHECK-NEXT: graph.slice %[[T]]
func.func @slice_of_read_transpose(%x: tensor<4x6xf32>) -> (tensor<2x4xf32>, tensor<6x4xf32>) {
  %t = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %a = graph.slice %t {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<6x4xf32>) -> tensor<2x4xf32>
  return %a, %t : tensor<2x4xf32>, tensor<6x4xf32>
}

// A reshape that splits a sliced axis moves before the slice, where it is a
// view of a stored tensor. Here the slice is the three query heads of an
// attention.
// CHECK-LABEL: @reshape_of_slice(
// CHECK-NEXT: %[[V:.*]] = graph.reshape %arg0 : (tensor<197x576xf32>) -> tensor<197x9x64xf32>
// CHECK-NEXT: graph.slice %[[V]] {starts = array<i64: 0, 3, 0>, steps = array<i64: 1, 1, 1>} : (tensor<197x9x64xf32>) -> tensor<197x3x64xf32>
// CHECK-NEXT: return
func.func @reshape_of_slice(%x: tensor<197x576xf32>) -> tensor<197x3x64xf32> {
  %s = graph.slice %x {starts = array<i64: 0, 192>, steps = array<i64: 1, 1>} : (tensor<197x576xf32>) -> tensor<197x192xf32>
  %r = graph.reshape %s : (tensor<197x192xf32>) -> tensor<197x3x64xf32>
  return %r : tensor<197x3x64xf32>
}

// A reshape into heads of 64 elements does not move before a slice that starts
// at element 100, within a head.
// CHECK-LABEL: @reshape_of_odd_slice(
// CHECK-NEXT: graph.slice %arg0
// CHECK-NEXT: graph.reshape
func.func @reshape_of_odd_slice(%x: tensor<197x576xf32>) -> tensor<197x3x64xf32> {
  %s = graph.slice %x {starts = array<i64: 0, 100>, steps = array<i64: 1, 1>} : (tensor<197x576xf32>) -> tensor<197x192xf32>
  %r = graph.reshape %s : (tensor<197x192xf32>) -> tensor<197x3x64xf32>
  return %r : tensor<197x3x64xf32>
}

// A reshape that merges axes does not move before a slice along an inner one of
// them.
// CHECK-LABEL: @merged_behind_others(
// CHECK-NEXT: graph.slice %arg0
// CHECK-NEXT: graph.reshape
func.func @merged_behind_others(%x: tensor<2x8xf32>) -> tensor<8xf32> {
  %s = graph.slice %x {starts = array<i64: 0, 4>, steps = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %r = graph.reshape %s : (tensor<2x4xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// A gather by constant indices at equal distances, which may count from the
// end, becomes a slice.
// CHECK-LABEL: @gather_of_range(
// CHECK-NEXT: graph.slice %arg0 {starts = array<i64: 0, 4>, steps = array<i64: 1, -2>} : (tensor<2x5xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: return
func.func @gather_of_range(%x: tensor<2x5xf32>) -> tensor<2x3xf32> {
  %i = graph.constant dense<[4, -3, 0]> : tensor<3xsi64> : tensor<3xsi64>
  %y = graph.gather %x, %i {axis = 1 : i64} : (tensor<2x5xf32>, tensor<3xsi64>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// A gather by one index along the first axis with more than one element becomes
// a slice, which is a view.
// CHECK-LABEL: @gather_of_one(
// CHECK-NEXT: %[[S:.*]] = graph.slice %arg0 {starts = array<i64: 0, 1, 0>
// CHECK-NEXT: graph.reshape %[[S]] : (tensor<1x1x4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT: return
func.func @gather_of_one(%x: tensor<1x3x4xf32>) -> tensor<1x4xf32> {
  %i = graph.constant dense<1> : tensor<si64> : tensor<si64>
  %y = graph.gather %x, %i {axis = 1 : i64} : (tensor<1x3x4xf32>, tensor<si64>) -> tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}

// A gather by one index along an inner axis stays, and becomes part of the
// kernel that reads its result.
// CHECK-LABEL: @gather_of_inner(
// CHECK: graph.gather
func.func @gather_of_inner(%x: tensor<3x4xf32>) -> tensor<3xf32> {
  %i = graph.constant dense<1> : tensor<si64> : tensor<si64>
  %y = graph.gather %x, %i {axis = 1 : i64} : (tensor<3x4xf32>, tensor<si64>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// CHECK-LABEL: @gather_of_others(
// CHECK: graph.gather
func.func @gather_of_others(%x: tensor<5xf32>) -> tensor<3xf32> {
  %i = graph.constant dense<[0, 1, 3]> : tensor<3xsi64> : tensor<3xsi64>
  %y = graph.gather %x, %i {axis = 0 : i64} : (tensor<5xf32>, tensor<3xsi64>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// Indices out of range are clamped, which repeats the last element, so this
// gather is no slice.
// CHECK-LABEL: @gather_beyond(
// CHECK: graph.gather
func.func @gather_beyond(%x: tensor<5xf32>) -> tensor<3xf32> {
  %i = graph.constant dense<[3, 4, 5]> : tensor<3xsi64> : tensor<3xsi64>
  %y = graph.gather %x, %i {axis = 0 : i64} : (tensor<5xf32>, tensor<3xsi64>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
