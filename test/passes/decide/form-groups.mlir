// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v4 -decide-pack-weights=target=x86-64-v4 | FileCheck %s
// REQUIRES: ingot-opt

// A chain of elementwise operators is one kernel, including constants that are
// a single number.
// CHECK-LABEL: @chain(
// CHECK-NEXT: %[[Y:.*]] = graph.group "elementwise"(%arg0)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: graph.constant
// CHECK-NEXT: graph.mul
// CHECK-NEXT: graph.exp
// CHECK-NEXT: graph.relu
// CHECK-NEXT: graph.yield
// CHECK: return %[[Y]]
func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {
  %two = graph.constant dense<2.0> : tensor<1xf32> : tensor<1xf32>
  %a = graph.mul %x, %two : (tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32>
  %b = graph.exp %a : (tensor<8xf32>) -> tensor<8xf32>
  %c = graph.relu %b : (tensor<8xf32>) -> tensor<8xf32>
  return %c : tensor<8xf32>
}

// Elementwise operators that follow a convolution (the anchor of a group)
// become its epilogue, and their other operands become operands of the group.
// CHECK-LABEL: @epilogue(
// CHECK-NEXT: graph.group {{.*}}(%arg0, %arg1, %arg2)
// CHECK: graph.conv
// CHECK-NEXT: graph.add
// CHECK-NEXT: graph.relu
// CHECK-NEXT: graph.yield
func.func @epilogue(%x: tensor<1x8x8x4xf32>, %w: tensor<3x3x4x16xf32>, %r: tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32> {
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x8x8x16xf32>
  %s = graph.add %c, %r : (tensor<1x8x8x16xf32>, tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  %y = graph.relu %s : (tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  return %y : tensor<1x8x8x16xf32>
}

// A group has at most one matrix multiplication: a second one, which reads the
// result of the first, begins a group of its own.
// CHECK-LABEL: @two_anchors(
// CHECK: %[[A:.*]] = graph.group "matrix-product"(%arg0, %arg1)
// CHECK: graph.matmul
// CHECK-NEXT: graph.relu
// CHECK-NEXT: graph.yield
// CHECK: graph.group "matrix-product"(%[[A]], %arg1)
func.func @two_anchors(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %a = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %b = graph.relu %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = graph.matmul %b, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}

// A tensor that other groups read too is computed once, in a group of its own.
// CHECK-LABEL: @read_twice(
// CHECK: %[[A:.*]] = graph.group
// CHECK: graph.exp
// CHECK-NEXT: graph.yield
// CHECK: %[[B:.*]] = graph.group "elementwise"(%[[A]])
// CHECK: return %[[A]], %[[B]]
func.func @read_twice(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = graph.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %b = graph.neg %a : (tensor<8xf32>) -> tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// An expensive operand that is broadcast is not recomputed for each element.
// CHECK-LABEL: @expensive(
// CHECK: %[[A:.*]] = graph.group
// CHECK: graph.exp
// CHECK-NEXT: graph.yield
// CHECK: graph.group "elementwise"(%[[A]], %arg1)
func.func @expensive(%x: tensor<4x1xf32>, %w: tensor<1x1024xf32>) -> tensor<4x1024xf32> {
  %a = graph.exp %x : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %y = graph.add %a, %w : (tensor<4x1xf32>, tensor<1x1024xf32>) -> tensor<4x1024xf32>
  return %y : tensor<4x1024xf32>
}

// Reshapes stay outside of groups: they are views.
// CHECK-LABEL: @reshape(
// CHECK: %[[A:.*]] = graph.group
// CHECK: %[[B:.*]] = graph.reshape %[[A]]
// CHECK-NEXT: graph.group "elementwise"(%[[B]])
func.func @reshape(%x: tensor<2x8xf32>) -> tensor<16xf32> {
  %a = graph.exp %x : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %b = graph.reshape %a : (tensor<2x8xf32>) -> tensor<16xf32>
  %c = graph.neg %b : (tensor<16xf32>) -> tensor<16xf32>
  return %c : tensor<16xf32>
}

// An operator whose elements are not computed independently, such as a softmax,
// is alone in its group.
// CHECK-LABEL: @body(
// CHECK: graph.group "elementwise"(%arg0)
// CHECK: graph.group "body"
// CHECK-NEXT: ^bb0
// CHECK-NEXT: graph.softmax
// CHECK-NEXT: graph.yield
// CHECK: graph.group "elementwise"
func.func @body(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = graph.neg %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = graph.softmax %a {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = graph.neg %b : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}

// Every returned value is the result of a group, and none is returned twice.
// CHECK-LABEL: @outputs(
// CHECK: %[[Y:.*]] = graph.group "elementwise"(%arg0)
// CHECK: %[[X:.*]] = graph.group {{.*}}(%arg0)
// CHECK: %[[Z:.*]] = graph.group {{.*}}(%[[Y]])
// CHECK: return %[[X]], %[[Y]], %[[Z]]
func.func @outputs(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %y = graph.neg %x : (tensor<8xf32>) -> tensor<8xf32>
  return %x, %y, %y : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Tensors without elements need no kernel.
// CHECK-LABEL: @empty(
// CHECK-NEXT: %[[Y:.*]] = graph.constant dense<>
// CHECK-NEXT: return %[[Y]]
func.func @empty(%x: tensor<0x8xf32>) -> tensor<0x8xf32> {
  %y = graph.neg %x : (tensor<0x8xf32>) -> tensor<0x8xf32>
  return %y : tensor<0x8xf32>
}

// The operands of a concatenation are written directly into it.
// CHECK-LABEL: @concat(
// CHECK: %[[A:.*]] = graph.group "elementwise"(%arg0) {output_strides = array<i64: 64, 1>}
// CHECK: %[[B:.*]] = graph.group "elementwise"(%arg1) {output_strides = array<i64: 64, 1>}
// CHECK: graph.concat %[[A]], %[[B]]
func.func @concat(%x: tensor<32x32xf32>, %y: tensor<32x32xf32>) -> tensor<32x64xf32> {
  %a = graph.exp %x : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %b = graph.neg %y : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %c = graph.concat %a, %b {axis = 1 : i64} : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x64xf32>
  return %c : tensor<32x64xf32>
}

// A convolution that only a pool reads is computed by the pool, window by
// window.
// CHECK-LABEL: @pool(
// CHECK: graph.group "convolution"(%{{.*}}, %arg0)
// CHECK-NOT: graph.group
// CHECK: graph.conv
// CHECK-NEXT: graph.relu
// CHECK-NEXT: graph.max_pool
// CHECK-NEXT: graph.yield
func.func @pool(%x: tensor<1x8x8x3xf32>) -> tensor<1x4x4x16xf32> {
  %w = graph.constant dense<1.0> : tensor<3x3x3x16xf32> : tensor<3x3x3x16xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<1x8x8x16xf32>
  %r = graph.relu %c : (tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  %y = graph.max_pool %r {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x8x8x16xf32>) -> tensor<1x4x4x16xf32>
  return %y : tensor<1x4x4x16xf32>
}

// The pool does not compute a convolution that is also returned.
// CHECK-LABEL: @shared_convolution(
// CHECK: graph.group "convolution"(%{{.*}}, %arg0)
// CHECK: graph.conv
// CHECK-NEXT: graph.yield
// CHECK: graph.group
// CHECK: graph.max_pool
func.func @shared_convolution(%x: tensor<1x8x8x3xf32>) -> (tensor<1x8x8x16xf32>, tensor<1x4x4x16xf32>) {
  %w = graph.constant dense<1.0> : tensor<3x3x3x16xf32> : tensor<3x3x3x16xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<1x8x8x16xf32>
  %y = graph.max_pool %c {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x8x8x16xf32>) -> tensor<1x4x4x16xf32>
  return %c, %y : tensor<1x8x8x16xf32>, tensor<1x4x4x16xf32>
}

// A slice with contiguous elements is a view if the sliced tensor is stored
// anyway, as an argument or for another group. Other slices, and slices that
// are returned, are computed by a group.
// CHECK-LABEL: @slices(
// CHECK: %[[A:.*]] = graph.group "elementwise"(%arg0)
// CHECK: %[[B:.*]] = graph.slice %[[A]] {starts = array<i64: 0, 0>
// CHECK: %[[C:.*]] = graph.slice %[[A]] {starts = array<i64: 4, 0>
// CHECK: %[[Y:.*]] = graph.group "elementwise"(%[[B]], %[[C]])
// CHECK: %[[Z:.*]] = graph.group "loop-nest"(%[[A]])
// CHECK: graph.slice
// CHECK: %[[R:.*]] = graph.group "loop-nest"(%arg0)
// CHECK: graph.slice
// CHECK: return %[[Y]], %[[Z]], %[[R]]
func.func @slices(%x: tensor<8x4xf32>) -> (tensor<4x4xf32>, tensor<8x2xf32>, tensor<2x4xf32>) {
  %a = graph.exp %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %b = graph.slice %a {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %c = graph.slice %a {starts = array<i64: 4, 0>, steps = array<i64: 1, 1>} : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %y = graph.mul %b, %c : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = graph.slice %a {starts = array<i64: 0, 1>, steps = array<i64: 1, 1>} : (tensor<8x4xf32>) -> tensor<8x2xf32>
  %z = graph.neg %d : (tensor<8x2xf32>) -> tensor<8x2xf32>
  %r = graph.slice %x {starts = array<i64: 3, 0>, steps = array<i64: 1, 1>} : (tensor<8x4xf32>) -> tensor<2x4xf32>
  return %y, %z, %r : tensor<4x4xf32>, tensor<8x2xf32>, tensor<2x4xf32>
}

// A depthwise convolution dequantizes 8-bit elements as it reads them. Results
// are quantized to 8 bits at the end of the kernel that computes them.
// CHECK-LABEL: @narrow_between(
// CHECK: %[[A:.*]] = graph.group "loop-nest"({{.*}} -> tensor<1x8x8x16xui8>
// CHECK: graph.quantize
// CHECK-NEXT: graph.yield
// CHECK: graph.group "depthwise"(%[[A]], {{.*}} -> tensor<1x8x8x16xf32>
// CHECK: graph.dequantize
// CHECK: graph.conv
func.func @narrow_between(%x: tensor<1x8x8x4xf32>, %w: tensor<3x3x4x16xf32>, %d: tensor<3x3x1x16xf32>) -> tensor<1x8x8x16xf32> {
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>) -> tensor<1x8x8x16xf32>
  %q = graph.quantize %c, %one, %zero {saturate = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x8x8x16xui8>
  %f = graph.dequantize %q, %one, %zero : (tensor<1x8x8x16xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x8x16xf32>
  %y = graph.conv %f, %d {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 16 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x1x16xf32>) -> tensor<1x8x8x16xf32>
  return %y : tensor<1x8x8x16xf32>
}

// The other operand of a residual sum is also quantized by the kernel that
// computes it, and stored as uint8.
// CHECK-LABEL: @narrow_shortcut(
// CHECK: %[[S:.*]] = graph.group "matrix-product"({{.*}} -> tensor<4x8xui8>
// CHECK: graph.group "matrix-product"(%[[S]], {{.*}} -> tensor<4x8xf32>
func.func @narrow_shortcut(%x: tensor<4x8xf32>, %v: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %a = graph.matmul %x, %v : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %q = graph.quantize %a, %one, %zero {saturate = 1 : i64} : (tensor<4x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x8xui8>
  %f = graph.dequantize %q, %one, %zero : (tensor<4x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x8xf32>
  %b = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %y = graph.add %f, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// A softmax between two matrix multiplications becomes one group with both of
// them, the elementwise operators in between, and the transposes of heads.
// CHECK-LABEL: @attention(
// CHECK-NEXT: %[[Y:.*]] = graph.group "attention"(%arg0, %arg1, %arg3, %arg2)
// CHECK: graph.transpose
// CHECK: graph.matmul
// CHECK-NEXT: graph.add
// CHECK-NEXT: graph.softmax
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: graph.transpose
// CHECK-NEXT: graph.yield
// CHECK: return %[[Y]]
func.func @attention(%q: tensor<1x32x2x8xf32>, %k: tensor<1x2x8x16xf32>, %v: tensor<1x2x16x8xf32>, %mask: tensor<1x1x32x16xf32>) -> tensor<1x32x2x8xf32> {
  %t = graph.transpose %q {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x32x2x8xf32>) -> tensor<1x2x32x8xf32>
  %s = graph.matmul %t, %k : (tensor<1x2x32x8xf32>, tensor<1x2x8x16xf32>) -> tensor<1x2x32x16xf32>
  %m = graph.add %s, %mask : (tensor<1x2x32x16xf32>, tensor<1x1x32x16xf32>) -> tensor<1x2x32x16xf32>
  %p = graph.softmax %m {axis = 3 : i64} : (tensor<1x2x32x16xf32>) -> tensor<1x2x32x16xf32>
  %o = graph.matmul %p, %v : (tensor<1x2x32x16xf32>, tensor<1x2x16x8xf32>) -> tensor<1x2x32x8xf32>
  %y = graph.transpose %o {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x2x32x8xf32>) -> tensor<1x32x2x8xf32>
  return %y : tensor<1x32x2x8xf32>
}

// No attention group is formed if another operator also reads the softmax, or
// if there are few queries.
// CHECK-LABEL: @weights_read_twice(
// CHECK-NOT: "attention"
// CHECK: return
func.func @weights_read_twice(%q: tensor<2x32x8xf32>, %k: tensor<2x8x16xf32>, %v: tensor<2x16x8xf32>) -> (tensor<2x32x8xf32>, tensor<2x32x16xf32>) {
  %s = graph.matmul %q, %k : (tensor<2x32x8xf32>, tensor<2x8x16xf32>) -> tensor<2x32x16xf32>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
  %o = graph.matmul %p, %v : (tensor<2x32x16xf32>, tensor<2x16x8xf32>) -> tensor<2x32x8xf32>
  return %o, %p : tensor<2x32x8xf32>, tensor<2x32x16xf32>
}
// CHECK-LABEL: @one_query(
// CHECK-NOT: "attention"
// CHECK: return
func.func @one_query(%q: tensor<2x1x8xf32>, %k: tensor<2x8x16xf32>, %v: tensor<2x16x8xf32>) -> tensor<2x1x8xf32> {
  %s = graph.matmul %q, %k : (tensor<2x1x8xf32>, tensor<2x8x16xf32>) -> tensor<2x1x16xf32>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<2x1x16xf32>) -> tensor<2x1x16xf32>
  %o = graph.matmul %p, %v : (tensor<2x1x16xf32>, tensor<2x16x8xf32>) -> tensor<2x1x8xf32>
  return %o : tensor<2x1x8xf32>
}
// An attention group ends before a transpose that moves the last axis, because
// the group writes vectors along this axis.
// CHECK-LABEL: @last_axis_moves(
// CHECK: %[[O:.*]] = graph.group "attention"
// CHECK: graph.group "transpose"(%[[O]])
// CHECK: return
func.func @last_axis_moves(%q: tensor<2x32x8xf32>, %k: tensor<2x8x16xf32>, %v: tensor<2x16x8xf32>) -> tensor<2x8x32xf32> {
  %s = graph.matmul %q, %k : (tensor<2x32x8xf32>, tensor<2x8x16xf32>) -> tensor<2x32x16xf32>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
  %o = graph.matmul %p, %v : (tensor<2x32x16xf32>, tensor<2x16x8xf32>) -> tensor<2x32x8xf32>
  %y = graph.transpose %o {perm = array<i64: 0, 2, 1>} : (tensor<2x32x8xf32>) -> tensor<2x8x32xf32>
  return %y : tensor<2x8x32xf32>
}

// Convolutions do not copy their input channels: one convolution reads a slice
// of a tensor in place, the other reads several tensors instead of their
// concatenation.
// CHECK-LABEL: @channels_in_place(
// CHECK: %[[A:.*]] = graph.group "elementwise"(%arg0)
// CHECK: %[[B:.*]] = graph.group "winograd"({{.*}}%[[A]]
// CHECK-COUNT-2: graph.slice
// CHECK: graph.conv
// CHECK: graph.add
// CHECK: %[[Y:.*]] = graph.group "convolution"({{.*}}%[[A]], %[[B]]
// CHECK: graph.concat
// CHECK: graph.conv
// CHECK: return %[[Y]]
func.func @channels_in_place(%x: tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32> {
  %v = graph.constant dense<0.5> : tensor<3x3x16x16xf32> : tensor<3x3x16x16xf32>
  %w = graph.constant dense<0.5> : tensor<1x1x48x32xf32> : tensor<1x1x48x32xf32>
  %a = graph.exp %x : (tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32>
  %s = graph.slice %a {starts = array<i64: 0, 0, 0, 16>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x16x16x32xf32>) -> tensor<1x16x16x16xf32>
  %c = graph.conv %s, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x16x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x16x16x16xf32>
  %b = graph.add %c, %s : (tensor<1x16x16x16xf32>, tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
  %j = graph.concat %a, %b {axis = 3 : i64} : (tensor<1x16x16x32xf32>, tensor<1x16x16x16xf32>) -> tensor<1x16x16x48xf32>
  %y = graph.conv %j, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x16x16x48xf32>, tensor<1x1x48x32xf32>) -> tensor<1x16x16x32xf32>
  return %y : tensor<1x16x16x32xf32>
}

// A reshaped result is also written directly into a concatenation if its
// elements are contiguous there. Its group needs no `output_strides`.
// CHECK-LABEL: @joined_views(
// CHECK: %[[A:.*]] = graph.group "elementwise"(%arg0) :
// CHECK: %[[V:.*]] = graph.reshape %[[A]]
// CHECK: %[[B:.*]] = graph.group "elementwise"(%arg1) :
// CHECK: %[[W:.*]] = graph.reshape %[[B]]
// CHECK: graph.concat %[[V]], %[[W]]
func.func @joined_views(%x: tensor<1x8x8x64xf32>, %y: tensor<1x4x4x64xf32>) -> tensor<1x80x64xf32> {
  %a = graph.exp %x : (tensor<1x8x8x64xf32>) -> tensor<1x8x8x64xf32>
  %v = graph.reshape %a : (tensor<1x8x8x64xf32>) -> tensor<1x64x64xf32>
  %b = graph.relu %y : (tensor<1x4x4x64xf32>) -> tensor<1x4x4x64xf32>
  %w = graph.reshape %b : (tensor<1x4x4x64xf32>) -> tensor<1x16x64xf32>
  %c = graph.concat %v, %w {axis = 1 : i64} : (tensor<1x64x64xf32>, tensor<1x16x64xf32>) -> tensor<1x80x64xf32>
  return %c : tensor<1x80x64xf32>
}

// A concatenation whose operands are written directly into it can itself be a
// contiguous operand of another concatenation.
// CHECK-LABEL: @joined_twice(
// CHECK: %[[A:.*]] = graph.group {{.*}}output_strides = array<i64: 12288, 192, 1>
// CHECK: %[[B:.*]] = graph.group {{.*}}output_strides = array<i64: 12288, 192, 1>
// CHECK: %[[J:.*]] = graph.concat %[[A]], %[[B]] {axis = 2 : i64}
// CHECK: %[[C:.*]] = graph.group "elementwise"(%arg2) :
// CHECK: %[[Y:.*]] = graph.concat %[[C]], %[[J]] {axis = 1 : i64}
// CHECK: return %[[Y]]
func.func @joined_twice(%x: tensor<1x64x128xf32>, %y: tensor<1x64x64xf32>, %z: tensor<1x8x192xf32>) -> tensor<1x72x192xf32> {
  %a = graph.exp %x : (tensor<1x64x128xf32>) -> tensor<1x64x128xf32>
  %b = graph.relu %y : (tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
  %j = graph.concat %a, %b {axis = 2 : i64} : (tensor<1x64x128xf32>, tensor<1x64x64xf32>) -> tensor<1x64x192xf32>
  %c = graph.exp %z : (tensor<1x8x192xf32>) -> tensor<1x8x192xf32>
  %k = graph.concat %c, %j {axis = 1 : i64} : (tensor<1x8x192xf32>, tensor<1x64x192xf32>) -> tensor<1x72x192xf32>
  return %k : tensor<1x72x192xf32>
}

// An operand that nothing else reads is written directly into the
// concatenation, which then is one tensor.
// CHECK-LABEL: @joined_in_place(
// CHECK: %[[J:.*]] = graph.concat
// CHECK: graph.group "convolution"({{.*}}%[[J]]
// CHECK: return
func.func @joined_in_place(%x: tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32> {
  %w = graph.constant dense<0.5> : tensor<1x1x64x32xf32> : tensor<1x1x64x32xf32>
  %a = graph.exp %x : (tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32>
  %b = graph.relu %x : (tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32>
  %j = graph.concat %a, %b {axis = 3 : i64} : (tensor<1x16x16x32xf32>, tensor<1x16x16x32xf32>) -> tensor<1x16x16x64xf32>
  %y = graph.conv %j, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x16x16x64xf32>, tensor<1x1x64x32xf32>) -> tensor<1x16x16x32xf32>
  return %y : tensor<1x16x16x32xf32>
}

// A tensor whose channels a convolution reads is stored, not recomputed for
// each position.
// CHECK-LABEL: @computed_once(
// CHECK: %[[A:.*]] = graph.group "elementwise"(%arg0)
// CHECK: graph.group "winograd"({{.*}}%[[A]]
// CHECK: return
func.func @computed_once(%x: tensor<1x16x16x32xf32>) -> tensor<1x16x16x16xf32> {
  %v = graph.constant dense<0.5> : tensor<3x3x16x16xf32> : tensor<3x3x16x16xf32>
  %a = graph.exp %x : (tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32>
  %s = graph.slice %a {starts = array<i64: 0, 0, 0, 16>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x16x16x32xf32>) -> tensor<1x16x16x16xf32>
  %c = graph.conv %s, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x16x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x16x16x16xf32>
  return %c : tensor<1x16x16x16xf32>
}
