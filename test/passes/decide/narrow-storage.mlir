// RUN: %ingot-opt %s -decide-narrow-contractions="target=sm_90a fast=bf16" -canonicalize -decide-form-groups=target=sm_90a -decide-narrow-storage="target=sm_90a fast=bf16" | FileCheck %s
// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v4+bf16 -decide-narrow-storage="target=x86-64-v4+bf16 fast=bf16" | FileCheck %s --check-prefix=WIDE
// RUN: %ingot-opt %s -decide-form-groups=target=sm_90a -decide-narrow-storage="target=sm_90a fast=tf32" | FileCheck %s --check-prefix=WIDE
// REQUIRES: ingot-opt

// WIDE-NOT: bf16>

// A layer normalization reads and writes bf16, without a separate kernel that
// rounds its result. Sums within kernels are f32, and so is the result of the
// function.
// CHECK-LABEL: @residual(
// CHECK: %[[S:.*]] = graph.group "{{.*}}-product"(
// CHECK: graph.matmul {{.*}} -> tensor<64x64xf32>
// CHECK: graph.add {{.*}} -> tensor<64x64xf32>
// CHECK: graph.cast {{.*}} -> tensor<64x64xbf16>
// CHECK: %[[N:.*]] = graph.group "body"(%[[S]], %arg3)
// CHECK-SAME: -> tensor<64x64xbf16>
// CHECK: graph.layer_norm {{.*}} : (tensor<64x64xbf16>, tensor<64xf32>) -> tensor<64x64xbf16>
// CHECK-NEXT: graph.yield
// CHECK: %[[Y:.*]] = graph.group "{{.*}}-product"(%[[N]], %{{.*}}, %[[S]])
// CHECK-SAME: -> tensor<64x64xf32>
// CHECK: return %[[Y]]
func.func @residual(%x: tensor<64x64xf32>, %v: tensor<64x64xf32>, %w: tensor<64x64xf32>, %scale: tensor<64xf32>) -> tensor<64x64xf32> {
  %p = graph.matmul %x, %v : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = graph.add %p, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %n = graph.layer_norm %s, %scale {center = true, epsilon = 1.0e-5 : f32} : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32>
  %q = graph.matmul %n, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = graph.add %q, %s : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// Operators that only select or move elements work on any type: a max pool
// reads and writes bf16.
// CHECK-LABEL: @pool(
// CHECK: %[[R:.*]] = graph.group "{{.*}}-product"({{.*}} -> tensor<1x8x8x16xbf16>
// CHECK: graph.group "loop-nest"(%[[R]])
// CHECK-NEXT: ^bb0
// CHECK-NEXT: graph.max_pool {{.*}} -> tensor<1x4x4x16xbf16>
// CHECK-NEXT: graph.yield
func.func @pool(%x: tensor<1x8x8x16xf32>, %w: tensor<1x1x16x16xf32>) -> tensor<1x4x4x16xf32> {
  %r = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<1x1x16x16xf32>) -> tensor<1x8x8x16xf32>
  %m = graph.max_pool %r {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>} : (tensor<1x8x8x16xf32>) -> tensor<1x4x4x16xf32>
  %y = graph.conv %m, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x4x16xf32>, tensor<1x1x16x16xf32>) -> tensor<1x4x4x16xf32>
  return %y : tensor<1x4x4x16xf32>
}

// The arguments of sine and cosine, and the kernels that compute them, stay in
// f32. The sines and cosines are stored as bf16.
// CHECK-LABEL: @angles(
// CHECK: %[[P:.*]] = graph.group {{.*}} -> tensor<16x16xf32>
// CHECK: %[[A:.*]] = graph.group {{.*}}(%[[P]]{{.*}} -> tensor<16x32xf32>
// CHECK: %[[S:.*]] = graph.group {{.*}}(%[[A]]){{.*}} -> tensor<16x32xbf16>
// CHECK: %[[C:.*]] = graph.group {{.*}}(%[[A]]){{.*}} -> tensor<16x32xbf16>
// CHECK: graph.group {{.*}}(%[[S]], %[[C]])
func.func @angles(%at: tensor<16x1xf32>, %speed: tensor<16xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x16xf32>) {
  %p = graph.mul %at, %speed : (tensor<16x1xf32>, tensor<16xf32>) -> tensor<16x16xf32>
  %a = graph.concat %p, %p {axis = 1 : i64} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x32xf32>
  %s = graph.sin %a : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %c = graph.cos %a : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %y = graph.mul %s, %c : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %z = graph.sub %c, %s : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %q = graph.exp %p : (tensor<16x16xf32>) -> tensor<16x16xf32>
  return %y, %z, %q : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x16xf32>
}

// Values that are computed only from integers, and values that are converted to
// integers, keep full precision as well.
// CHECK-LABEL: @integers(
// CHECK: %[[M:.*]] = graph.group {{.*}} -> tensor<64xf32>
// CHECK: %[[F:.*]] = graph.group {{.*}} -> tensor<64xf32>
// CHECK: graph.group {{.*}}(%[[M]], %[[F]]){{.*}} -> tensor<64xsi32>
func.func @integers(%i: tensor<64xsi32>, %x: tensor<64xf32>) -> (tensor<64xsi32>, tensor<64xf32>) {
  %m = graph.cast %i : (tensor<64xsi32>) -> tensor<64xf32>
  %f = graph.exp %x : (tensor<64xf32>) -> tensor<64xf32>
  %s = graph.add %m, %f : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %y = graph.cast %s : (tensor<64xf32>) -> tensor<64xsi32>
  %z = graph.mul %m, %f : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %y, %z : tensor<64xsi32>, tensor<64xf32>
}

// A softmax between two matrix multiplications reads and writes bf16.
// CHECK-LABEL: @shares(
// CHECK: graph.softmax {{.*}} : (tensor<64x16xbf16>) -> tensor<64x16xbf16>
// CHECK-NEXT: graph.yield
// CHECK: graph.group "{{.*}}-product"
func.func @shares(%x: tensor<64x64xf32>, %v: tensor<64x16xf32>, %w: tensor<16x64xf32>) -> tensor<64x64xf32> {
  %p = graph.matmul %x, %v : (tensor<64x64xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
  %s = graph.softmax %p {axis = 1 : i64} : (tensor<64x16xf32>) -> tensor<64x16xf32>
  %y = graph.matmul %s, %w : (tensor<64x16xf32>, tensor<16x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
