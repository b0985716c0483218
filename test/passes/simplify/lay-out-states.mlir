// RUN: %ingot-opt %s -simplify-lay-out-states -canonicalize | FileCheck %s
// RUN: %ingot-opt %s -simplify-lay-out-states=one-place=false -canonicalize | FileCheck %s --check-prefix=APART
// REQUIRES: ingot-opt

// A cache to which all entry functions append has memory for its largest size,
// here of the state "past" 11 rows, and new rows are appended in place. If
// several variants of a model share the state, the rows stay a concatenation,
// and the growing axis is the first axis in memory.
// CHECK-LABEL: @decode(
// CHECK-SAME: %[[PAST:.*]]: tensor<1x2x11x4xf32> {kernel.sizes = #kernel.sizes<"n" in 0 to 7 : 1, 2, s0, 4>, kernel.state = "past"}
// CHECK-SAME: -> (tensor<1x2x11x4xf32> {kernel.sizes = #kernel.sizes<"n" in 0 to 7 : 1, 2, s0 + 1, 4>, kernel.state = "past"}
// CHECK: %[[AT:.*]] = graph.sizes
// CHECK: %[[ALL:.*]] = graph.append %[[PAST]], %arg1, %[[AT]] {axis = 2 : i64}
// CHECK-SAME: -> tensor<1x2x11x4xf32>
// CHECK: %[[READ:.*]] = graph.slice %[[ALL]]
// CHECK-SAME: -> tensor<1x2x8x4xf32, #kernel.sizes<"n" in 0 to 7 : 1, 2, s0 + 1, 4>>
// CHECK: graph.reduce_sum %[[READ]]
// CHECK-NOT: graph.concat
// CHECK: return %[[ALL]],
// APART-LABEL: @decode(
// APART-SAME: tensor<7x1x2x4xf32, #kernel.sizes<"n" in 0 to 7 : s0, 1, 2, 4>> {{{.*}}kernel.state = "past"}
// APART-NOT: graph.append
// APART: graph.concat
func.func @decode(%flat: tensor<56xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8>>
                  {kernel.state = "past", kernel.sizes = #kernel.sizes<"n" in 0 to 7 : 1, 2, s0, 4>},
                  %new: tensor<1x2x1x4xf32>)
    -> (tensor<64xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8 + 8>>
        {kernel.state = "past", kernel.sizes = #kernel.sizes<"n" in 0 to 7 : 1, 2, s0 + 1, 4>}, tensor<1x2x1x4xf32>) {
  %past = graph.refill %flat : (tensor<56xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8>>) -> tensor<1x2x7x4xf32, #kernel.sizes<"n" in 0 to 7 : 1, 2, s0, 4>>
  %all = graph.concat %past, %new {axis = 2 : i64} : (tensor<1x2x7x4xf32, #kernel.sizes<"n" in 0 to 7 : 1, 2, s0, 4>>, tensor<1x2x1x4xf32>) -> tensor<1x2x8x4xf32, #kernel.sizes<"n" in 0 to 7 : 1, 2, s0 + 1, 4>>
  %sum = graph.reduce_sum %all {axes = array<i64: 2>} : (tensor<1x2x8x4xf32, #kernel.sizes<"n" in 0 to 7 : 1, 2, s0 + 1, 4>>) -> tensor<1x2x1x4xf32>
  %to = graph.refill %all : (tensor<1x2x8x4xf32, #kernel.sizes<"n" in 0 to 7 : 1, 2, s0 + 1, 4>>) -> tensor<64xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8 + 8>>
  return %to, %sum : tensor<64xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8 + 8>>, tensor<1x2x1x4xf32>
}

// CHECK-LABEL: @prompt(
// CHECK-SAME: tensor<1x2x11x4xf32>
// CHECK: graph.append %arg0, %arg1, {{.*}} {axis = 2 : i64}
// CHECK-SAME: -> tensor<1x2x11x4xf32>
func.func @prompt(%flat: tensor<56xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8>>
                  {kernel.state = "past", kernel.sizes = #kernel.sizes<"n" in 0 to 7 : 1, 2, s0, 4>},
                  %new: tensor<1x2x4x4xf32>)
    -> (tensor<88xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8 + 32>>
        {kernel.state = "past", kernel.sizes = #kernel.sizes<"n" in 0 to 7 : 1, 2, s0 + 4, 4>}) {
  %past = graph.refill %flat : (tensor<56xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8>>) -> tensor<1x2x7x4xf32, #kernel.sizes<"n" in 0 to 7 : 1, 2, s0, 4>>
  %all = graph.concat %past, %new {axis = 2 : i64} : (tensor<1x2x7x4xf32, #kernel.sizes<"n" in 0 to 7 : 1, 2, s0, 4>>, tensor<1x2x4x4xf32>) -> tensor<1x2x11x4xf32, #kernel.sizes<"n" in 0 to 7 : 1, 2, s0 + 4, 4>>
  %to = graph.refill %all : (tensor<1x2x11x4xf32, #kernel.sizes<"n" in 0 to 7 : 1, 2, s0 + 4, 4>>) -> tensor<88xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8 + 32>>
  return %to : tensor<88xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8 + 32>>
}

// A cache of transposed keys has the axis of its rows before the elements of a
// key.
// CHECK-LABEL: @transposed(
// CHECK-SAME: %[[PAST:.*]]: tensor<1x2x8x4xf32> {kernel.sizes = #kernel.sizes<"n" in 0 to 7 : 1, 2, s0, 4>
// CHECK: %[[ROWS:.*]] = graph.transpose %arg1 {perm = array<i64: 0, 1, 3, 2>}
// CHECK: %[[ALL:.*]] = graph.append %[[PAST]], %[[ROWS]], {{.*}} {axis = 2 : i64}
// CHECK: %[[READ:.*]] = graph.slice %[[ALL]]
// CHECK: graph.transpose %[[READ]] {perm = array<i64: 0, 1, 3, 2>}
func.func @transposed(%flat: tensor<56xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8>>
                  {kernel.state = "keys", kernel.sizes = #kernel.sizes<"n" in 0 to 7 : 1, 2, 4, s0>},
                  %new: tensor<1x2x4x1xf32>)
    -> (tensor<64xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8 + 8>>
        {kernel.state = "keys", kernel.sizes = #kernel.sizes<"n" in 0 to 7 : 1, 2, 4, s0 + 1>}, tensor<1x2x4x1xf32>) {
  %past = graph.refill %flat : (tensor<56xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8>>) -> tensor<1x2x4x7xf32, #kernel.sizes<"n" in 0 to 7 : 1, 2, 4, s0>>
  %all = graph.concat %past, %new {axis = 3 : i64} : (tensor<1x2x4x7xf32, #kernel.sizes<"n" in 0 to 7 : 1, 2, 4, s0>>, tensor<1x2x4x1xf32>) -> tensor<1x2x4x8xf32, #kernel.sizes<"n" in 0 to 7 : 1, 2, 4, s0 + 1>>
  %sum = graph.reduce_sum %all {axes = array<i64: 3>} : (tensor<1x2x4x8xf32, #kernel.sizes<"n" in 0 to 7 : 1, 2, 4, s0 + 1>>) -> tensor<1x2x4x1xf32>
  %to = graph.refill %all : (tensor<1x2x4x8xf32, #kernel.sizes<"n" in 0 to 7 : 1, 2, 4, s0 + 1>>) -> tensor<64xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8 + 8>>
  return %to, %sum : tensor<64xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8 + 8>>, tensor<1x2x4x1xf32>
}

// If a function only stores the state, the growing axis is the first axis.
// CHECK-LABEL: @encode(
// CHECK: %[[ROWS:.*]] = graph.transpose %arg0 {perm = array<i64: 2, 0, 1, 3>}
// CHECK: return %[[ROWS]] : tensor<3x1x2x4xf32>
func.func @encode(%x: tensor<1x2x3x4xf32>) -> (tensor<1x2x3x4xf32> {kernel.state = "shared"}) {
  return %x : tensor<1x2x3x4xf32>
}
// CHECK-LABEL: @grow(
// CHECK-SAME: tensor<7x1x2x4xf32, #kernel.sizes<"n" in 0 to 7 : s0, 1, 2, 4>> {{{.*}}kernel.state = "shared"}
// CHECK: graph.append %arg0, {{.*}} {axis = 0 : i64}
func.func @grow(%flat: tensor<56xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8>>
                  {kernel.state = "shared", kernel.sizes = #kernel.sizes<"n" in 0 to 7 : 1, 2, s0, 4>},
                  %new: tensor<1x2x1x4xf32>)
    -> (tensor<64xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8 + 8>>
        {kernel.state = "shared", kernel.sizes = #kernel.sizes<"n" in 0 to 7 : 1, 2, s0 + 1, 4>}) {
  %past = graph.refill %flat : (tensor<56xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8>>) -> tensor<1x2x7x4xf32, #kernel.sizes<"n" in 0 to 7 : 1, 2, s0, 4>>
  %all = graph.concat %past, %new {axis = 2 : i64} : (tensor<1x2x7x4xf32, #kernel.sizes<"n" in 0 to 7 : 1, 2, s0, 4>>, tensor<1x2x1x4xf32>) -> tensor<1x2x8x4xf32, #kernel.sizes<"n" in 0 to 7 : 1, 2, s0 + 1, 4>>
  %to = graph.refill %all : (tensor<1x2x8x4xf32, #kernel.sizes<"n" in 0 to 7 : 1, 2, s0 + 1, 4>>) -> tensor<64xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8 + 8>>
  return %to : tensor<64xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8 + 8>>
}

// A function that begins with an empty state appends at position 0.
// CHECK-LABEL: @begin(
// CHECK-SAME: %[[PAST:.*]]: tensor<1x2x8x4xf32> {kernel.sizes = #kernel.sizes<1, 2, 0, 4>, kernel.state = "begun"}
// CHECK: %[[ALL:.*]] = graph.append %[[PAST]], %arg1, {{.*}} {axis = 2 : i64}
// CHECK: return %[[ALL]]
func.func @begin(%past: tensor<1x2x0x4xf32> {kernel.state = "begun"}, %x: tensor<1x2x3x4xf32>)
    -> (tensor<1x2x3x4xf32> {kernel.state = "begun"}) {
  return %x : tensor<1x2x3x4xf32>
}
// CHECK-LABEL: @go_on(
// CHECK: graph.append %arg0, {{.*}} {axis = 2 : i64}
// CHECK-SAME: -> tensor<1x2x8x4xf32>
func.func @go_on(%flat: tensor<56xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8>>
                  {kernel.state = "begun", kernel.sizes = #kernel.sizes<"n" in 0 to 7 : 1, 2, s0, 4>},
                  %new: tensor<1x2x1x4xf32>)
    -> (tensor<64xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8 + 8>>
        {kernel.state = "begun", kernel.sizes = #kernel.sizes<"n" in 0 to 7 : 1, 2, s0 + 1, 4>}) {
  %past = graph.refill %flat : (tensor<56xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8>>) -> tensor<1x2x7x4xf32, #kernel.sizes<"n" in 0 to 7 : 1, 2, s0, 4>>
  %all = graph.concat %past, %new {axis = 2 : i64} : (tensor<1x2x7x4xf32, #kernel.sizes<"n" in 0 to 7 : 1, 2, s0, 4>>, tensor<1x2x1x4xf32>) -> tensor<1x2x8x4xf32, #kernel.sizes<"n" in 0 to 7 : 1, 2, s0 + 1, 4>>
  %to = graph.refill %all : (tensor<1x2x8x4xf32, #kernel.sizes<"n" in 0 to 7 : 1, 2, s0 + 1, 4>>) -> tensor<64xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8 + 8>>
  return %to : tensor<64xf32, #kernel.sizes<"n" in 0 to 7 : s0 * 8 + 8>>
}

// New rows are not appended in place if another operator reads the old state.
// CHECK-LABEL: @read_twice(
// CHECK-NOT: graph.append
// CHECK: graph.concat
func.func @read_twice(%past: tensor<4x2xf32> {kernel.state = "h"}, %new: tensor<1x2xf32>)
    -> (tensor<5x2xf32> {kernel.state = "h"}, tensor<4x2xf32>) {
  %all = graph.concat %past, %new {axis = 0 : i64} : (tensor<4x2xf32>, tensor<1x2xf32>) -> tensor<5x2xf32>
  %y = graph.relu %past : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return %all, %y : tensor<5x2xf32>, tensor<4x2xf32>
}

// A cache of constant size that is written by a scatter keeps its layout.
// CHECK-LABEL: @scatter(
// CHECK: %[[AT:.*]] = graph.reshape %arg2
// CHECK: %[[ALL:.*]] = graph.append %arg0, %arg1, %[[AT]] {axis = 2 : i64} : (tensor<1x2x8x4xf32>, tensor<1x2x1x4xf32>, tensor<si64>) -> tensor<1x2x8x4xf32>
// CHECK: return %[[ALL]]
func.func @scatter(%past: tensor<1x2x8x4xf32> {kernel.state = "k"}, %new: tensor<1x2x1x4xf32>, %at: tensor<1xsi64>)
    -> (tensor<1x2x8x4xf32> {kernel.state = "k"}) {
  %all = graph.tensor_scatter %past, %new, %at {axis = 2 : i64} : (tensor<1x2x8x4xf32>, tensor<1x2x1x4xf32>, tensor<1xsi64>) -> tensor<1x2x8x4xf32>
  return %all : tensor<1x2x8x4xf32>
}
