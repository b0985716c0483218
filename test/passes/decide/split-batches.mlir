// Consecutive groups are computed image by image if the tensors between them do
// not fit into the caches as a whole, but do fit for one image.
//
// RUN: %ingot-opt %s -split-input-file -decide-form-groups=target=x86-64-v4 -decide-pack-weights=target=x86-64-v4 -simplify-fold-constants -decide-chain-rows=target=x86-64-v4 -decide-split-batches=target=x86-64-v4 | FileCheck %s
// RUN: %ingot-opt %s -split-input-file -decide-form-groups -decide-pack-weights -simplify-fold-constants -decide-split-batches | FileCheck %s --check-prefix=UNKNOWN
// REQUIRES: ingot-opt

// For a target with unknown caches, nothing is split.
// UNKNOWN-NOT: graph.slice
// UNKNOWN-NOT: axis = 0

// The tensor between two matrix multiplications has 16 MB. Both multiplications
// and the normalization before them are computed for one image after the other,
// and the residual that they read is sliced as well.
// CHECK-LABEL: @between(
// CHECK: %[[X0:.*]] = graph.slice %arg0 {starts = array<i64: 0, 0, 0>{{.*}} -> tensor<1x3136x40xf32>
// CHECK-NEXT: %[[N0:.*]] = graph.group "body"(%[[X0]])
// CHECK: %[[H0:.*]] = graph.group "matrix-product"({{.*}}%[[N0]]{{.*}} -> tensor<1x3136x160xf32>
// CHECK: %[[Y0:.*]] = graph.group "matrix-product"({{.*}}%[[H0]], %[[X0]]{{.*}} -> tensor<1x3136x40xf32>
// CHECK: %[[X1:.*]] = graph.slice %arg0 {starts = array<i64: 1, 0, 0>
// CHECK-NEXT: graph.group "body"(%[[X1]])
// CHECK: %[[ALL:.*]] = graph.concat %[[Y0]], {{.*}} {axis = 0 : i64}
// CHECK-NEXT: return %[[ALL]]
func.func @between(%x: tensor<8x3136x40xf32>) -> tensor<8x3136x40xf32> {
  %v = graph.constant dense<1.0> : tensor<40x160xf32> : tensor<40x160xf32>
  %w = graph.constant dense<2.0> : tensor<160x40xf32> : tensor<160x40xf32>
  %n = graph.layer_norm %x {epsilon = 1.0e-5 : f32, center = true} : (tensor<8x3136x40xf32>) -> tensor<8x3136x40xf32>
  %h = graph.matmul %n, %v : (tensor<8x3136x40xf32>, tensor<40x160xf32>) -> tensor<8x3136x160xf32>
  %r = graph.relu %h : (tensor<8x3136x160xf32>) -> tensor<8x3136x160xf32>
  %y = graph.matmul %r, %w : (tensor<8x3136x160xf32>, tensor<160x40xf32>) -> tensor<8x3136x40xf32>
  %z = graph.add %y, %x : (tensor<8x3136x40xf32>, tensor<8x3136x40xf32>) -> tensor<8x3136x40xf32>
  return %z : tensor<8x3136x40xf32>
}

// -----

// Not split: the 0.4 MB between the groups stay in the L2 cache anyway.
// CHECK-LABEL: @small(
// CHECK-NOT: graph.slice
// CHECK: return
func.func @small(%x: tensor<8x49x64xf32>) -> tensor<8x49x64xf32> {
  %v = graph.constant dense<1.0> : tensor<64x256xf32> : tensor<64x256xf32>
  %w = graph.constant dense<2.0> : tensor<256x64xf32> : tensor<256x64xf32>
  %h = graph.matmul %x, %v : (tensor<8x49x64xf32>, tensor<64x256xf32>) -> tensor<8x49x256xf32>
  %y = graph.matmul %h, %w : (tensor<8x49x256xf32>, tensor<256x64xf32>) -> tensor<8x49x64xf32>
  return %y : tensor<8x49x64xf32>
}

// -----

