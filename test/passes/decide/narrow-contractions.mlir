// RUN: %ingot-opt %s -decide-narrow-contractions="target=x86-64-v4+bf16 fast=bf16" -canonicalize | FileCheck %s
// RUN: %ingot-opt %s -decide-narrow-contractions="target=x86-64-v4+bf16" -canonicalize | FileCheck %s --check-prefix=OWN
// RUN: %ingot-opt %s -decide-narrow-contractions="target=x86-64-v4+vnni fast=bf16" | FileCheck %s --check-prefix=NONE
// RUN: %ingot-opt %s -decide-narrow-contractions="target=x86-64-v4+amx fast=bf16" -canonicalize | FileCheck %s --check-prefix=TILES
// RUN: %ingot-opt %s -decide-narrow-contractions="target=armv8.2-a+bf16 fast=bf16" -canonicalize | FileCheck %s --check-prefix=PAIRS
// RUN: %ingot-opt %s -decide-narrow-contractions="target=sm_80 fast=tf32" | FileCheck %s --check-prefix=TF32
// RUN: %ingot-opt %s -decide-narrow-contractions="target=armv8.2-a+fp16 fast=f16" | FileCheck %s --check-prefixes=HALF,HOST
// RUN: %ingot-opt %s -decide-narrow-contractions="target=sm_80 fast=f16" | FileCheck %s --check-prefixes=HALF,DEVICE
// REQUIRES: ingot-opt

// With fast=bf16, both operands of a convolution are rounded to bf16; sums and
// bias stay f32. Without `fast` nothing changes.
// CHECK-LABEL: @conv(
// CHECK-DAG: %[[X:.*]] = graph.cast %arg0 : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xbf16>
// CHECK-DAG: %[[W:.*]] = graph.cast %arg1 : (tensor<3x3x8x6xf32>) -> tensor<3x3x8x6xbf16>
// CHECK: %[[Y:.*]] = graph.conv %[[X]], %[[W]], %arg2 {{.*}} : (tensor<1x4x4x8xbf16>, tensor<3x3x8x6xbf16>, tensor<6xf32>) -> tensor<1x4x4x6xf32>
// CHECK: return %[[Y]]
// OWN-LABEL: @conv(
// OWN-NEXT: graph.conv %arg0, %arg1, %arg2
func.func @conv(%x: tensor<1x4x4x8xf32>, %w: tensor<3x3x8x6xf32>, %b: tensor<6xf32>) -> tensor<1x4x4x6xf32> {
  %y = graph.conv %x, %w, %b {dilations = array<i64: 1, 1>, groups = 1 : i64, low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x4x4x8xf32>, tensor<3x3x8x6xf32>, tensor<6xf32>) -> tensor<1x4x4x6xf32>
  return %y : tensor<1x4x4x6xf32>
}

