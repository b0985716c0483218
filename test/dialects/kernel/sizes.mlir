// Dynamic sizes in types: their canonical form, the rules that compute with
// them, and what is rejected.
//
// REQUIRES: ingot-opt
// RUN: %ingot-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// Symbols are ordered by name, and only those that are used are kept.
// CHECK-LABEL: func.func private @canonical
// CHECK-SAME: tensor<64x24xf32, #kernel.sizes<"m" in 1 to 6, "n" in 1 to 64 : s1, s0 * 4>>
func.func private @canonical(tensor<64x24xf32, #kernel.sizes<"n" in 1 to 64, "m" in 1 to 6, "unused" in 1 to 2 : s0, s1 * 2 + s1 * 2>>)

// Reshapes and reductions of dynamic sizes compute the sizes of their results.
// CHECK-LABEL: func.func @rules
func.func @rules(%x: tensor<64x6x4xf32, #kernel.sizes<"n" in 1 to 64 : s0, 6, 4>>)
    -> tensor<64x1xf32, #kernel.sizes<"n" in 1 to 64 : s0, 1>> {
  %flat = graph.reshape %x : (tensor<64x6x4xf32, #kernel.sizes<"n" in 1 to 64 : s0, 6, 4>>)
      -> tensor<384x4xf32, #kernel.sizes<"n" in 1 to 64 : s0 * 6, 4>>
  %rows = graph.reshape %flat : (tensor<384x4xf32, #kernel.sizes<"n" in 1 to 64 : s0 * 6, 4>>)
      -> tensor<64x24xf32, #kernel.sizes<"n" in 1 to 64 : s0, 24>>
  %y = graph.reduce_sum %rows {axes = array<i64: 1>} : (tensor<64x24xf32, #kernel.sizes<"n" in 1 to 64 : s0, 24>>)
      -> tensor<64x1xf32, #kernel.sizes<"n" in 1 to 64 : s0, 1>>
  return %y : tensor<64x1xf32, #kernel.sizes<"n" in 1 to 64 : s0, 1>>
}

// Padding, slices, concatenations and sums along dynamic sizes, and the values
// of sizes.
// CHECK-LABEL: func.func @along
// CHECK: graph.refill
// CHECK: graph.slice
// CHECK: graph.concat
// CHECK: graph.reduce_sum
// CHECK: graph.sizes {sizes = #kernel.sizes<"n" in 1 to 64 : s0 * 2 - 1, 4>} : () -> tensor<2xsi64>
!flat = tensor<256xf32, #kernel.sizes<"n" in 1 to 64 : s0 * 4>>
!rows = tensor<4x64xf32, #kernel.sizes<"n" in 1 to 64 : 4, s0>>
!tail = tensor<4x63xf32, #kernel.sizes<"n" in 1 to 64 : 4, s0 - 1>>
!joined = tensor<4x127xf32, #kernel.sizes<"n" in 1 to 64 : 4, s0 * 2 - 1>>
func.func @along(%x: !flat) -> (tensor<4x1xf32>, tensor<2xsi64>) {
  %rows = graph.refill %x : (!flat) -> !rows
  %tail = graph.slice %rows {starts = array<i64: 0, 1>, steps = array<i64: 1, 1>} : (!rows) -> !tail
  %joined = graph.concat %rows, %tail {axis = 1 : i64} : (!rows, !tail) -> !joined
  %sum = graph.reduce_sum %joined {axes = array<i64: 1>} : (!joined) -> tensor<4x1xf32>
  %sizes = graph.sizes {sizes = #kernel.sizes<"n" in 1 to 64 : s0 * 2 - 1, 4>} : () -> tensor<2xsi64>
  return %sum, %sizes : tensor<4x1xf32>, tensor<2xsi64>
}

// Symbols that are the maximum or the minimum of two sizes, and sizes that are
// computed from such symbols.
// CHECK-LABEL: func.func private @choices
// CHECK-SAME: tensor<64x8xf32, #kernel.sizes<"max(n, 4)" in 4 to 64 = max <"n" in 1 to 64 : s0, 4>,
// CHECK-SAME: "min(m, n - 9)" in -8 to 6 = min <"m" in 1 to 6, "n" in 1 to 64 : s0, s1 - 9> : s0, s1 + 2>>
func.func private @choices(tensor<64x8xf32, #kernel.sizes<"min(m, n - 9)" in -8 to 6 = min <"m" in 1 to 6, "n" in 1 to 64 : s0, s1 - 9>,
    "max(n, 4)" in 4 to 64 = max <"n" in 1 to 64 : s0, 4> : s1, s0 + 2>>)

// -----

// Rejected: a slice that ends one element after the end of an axis with a
// dynamic size.
func.func @reaches(%x: tensor<64xf32, #kernel.sizes<"n" in 1 to 64 : s0>>) {
  // expected-error @+1 {{reaches outside of the operand}}
  graph.slice %x {starts = array<i64: 1>, steps = array<i64: 1>} : (tensor<64xf32, #kernel.sizes<"n" in 1 to 64 : s0>>) -> tensor<64xf32, #kernel.sizes<"n" in 1 to 64 : s0>>
  return
}

// -----

func.func @refilled(%x: tensor<4x64xf32, #kernel.sizes<"n" in 1 to 64 : 4, s0>>) {
  // expected-error @+1 {{the operand's elements are not those of the result}}
  graph.refill %x : (tensor<4x64xf32, #kernel.sizes<"n" in 1 to 64 : 4, s0>>) -> tensor<256xf32>
  return
}

// -----

func.func @values() {
  // expected-error @+1 {{the result must be a tensor of integers, with one element for each of the 'sizes'}}
  graph.sizes {sizes = #kernel.sizes<"n" in 1 to 64 : s0>} : () -> tensor<2xsi64>
  return
}

// -----

// expected-error @+1 {{a size that is 64 at most is an axis of 32}}
func.func private @bound(tensor<32xf32, #kernel.sizes<"n" in 1 to 64 : s0>>)

// -----

// expected-error @+1 {{a symbol of this kind follows from 2 sizes}}
func.func private @operands(tensor<64xf32, #kernel.sizes<"max(n, 4)" in 4 to 64 = max <"n" in 1 to 64 : s0> : s0>>)

// -----

// expected-error @+1 {{expected min, max, if_less, if_equal or quotient, not most}}
func.func private @keyword(tensor<64xf32, #kernel.sizes<"max(n, 4)" in 4 to 64 = most <"n" in 1 to 64 : s0, 4> : s0>>)

// -----

// expected-error @+1 {{no size is in 5 to 2}}
func.func private @empty(tensor<2xf32, #kernel.sizes<"n" in 5 to 2 : s0>>)

// -----

func.func @other_size(%x: tensor<64xf32, #kernel.sizes<"n" in 1 to 64 : s0>>, %y: tensor<64xf32>) {
  // expected-error @+1 {{has operands that do not broadcast}}
  graph.add %x, %y : (tensor<64xf32, #kernel.sizes<"n" in 1 to 64 : s0>>, tensor<64xf32>) -> tensor<64xf32>
  return
}

// -----

func.func @scaled(%x: tensor<64xf32, #kernel.sizes<"n" in 1 to 64 : s0>>, %scale: tensor<64xf32>) {
  // expected-error @+1 {{not of the shape [n]}}
  graph.layer_norm %x, %scale {epsilon = 1.0e-5 : f32, center = true} : (tensor<64xf32, #kernel.sizes<"n" in 1 to 64 : s0>>, tensor<64xf32>) -> tensor<64xf32, #kernel.sizes<"n" in 1 to 64 : s0>>
  return
}

// -----

func.func @moved(%x: tensor<4x64xf32, #kernel.sizes<"n" in 1 to 64 : 4, s0>>) {
  // expected-error @+1 {{moves elements by a size known only at run time}}
  graph.reshape %x : (tensor<4x64xf32, #kernel.sizes<"n" in 1 to 64 : 4, s0>>) -> tensor<256xf32, #kernel.sizes<"n" in 1 to 64 : s0 * 4>>
  return
}

// -----

func.func @not_ready(%x: tensor<64x2x4xf32, #kernel.sizes<"n" in 1 to 64 : s0, 2, 4>>) {
  // expected-error @+1 {{needs sizes that are known when compiling}}
  graph.col2im %x {block = array<i64: 2>, counts = array<i64: 4>, strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 0>} : (tensor<64x2x4xf32, #kernel.sizes<"n" in 1 to 64 : s0, 2, 4>>) -> tensor<64x1x5xf32, #kernel.sizes<"n" in 1 to 64 : s0, 1, 5>>
  return
}

// -----

// A dynamic size may be expanded, since it may be 1 when the code runs; a
// constant size of 3 may not.
func.func @expanded(%x: tensor<64xf32, #kernel.sizes<"n" in 1 to 64 : s0>>, %y: tensor<3xf32>) {
  graph.expand %x : (tensor<64xf32, #kernel.sizes<"n" in 1 to 64 : s0>>) -> tensor<5xf32>
  // expected-error @+1 {{the operand does not broadcast to the result}}
  graph.expand %y : (tensor<3xf32>) -> tensor<64xf32, #kernel.sizes<"n" in 1 to 64 : s0>>
  return
}

// -----

// Data-dependent sizes are read from a tensor, and later operations use them.
// CHECK-LABEL: func.func @made
// CHECK: graph.read_sizes %{{.*}} {sizes = #kernel.sizes<"found" in 0 to 8 : s0>} : (tensor<1xsi64>) -> ()
// CHECK: graph.read_sizes %{{.*}} {sizes = #kernel.sizes<3>} : (tensor<1xsi64>) -> ()
// CHECK: graph.check_sizes {pairs = #kernel.sizes<"found" in 0 to 8, "n" in 1 to 8 : s0, s1>} : () -> ()
func.func @made(%count: tensor<1xsi64>, %x: tensor<8xf32>) -> tensor<8xf32, #kernel.sizes<"found" in 0 to 8 : s0>> {
  graph.read_sizes %count {sizes = #kernel.sizes<"found" in 0 to 8 : s0>} : (tensor<1xsi64>) -> ()
  graph.read_sizes %count {sizes = #kernel.sizes<3>} : (tensor<1xsi64>) -> ()
  graph.check_sizes {pairs = #kernel.sizes<"found" in 0 to 8, "n" in 1 to 8 : s0, s1>} : () -> ()
  %y = graph.slice %x {starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<8xf32>) -> tensor<8xf32, #kernel.sizes<"found" in 0 to 8 : s0>>
  return %y : tensor<8xf32, #kernel.sizes<"found" in 0 to 8 : s0>>
}

// -----

// Products of sizes have a canonical order, whatever order they are written in.
// CHECK-LABEL: func.func @ordered
func.func @ordered(%x: tensor<24xf32, #kernel.sizes<"a" in 1 to 2, "b" in 1 to 3, "c" in 1 to 4 : s0 * (s1 * s2)>>)
    -> tensor<24xf32, #kernel.sizes<"a" in 1 to 2, "b" in 1 to 3, "c" in 1 to 4 : (s2 * s0) * s1>> {
  return %x : tensor<24xf32, #kernel.sizes<"a" in 1 to 2, "b" in 1 to 3, "c" in 1 to 4 : (s0 * s1) * s2>>
}
