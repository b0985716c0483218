// RUN: %ingot-opt %s -decide-form-groups=target=sm_80 | FileCheck %s
// REQUIRES: ingot-opt

// The kernel that writes a concatenation also computes its operands: the two
// halves of a rotary embedding become one kernel.
// CHECK-LABEL: func.func @halves(
// CHECK-NEXT: %[[Y:.*]] = graph.group "loop-nest"(%arg0, %arg1, %arg2)
// CHECK-NOT: graph.group
// CHECK: return %[[Y]]
func.func @halves(%x: tensor<9x64xf32>, %c: tensor<1x64xf32>, %s: tensor<1x64xf32>) -> tensor<9x64xf32> {
  %l = graph.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<9x64xf32>) -> tensor<9x32xf32>
  %r = graph.slice %x {starts = array<i64: 0, 32>, steps = array<i64: 1, 1>} : (tensor<9x64xf32>) -> tensor<9x32xf32>
  %n = graph.neg %r : (tensor<9x32xf32>) -> tensor<9x32xf32>
  %t = graph.concat %n, %l {axis = 1 : i64} : (tensor<9x32xf32>, tensor<9x32xf32>) -> tensor<9x64xf32>
  %a = graph.mul %x, %c : (tensor<9x64xf32>, tensor<1x64xf32>) -> tensor<9x64xf32>
  %b = graph.mul %t, %s : (tensor<9x64xf32>, tensor<1x64xf32>) -> tensor<9x64xf32>
  %y = graph.add %a, %b : (tensor<9x64xf32>, tensor<9x64xf32>) -> tensor<9x64xf32>
  return %y : tensor<9x64xf32>
}

// The kernel of a concatenation computes operands that are computed from a
// stored tensor, also through a view. Operators that follow a matrix
// multiplication stay in the epilogue of the multiplication.
// CHECK-LABEL: func.func @parts(
// CHECK: graph.group "block-product"(%arg0, %arg1)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: graph.relu
// CHECK: graph.group "loop-nest"(%arg0,
// CHECK-NEXT: ^bb0
// CHECK-NEXT: graph.exp
// CHECK-NEXT: graph.reshape
// CHECK-NEXT: graph.concat
// CHECK-NOT: graph.group
// CHECK: return
func.func @parts(%x: tensor<16x64xf32>, %w: tensor<64x64xf32>, %past: tensor<256x64xf32>) -> tensor<288x64xf32> {
  %e = graph.exp %x : (tensor<16x64xf32>) -> tensor<16x64xf32>
  %t = graph.reshape %e : (tensor<16x64xf32>) -> tensor<1x16x64xf32>
  %p = graph.matmul %x, %w : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
  %r = graph.relu %p : (tensor<16x64xf32>) -> tensor<16x64xf32>
  %u = graph.reshape %r : (tensor<16x64xf32>) -> tensor<1x16x64xf32>
  %q = graph.reshape %past : (tensor<256x64xf32>) -> tensor<1x256x64xf32>
  %j = graph.concat %q, %t, %u {axis = 1 : i64} : (tensor<1x256x64xf32>, tensor<1x16x64xf32>, tensor<1x16x64xf32>) -> tensor<1x288x64xf32>
  %y = graph.reshape %j : (tensor<1x288x64xf32>) -> tensor<288x64xf32>
  return %y : tensor<288x64xf32>
}

// Two matrix multiplications with few rows read one normalization: the kernel
// of each normalizes the rows itself.
// CHECK-LABEL: func.func @normed(
// CHECK-COUNT-2: graph.layer_norm
// CHECK-NOT: graph.group "body"
// CHECK: return
func.func @normed(%x: tensor<1x64xf32>, %scale: tensor<64xf32>) -> (tensor<1x32xf32>, tensor<1x48xf32>) {
  %v = graph.constant dense<0.5> : tensor<64x32xf32> : tensor<64x32xf32>
  %w = graph.constant dense<0.25> : tensor<64x48xf32> : tensor<64x48xf32>
  %n = graph.layer_norm %x, %scale {center = false, epsilon = 1.0e-5 : f32} : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32>
  %y = graph.matmul %n, %v : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x32xf32>
  %z = graph.matmul %n, %w : (tensor<1x64xf32>, tensor<64x48xf32>) -> tensor<1x48xf32>
  return %y, %z : tensor<1x32xf32>, tensor<1x48xf32>
}

// A gated layer: two matrix multiplications of the same rows, one of which
// scales the other, become one kernel, which also normalizes the rows.
// CHECK-LABEL: func.func @gated(
// CHECK: graph.group "row-product"
// CHECK: graph.layer_norm
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: graph.swish
// CHECK-NEXT: graph.matmul
// CHECK-NOT: graph.group
// CHECK: return
func.func @gated(%x: tensor<1x64xf32>, %scale: tensor<64xf32>) -> tensor<1x48xf32> {
  %v = graph.constant dense<0.5> : tensor<64x48xf32> : tensor<64x48xf32>
  %w = graph.constant dense<0.25> : tensor<64x48xf32> : tensor<64x48xf32>
  %n = graph.layer_norm %x, %scale {center = false, epsilon = 1.0e-5 : f32} : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32>
  %g = graph.matmul %n, %v : (tensor<1x64xf32>, tensor<64x48xf32>) -> tensor<1x48xf32>
  %o = graph.swish %g {alpha = 1.0 : f32} : (tensor<1x48xf32>) -> tensor<1x48xf32>
  %p = graph.matmul %n, %w : (tensor<1x64xf32>, tensor<64x48xf32>) -> tensor<1x48xf32>
  %y = graph.mul %o, %p : (tensor<1x48xf32>, tensor<1x48xf32>) -> tensor<1x48xf32>
  return %y : tensor<1x48xf32>
}

// A convolution reads a slice of channels from the whole tensor, without a
// copy, if the slice consists of whole 16-byte vector accesses.
// CHECK-LABEL: func.func @channels(
// CHECK: graph.group {{.*}} -> tensor<1x8x8x32xf32>
// CHECK: graph.group "block-product"
// CHECK-NEXT: ^bb0
// CHECK-NEXT: graph.slice
// CHECK-NEXT: graph.conv
// CHECK-NOT: graph.group
// CHECK: return
func.func @channels(%x: tensor<1x8x8x32xf32>) -> (tensor<1x8x8x32xf32>, tensor<1x8x8x24xf32>) {
  %w = graph.constant dense<0.5> : tensor<3x3x16x24xf32> : tensor<3x3x16x24xf32>
  %y = graph.exp %x : (tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32>
  %s = graph.slice %y {starts = array<i64: 0, 0, 0, 16>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x32xf32>) -> tensor<1x8x8x16xf32>
  %c = graph.conv %s, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x16x24xf32>) -> tensor<1x8x8x24xf32>
  return %y, %c : tensor<1x8x8x32xf32>, tensor<1x8x8x24xf32>
}
