// RUN: %ingot-opt %s -simplify-lay-out-states -canonicalize | FileCheck %s
// RUN: %ingot-opt %s -simplify-lay-out-states=one-place=false -canonicalize | FileCheck %s --check-prefix=APART
// REQUIRES: ingot-opt

// A cache that grows along its third axis is stored with this axis first, in
// all entry functions, and new rows are appended in place. If several variants
// of a model share the state, the rows stay a concatenation.
// CHECK-LABEL: @decode(
// CHECK-SAME: %[[PAST:.*]]: tensor<7x1x2x4xf32, #kernel.sizes<"n" in 0 to 7 : s0, 1, 2, 4>> {{{.*}}kernel.state = "past"}
// CHECK-DAG: %[[ROWS:.*]] = graph.transpose %arg1 {perm = array<i64: 2, 0, 1, 3>}
// CHECK-DAG: %[[AT:.*]] = graph.sizes
// CHECK: %[[ALL:.*]] = graph.append %[[PAST]], %[[ROWS]], %[[AT]] {axis = 0 : i64}
// CHECK-SAME: -> tensor<8x1x2x4xf32, #kernel.sizes<"n" in 0 to 7 : s0 + 1, 1, 2, 4>>
// CHECK: %[[READ:.*]] = graph.transpose %[[ALL]] {perm = array<i64: 1, 2, 0, 3>}
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