// An activation is rounded where it is computed, before it is moved. Other
// elementwise operators that read it read the rounded tensor.
// CHECK-LABEL: @activation(
// CHECK: %[[A:.*]] = graph.relu %arg0
// CHECK: %[[N:.*]] = graph.cast %[[A]] : (tensor<8x4xf32>) -> tensor<8x4xbf16>
// CHECK: %[[WIDE:.*]] = graph.cast %[[N]] : (tensor<8x4xbf16>) -> tensor<8x4xf32>
// CHECK: %[[T:.*]] = graph.transpose %[[N]] {{.*}} : (tensor<8x4xbf16>) -> tensor<4x8xbf16>
// CHECK: graph.matmul %[[T]], %{{.*}} : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<4x4xf32>
// CHECK: graph.sigmoid %[[WIDE]]
func.func @activation(%x: tensor<8x4xf32>, %w: tensor<8x4xf32>) -> (tensor<4x4xf32>, tensor<8x4xf32>) {
  %a = graph.relu %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %t = graph.transpose %a {perm = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %y = graph.matmul %t, %w : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %s = graph.sigmoid %a : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y, %s : tensor<4x4xf32>, tensor<8x4xf32>
}

// Operators that read whole rows of f32 keep f32.
// CHECK-LABEL: @rows(
// CHECK: %[[A:.*]] = graph.relu %arg0
// CHECK: graph.softmax %[[A]]
func.func @rows(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>) -> (tensor<4x4xf32>, tensor<4x8xf32>) {
  %a = graph.relu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = graph.matmul %a, %w : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %s = graph.softmax %a {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y, %s : tensor<4x4xf32>, tensor<4x8xf32>
}

// With many queries, the products of attention read bf16, and its softmax is
// rounded.
// CHECK-LABEL: @attention(
// CHECK-DAG: %[[Q:.*]] = graph.cast %arg0 {{.*}}bf16
// CHECK-DAG: %[[K:.*]] = graph.cast %arg1 {{.*}}bf16
// CHECK-DAG: %[[V:.*]] = graph.cast %arg2 {{.*}}bf16
// CHECK: %[[S:.*]] = graph.matmul %[[Q]], %[[K]] : (tensor<2x16x8xbf16>, tensor<2x8x6xbf16>) -> tensor<2x16x6xf32>
// CHECK: %[[P:.*]] = graph.softmax %[[S]]
// CHECK: %[[N:.*]] = graph.cast %[[P]] : (tensor<2x16x6xf32>) -> tensor<2x16x6xbf16>
// CHECK: graph.matmul %[[N]], %[[V]] : (tensor<2x16x6xbf16>, tensor<2x6x8xbf16>) -> tensor<2x16x8xf32>
func.func @attention(%q: tensor<2x16x8xf32>, %k: tensor<2x8x6xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x16x8xf32> {
  %s = graph.matmul %q, %k : (tensor<2x16x8xf32>, tensor<2x8x6xf32>) -> tensor<2x16x6xf32>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<2x16x6xf32>) -> tensor<2x16x6xf32>
  %y = graph.matmul %p, %v : (tensor<2x16x6xf32>, tensor<2x6x8xf32>) -> tensor<2x16x8xf32>
  return %y : tensor<2x16x8xf32>
}

// With few queries, or with a dynamic number of keys, the matrix
// multiplications of attention stay in f32.
// CHECK-LABEL: @few_queries(
// CHECK-NOT: bf16
// CHECK: return
func.func @few_queries(%q: tensor<2x4x8xf32>, %k: tensor<2x8x6xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x4x8xf32> {
  %s = graph.matmul %q, %k : (tensor<2x4x8xf32>, tensor<2x8x6xf32>) -> tensor<2x4x6xf32>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %y = graph.matmul %p, %v : (tensor<2x4x6xf32>, tensor<2x6x8xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// A depthwise convolution reads bf16 and multiplies in f32.
// CHECK-LABEL: @depthwise(
// CHECK: %[[N:.*]] = graph.cast %{{.*}} -> tensor<1x4x4x8xbf16>
// CHECK: %[[WIDE:.*]] = graph.cast %[[N]]
// CHECK: graph.conv %[[WIDE]], %arg1 {{.*}} : (tensor<1x4x4x8xf32>, tensor<3x3x1x8xf32>) -> tensor<1x4x4x8xf32>
func.func @depthwise(%x: tensor<1x4x4x8xf32>, %w: tensor<3x3x1x8xf32>) -> tensor<1x4x4x8xf32> {
  %a = graph.relu %x : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %y = graph.conv %a, %w {dilations = array<i64: 1, 1>, groups = 8 : i64, low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x4x4x8xf32>, tensor<3x3x1x8xf32>) -> tensor<1x4x4x8xf32>
  return %y : tensor<1x4x4x8xf32>
}

// On a target with an instruction for bf16 dot products, contractions of bf16
// tensors are summed in f32 and rounded once.
// OWN-LABEL: @own(
// OWN: %[[Y:.*]] = graph.matmul %arg0, %arg1 : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<4x4xf32>
// OWN: %[[N:.*]] = graph.cast %[[Y]] : (tensor<4x4xf32>) -> tensor<4x4xbf16>
// OWN: return %[[N]]
// NONE-LABEL: @own(
// NONE: graph.matmul %arg0, %arg1 : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<4x4xbf16>
func.func @own(%x: tensor<4x8xbf16>, %w: tensor<8x4xbf16>) -> tensor<4x4xbf16> {
  %y = graph.matmul %x, %w : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<4x4xbf16>
  return %y : tensor<4x4xbf16>
}

// With bf16 vector instructions, 3 x 3 convolutions with many positions and
// stride 1 stay in f32, where Winograd's algorithm is faster. AMX tiles of bf16
// are faster than Winograd's algorithm. With products of two rows by two columns
// of bf16, Winograd's algorithm multiplies in bf16, and may round sums of inputs.
// PAIRS-LABEL: @windows(
// PAIRS: graph.conv %{{.*}} {{{.*}}graph.multiplied = bf16{{.*}}} : (tensor<1x56x56x64xbf16>, tensor<3x3x64x64xbf16>) -> tensor<1x56x56x64xf32>
// PAIRS: graph.conv
// PAIRS-NOT: graph.multiplied
// PAIRS-SAME: (tensor<1x56x56x64xbf16>, tensor<3x3x64x64xbf16>) -> tensor<1x28x28x64xf32>
// TILES-LABEL: @windows(
// TILES: graph.conv %{{.*}} : (tensor<1x56x56x64xbf16>, tensor<3x3x64x64xbf16>) -> tensor<1x56x56x64xf32>
// TILES: graph.conv %{{.*}} : (tensor<1x56x56x64xbf16>, tensor<3x3x64x64xbf16>) -> tensor<1x28x28x64xf32>
// CHECK-LABEL: @windows(
// CHECK: graph.conv %arg0, %{{.*}} {{.*}} : (tensor<1x56x56x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x56x56x64xf32>
// CHECK: graph.conv %{{.*}} : (tensor<1x56x56x64xbf16>, tensor<3x3x64x64xbf16>) -> tensor<1x28x28x64xf32>
func.func @windows(%x: tensor<1x56x56x64xf32>) -> tensor<1x28x28x64xf32> {
  %w = graph.constant dense<0.125> : tensor<3x3x64x64xf32> : tensor<3x3x64x64xf32>
  %y = graph.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x56x56x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x56x56x64xf32>
  %z = graph.conv %y, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, low = array<i64: 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x56x56x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x28x28x64xf32>
  return %z : tensor<1x28x28x64xf32>
}

// tf32 numbers are stored as f32: the operands are rounded, and the product is
// marked. Other operators that read an activation read the rounded one.
// TF32-LABEL: @tf32(
// TF32: %[[W:.*]] = graph.round_to_tf32 %arg1
// TF32: %[[A:.*]] = graph.relu %arg0
// TF32: %[[N:.*]] = graph.round_to_tf32 %[[A]] : (tensor<8x16xf32>) -> tensor<8x16xf32>
// TF32: graph.matmul %[[N]], %[[W]] {graph.multiplied = tf32}
// TF32: graph.sigmoid %[[N]]
func.func @tf32(%x: tensor<8x16xf32>, %w: tensor<16x8xf32>) -> (tensor<8x8xf32>, tensor<8x16xf32>) {
  %a = graph.relu %x : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = graph.matmul %a, %w : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %s = graph.sigmoid %a : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y, %s : tensor<8x8xf32>, tensor<8x16xf32>
}

// With few rows, a matrix multiplication is not rounded to tf32: only the size
// of the weights matters, and tf32 does not change it.
// TF32-LABEL: @few_rows(
// TF32-NOT: round_to_tf32
// TF32: graph.matmul %arg0, %arg1 :
func.func @few_rows(%x: tensor<2x16xf32>, %w: tensor<16x8xf32>) -> tensor<2x8xf32> {
  %y = graph.matmul %x, %w : (tensor<2x16xf32>, tensor<16x8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// On CPUs, contractions of f16 may sum neighbouring products in f16, which the
// attribute graph.multiplied allows. On GPUs they sum all products in f32.
// HALF-LABEL: @half(
// HALF-DAG: %[[W:.*]] = graph.cast %arg1 : (tensor<64x8xf32>) -> tensor<64x8xf16>
// HALF-DAG: %[[X:.*]] = graph.cast %arg0 : (tensor<8x64xf32>) -> tensor<8x64xf16>
// HOST: graph.matmul %[[X]], %[[W]] {graph.multiplied = f16} : (tensor<8x64xf16>, tensor<64x8xf16>) -> tensor<8x8xf32>
// DEVICE: graph.matmul %[[X]], %[[W]] : (tensor<8x64xf16>, tensor<64x8xf16>) -> tensor<8x8xf32>
// HOST: graph.matmul %arg2, %arg3 {graph.multiplied = f16} : (tensor<8x64xf16>, tensor<64x8xf16>) -> tensor<8x8xf32>
func.func @half(%x: tensor<8x64xf32>, %w: tensor<64x8xf32>, %a: tensor<8x64xf16>, %b: tensor<64x8xf16>) -> (tensor<8x8xf32>, tensor<8x8xf16>) {
  %y = graph.matmul %x, %w : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
  %z = graph.matmul %a, %b : (tensor<8x64xf16>, tensor<64x8xf16>) -> tensor<8x8xf16>
  return %y, %z : tensor<8x8xf32>, tensor<8x8xf16>
}

// The arguments of sine and cosine, and tensors that are converted to integers,
// are not rounded, and the contractions that compute them multiply f32. A
// contraction that sums a single product stays in f32, too.
// CHECK-LABEL: @digits(
// CHECK: graph.matmul %arg0, %arg1 : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
// CHECK: graph.matmul %arg1, %arg0 : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
// CHECK: graph.matmul %arg2, %arg3 : (tensor<8x1xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
// TF32-LABEL: @digits(
// TF32-NOT: round_to_tf32
// TF32: return
func.func @digits(%x: tensor<8x4xf32>, %w: tensor<4x8xf32>, %u: tensor<8x1xf32>, %v: tensor<1x8xf32>) -> (tensor<8x8xf32>, tensor<4x4xsi32>, tensor<8x8xf32>) {
  %two = graph.constant dense<2.0> : tensor<f32> : tensor<f32>
  %a = graph.matmul %x, %w : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %t = graph.transpose %a {perm = array<i64: 1, 0>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = graph.mul %t, %two : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  %s = graph.sin %m : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = graph.matmul %w, %x : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %f = graph.floor %b : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %i = graph.cast %f : (tensor<4x4xf32>) -> tensor<4x4xsi32>
  %o = graph.matmul %u, %v : (tensor<8x1xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
  return %s, %i, %o : tensor<8x8xf32>, tensor<4x4xsi32>, tensor<8x8xf32>
}

// If a contraction and a conversion to integers read a tensor, only the
// contraction reads the rounded one.
// CHECK-LABEL: @both(
// CHECK: %[[A:.*]] = graph.relu %arg0
// CHECK: %[[N:.*]] = graph.cast %[[A]] : (tensor<8x4xf32>) -> tensor<8x4xbf16>
// CHECK: graph.matmul %[[N]], %{{.*}} : (tensor<8x4xbf16>, tensor<4x8xbf16>) -> tensor<8x8xf32>
// CHECK: graph.floor %[[A]]
// CHECK: graph.sigmoid %[[A]]
func.func @both(%x: tensor<8x4xf32>, %w: tensor<4x8xf32>) -> (tensor<8x8xf32>, tensor<8x4xsi32>, tensor<8x4xf32>) {
  %a = graph.relu %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = graph.matmul %a, %w : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %f = graph.floor %a : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %i = graph.cast %f : (tensor<8x4xf32>) -> tensor<8x4xsi32>
  %s = graph.sigmoid %a : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y, %i, %s : tensor<8x8xf32>, tensor<8x4xsi32>, tensor<8x4xf32>
}

// The recurrent weights of LSTM, GRU and RNN are rounded to bf16; gates, state
// and cell stay f32. With dot products of bf16 that are slow, bf16 pays off only
// if weights of f32 do not stay in the L2 cache. Weights that do not fill panels
// stay f32, and so do all weights with fast=tf32 and fast=f16.
// CHECK-LABEL: @recurrent(
// CHECK-DAG: %[[L:.*]] = graph.cast %{{.*}} : (tensor<256x1024xf32>) -> tensor<256x1024xbf16>
// CHECK-DAG: %[[G:.*]] = graph.cast %{{.*}} : (tensor<128x384xf32>) -> tensor<128x384xbf16>
// CHECK-DAG: %[[R:.*]] = graph.cast %{{.*}} : (tensor<1024x1024xf32>) -> tensor<1024x1024xbf16>
// CHECK: graph.lstm %arg0, %[[L]], %arg1, %arg1 {{.*}} : (tensor<9x1x1024xf32>, tensor<256x1024xbf16>, tensor<1x256xf32>, tensor<1x256xf32>) -> (tensor<9x1x256xf32>
// CHECK: graph.gru %arg2, %[[G]], %arg3 {{.*}}reverse
// CHECK: graph.rnn %arg0, %[[R]], %arg4
// CHECK: graph.gru %{{.*}} : (tensor<9x1x192xf32>, tensor<64x192xf32>
// TILES-LABEL: @recurrent(
// TILES: graph.lstm {{.*}} tensor<256x1024xf32>
// TILES: graph.gru {{.*}} tensor<128x384xf32>
// TILES: graph.rnn {{.*}} tensor<1024x1024xbf16>
// TF32-LABEL: @recurrent(
// TF32-NOT: bf16
// HALF-LABEL: @recurrent(
// HALF-NOT: tensor<1024x1024xf16>
func.func @recurrent(%gates: tensor<9x1x1024xf32>, %h: tensor<1x256xf32>, %few: tensor<9x1x384xf32>, %state: tensor<1x128xf32>, %long: tensor<1x1024xf32>, %fewest: tensor<9x1x192xf32>, %short: tensor<1x64xf32>) -> (tensor<9x1x256xf32>, tensor<9x1x128xf32>, tensor<9x1x1024xf32>, tensor<9x1x64xf32>) {
  %l = graph.constant dense_resource<of_lstm> : tensor<256x1024xf32> : tensor<256x1024xf32>
  %g = graph.constant dense_resource<of_gru> : tensor<128x384xf32> : tensor<128x384xf32>
  %r = graph.constant dense_resource<of_rnn> : tensor<1024x1024xf32> : tensor<1024x1024xf32>
  %f = graph.constant dense_resource<of_few> : tensor<64x192xf32> : tensor<64x192xf32>
  %a:4 = graph.lstm %gates, %l, %h, %h {activations = ["Sigmoid", "Tanh", "Tanh"], alpha = array<f64: 0.0, 0.0, 0.0>, beta = array<f64: 0.0, 0.0, 0.0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>} : (tensor<9x1x1024xf32>, tensor<256x1024xf32>, tensor<1x256xf32>, tensor<1x256xf32>) -> (tensor<9x1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1024xf32>)
  %b:3 = graph.gru %few, %g, %state {reverse, activations = ["Sigmoid", "Tanh"], alpha = array<f64: 0.0, 0.0>, beta = array<f64: 0.0, 0.0>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (tensor<9x1x384xf32>, tensor<128x384xf32>, tensor<1x128xf32>) -> (tensor<9x1x128xf32>, tensor<1x128xf32>, tensor<384xf32>)
  %c:3 = graph.rnn %gates, %r, %long {activations = ["Tanh"], alpha = array<f64: 0.0>, beta = array<f64: 0.0>} : (tensor<9x1x1024xf32>, tensor<1024x1024xf32>, tensor<1x1024xf32>) -> (tensor<9x1x1024xf32>, tensor<1x1024xf32>, tensor<1024xf32>)
  %d:3 = graph.gru %fewest, %f, %short {activations = ["Sigmoid", "Tanh"], alpha = array<f64: 0.0, 0.0>, beta = array<f64: 0.0, 0.0>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (tensor<9x1x192xf32>, tensor<64x192xf32>, tensor<1x64xf32>) -> (tensor<9x1x64xf32>, tensor<1x64xf32>, tensor<192xf32>)
  return %a#0, %b#0, %c#0, %d#0 : tensor<9x1x256xf32>, tensor<9x1x128xf32>, tensor<9x1x1024xf32>, tensor<9x1x64xf32>
}

// An LSTM whose states become integers keeps weights of f32.
// CHECK-LABEL: @exact_states(
// CHECK-NOT: bf16
// CHECK: graph.lstm
func.func @exact_states(%gates: tensor<9x1x1024xf32>, %h: tensor<1x256xf32>) -> tensor<9x1x256xsi32> {
  %l = graph.constant dense_resource<of_lstm> : tensor<256x1024xf32> : tensor<256x1024xf32>
  %a:4 = graph.lstm %gates, %l, %h, %h {activations = ["Sigmoid", "Tanh", "Tanh"], alpha = array<f64: 0.0, 0.0, 0.0>, beta = array<f64: 0.0, 0.0, 0.0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>} : (tensor<9x1x1024xf32>, tensor<256x1024xf32>, tensor<1x256xf32>, tensor<1x256xf32>) -> (tensor<9x1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1024xf32>)
  %i = graph.cast %a#0 : (tensor<9x1x256xf32>) -> tensor<9x1x256xsi32>
  return %i : tensor<9x1x256xsi32>
}

// The operands of a concatenation, and of a maximum pool, are rounded where they
// are computed, if results of f16 are stored in vectors of f16. The pool reads
// f16 as well.
// HOST-LABEL: @joined(
// HOST-DAG: %[[A:.*]] = graph.cast %{{.*}} : (tensor<1x5x5x8xf32>) -> tensor<1x5x5x8xf16>
// HOST-DAG: %[[B:.*]] = graph.cast %{{.*}} : (tensor<1x5x5x8xf32>) -> tensor<1x5x5x8xf16>
// HOST: %[[JOINED:.*]] = graph.concat %[[A]], %[[B]] {{.*}} -> tensor<1x5x5x16xf16>
// HOST: %[[P:.*]] = graph.max_pool %[[JOINED]] {{.*}} -> tensor<1x2x2x16xf16>
// HOST: graph.conv %[[P]], {{.*}} : (tensor<1x2x2x16xf16>,
func.func @joined(%x: tensor<1x5x5x8xf32>, %y: tensor<1x5x5x8xf32>, %w: tensor<1x1x16x8xf32>) -> tensor<1x2x2x8xf32> {
  %a = graph.relu %x : (tensor<1x5x5x8xf32>) -> tensor<1x5x5x8xf32>
  %b = graph.relu %y : (tensor<1x5x5x8xf32>) -> tensor<1x5x5x8xf32>
  %c = graph.concat %a, %b {axis = 3 : i64} : (tensor<1x5x5x8xf32>, tensor<1x5x5x8xf32>) -> tensor<1x5x5x16xf32>
  %p = graph.max_pool %c {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x5x5x16xf32>) -> tensor<1x2x2x16xf32>
  %z = graph.conv %p, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x2x2x16xf32>, tensor<1x1x16x8xf32>) -> tensor<1x2x2x8xf32>
  return %z : tensor<1x2x2x8xf32>
}

// A pool that is computed along with the convolution before it stays in f32, as
// the epilogue of the convolution does.
// HOST-LABEL: @disjoint(
// HOST: graph.max_pool {{.*}} -> tensor<1x2x2x8xf32>
func.func @disjoint(%x: tensor<1x4x4x8xf32>, %v: tensor<1x1x8x8xf32>, %w: tensor<1x1x8x8xf32>) -> tensor<1x2x2x8xf32> {
  %y = graph.conv %x, %v {dilations = array<i64: 1, 1>, groups = 1 : i64, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x4x8xf32>, tensor<1x1x8x8xf32>) -> tensor<1x4x4x8xf32>
  %p = graph.max_pool %y {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x4x4x8xf32>) -> tensor<1x2x2x8xf32>
  %z = graph.conv %p, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x2x2x8xf32>, tensor<1x1x8x8xf32>) -> tensor<1x2x2x8xf32>
  return %z : tensor<1x2x2x8xf32>
}

// A target that multiplies f16 by lane stores the factors of a product in f16 as
// well. A mean over positions reads them in f16, and sums in f32.
// HOST-LABEL: @gated(
// HOST: %[[A:.*]] = graph.relu %arg0
// HOST: %[[N:.*]] = graph.cast %[[A]] : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf16>
// HOST: %[[WIDE:.*]] = graph.cast %[[N]] : (tensor<1x4x4x8xf16>) -> tensor<1x4x4x8xf32>
// HOST: graph.reduce_mean %[[WIDE]]
// HOST: %[[G:.*]] = graph.sigmoid
// HOST: graph.cast %[[G]] : (tensor<1x1x1x8xf32>) -> tensor<1x1x1x8xf16>
// HOST: %[[P:.*]] = graph.mul %{{.*}}, %{{.*}} : (tensor<1x4x4x8xf32>, tensor<1x1x1x8xf32>) -> tensor<1x4x4x8xf32>
// HOST: graph.cast %[[P]] : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf16>
// HOST: return
func.func @gated(%x: tensor<1x4x4x8xf32>, %w: tensor<1x1x8x8xf32>) -> tensor<1x4x4x8xf32> {
  %a = graph.relu %x : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %m = graph.reduce_mean %a {axes = array<i64: 1, 2>} : (tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
  %g = graph.sigmoid %m : (tensor<1x1x1x8xf32>) -> tensor<1x1x1x8xf32>
  %p = graph.mul %a, %g : (tensor<1x4x4x8xf32>, tensor<1x1x1x8xf32>) -> tensor<1x4x4x8xf32>
  %y = graph.conv %p, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x4x8xf32>, tensor<1x1x8x8xf32>) -> tensor<1x4x4x8xf32>
  return %y : tensor<1x4x4x8xf32>
}