// Not split: weights of 16 MB would be read for each image.
// CHECK-LABEL: @large_weights(
// CHECK-NOT: graph.slice
// CHECK: return
func.func @large_weights(%x: tensor<8x32x1024xf32>) -> tensor<8x32x1024xf32> {
  %v = graph.constant dense<1.0> : tensor<1024x4096xf32> : tensor<1024x4096xf32>
  %w = graph.constant dense<2.0> : tensor<4096x1024xf32> : tensor<4096x1024xf32>
  %h = graph.matmul %x, %v : (tensor<8x32x1024xf32>, tensor<1024x4096xf32>) -> tensor<8x32x4096xf32>
  %y = graph.matmul %h, %w : (tensor<8x32x4096xf32>, tensor<4096x1024xf32>) -> tensor<8x32x1024xf32>
  return %y : tensor<8x32x1024xf32>
}

// -----

// An operator that mixes images is computed as a whole, and ends the split
// parts before it.
// CHECK-LABEL: @mixed(
// CHECK: graph.slice %arg0 {starts = array<i64: 0, 0, 0, 0>
// CHECK: %[[ALL:.*]] = graph.concat {{.*}} {axis = 0 : i64} : {{.*}} -> tensor<8x56x56x40xf32>
// CHECK: graph.group {{.*}}(%[[ALL]]){{.*}} -> tensor<1x56x56x40xf32>
func.func @mixed(%x: tensor<8x56x56x40xf32>) -> tensor<1x56x56x40xf32> {
  %v = graph.constant dense<1.0> : tensor<1x1x40x160xf32> : tensor<1x1x40x160xf32>
  %w = graph.constant dense<2.0> : tensor<1x1x160x40xf32> : tensor<1x1x160x40xf32>
  %h = graph.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<8x56x56x40xf32>, tensor<1x1x40x160xf32>) -> tensor<8x56x56x160xf32>
  %y = graph.conv %h, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<8x56x56x160xf32>, tensor<1x1x160x40xf32>) -> tensor<8x56x56x40xf32>
  %m = graph.reduce_max %y {axes = array<i64: 0>} : (tensor<8x56x56x40xf32>) -> tensor<1x56x56x40xf32>
  return %m : tensor<1x56x56x40xf32>
}

// -----

// If the windows of an image lie along the first axis, the 64 windows of one
// image are computed together.
// CHECK-LABEL: @windows(
// CHECK: graph.slice %arg0 {starts = array<i64: 0, 0, 0>{{.*}} -> tensor<64x49x96xf32>
// CHECK: graph.group {{.*}} -> tensor<64x49x288xf32>
// CHECK: graph.reshape {{.*}} -> tensor<1x3136x288xf32>
// CHECK: graph.group {{.*}} -> tensor<1x3136x96xf32>
// CHECK: graph.concat {{.*}} {axis = 0 : i64}
func.func @windows(%x: tensor<512x49x96xf32>, %b: tensor<8x1x96xf32>) -> tensor<8x3136x96xf32> {
  %v = graph.constant dense<1.0> : tensor<96x288xf32> : tensor<96x288xf32>
  %w = graph.constant dense<2.0> : tensor<288x96xf32> : tensor<288x96xf32>
  %h = graph.matmul %x, %v : (tensor<512x49x96xf32>, tensor<96x288xf32>) -> tensor<512x49x288xf32>
  %r = graph.reshape %h : (tensor<512x49x288xf32>) -> tensor<8x3136x288xf32>
  %y = graph.matmul %r, %w : (tensor<8x3136x288xf32>, tensor<288x96xf32>) -> tensor<8x3136x96xf32>
  %z = graph.add %y, %b : (tensor<8x3136x96xf32>, tensor<8x1x96xf32>) -> tensor<8x3136x96xf32>
  return %z : tensor<8x3136x96xf32>
}

// -----

// Results that are written directly into a concatenation of channels are
// written, for each image, into the concatenation of this image. A reshape of a
// split result becomes a view of the result of all images.
// CHECK-LABEL: @channels(
// CHECK: %[[A0:.*]] = graph.group {{.*}}output_strides = array<i64: 602112, 10752, 192, 1>{{.*}} -> tensor<1x56x56x96xf32>
// CHECK: %[[B0:.*]] = graph.group {{.*}}output_strides = array<i64: 602112, 10752, 192, 1>{{.*}} -> tensor<1x56x56x96xf32>
// CHECK: %[[C0:.*]] = graph.concat %[[A0]], %[[B0]] {axis = 3 : i64}
// CHECK: %[[Y0:.*]] = graph.group "convolution"({{.*}}%[[C0]]{{.*}} -> tensor<1x56x56x40xf32>
// CHECK: %[[ALL:.*]] = graph.concat %[[Y0]], {{.*}} {axis = 0 : i64} : {{.*}} -> tensor<8x56x56x40xf32>
// CHECK-NOT: axis = 0
// CHECK: %[[FLAT:.*]] = graph.reshape %[[ALL]] : {{.*}} -> tensor<8x3136x40xf32>
// CHECK-NEXT: graph.group {{.*}}(%[[FLAT]])
// CHECK: return %[[ALL]]
func.func @channels(%x: tensor<8x56x56x40xf32>) -> (tensor<8x56x56x40xf32>, tensor<8x3136x40xf32>) {
  %u = graph.constant dense<1.0> : tensor<1x1x40x96xf32> : tensor<1x1x40x96xf32>
  %v = graph.constant dense<3.0> : tensor<1x1x40x96xf32> : tensor<1x1x40x96xf32>
  %w = graph.constant dense<2.0> : tensor<1x1x192x40xf32> : tensor<1x1x192x40xf32>
  %a = graph.conv %x, %u {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<8x56x56x40xf32>, tensor<1x1x40x96xf32>) -> tensor<8x56x56x96xf32>
  %b = graph.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<8x56x56x40xf32>, tensor<1x1x40x96xf32>) -> tensor<8x56x56x96xf32>
  %c = graph.concat %a, %b {axis = 3 : i64} : (tensor<8x56x56x96xf32>, tensor<8x56x56x96xf32>) -> tensor<8x56x56x192xf32>
  %y = graph.conv %c, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<8x56x56x192xf32>, tensor<1x1x192x40xf32>) -> tensor<8x56x56x40xf32>
  %f = graph.reshape %y : (tensor<8x56x56x40xf32>) -> tensor<8x3136x40xf32>
  return %y, %f : tensor<8x56x56x40xf32>, tensor<8x3136x40xf32>
}

// -----

// Not split: each part of the multiplication reads the whole result of the
// group before it.
// CHECK-LABEL: @whole(
// CHECK-NOT: graph.slice
// CHECK: return
func.func @whole(%x: tensor<64x8192xf32>, %a: tensor<64x64xf32>) -> tensor<64x8192xf32> {
  %r = graph.exp %x : (tensor<64x8192xf32>) -> tensor<64x8192xf32>
  %m = graph.matmul %a, %r : (tensor<64x64xf32>, tensor<64x8192xf32>) -> tensor<64x8192xf32>
  %y = graph.tanh %m : (tensor<64x8192xf32>) -> tensor<64x8192xf32>
  return %y : tensor<64x8192xf32>
}

// -----

// Zero points of the rows of a matrix are divided as the rows are.
// CHECK-LABEL: @row_zeros(
// UNKNOWN: @row_zeros(
// CHECK: %[[Z0:.*]] = graph.slice %arg1 {{.*}} -> tensor<4x1xui8>
// CHECK: graph.group {{.*}}%[[Z0]]{{.*}} -> tensor<4x1xsi32>
func.func @row_zeros(%x: tensor<64x16384xf32>, %az: tensor<64x1xui8>) -> tensor<64x1xsi32> {
  %s = graph.constant dense<0.02> : tensor<f32> : tensor<f32>
  %z = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %w = graph.constant dense<3> : tensor<16384x1xsi8> : tensor<16384x1xsi8>
  %bz = graph.constant dense<0> : tensor<si8> : tensor<si8>
  %r = graph.relu %x : (tensor<64x16384xf32>) -> tensor<64x16384xf32>
  %q = graph.quantize %r, %s, %z : (tensor<64x16384xf32>, tensor<f32>, tensor<ui8>) -> tensor<64x16384xui8>
  %y = graph.matmul %q, %w, %az, %bz : (tensor<64x16384xui8>, tensor<16384x1xsi8>, tensor<64x1xui8>, tensor<si8>) -> tensor<64x1xsi32>
  return %y : tensor<64x1xsi32>
}
