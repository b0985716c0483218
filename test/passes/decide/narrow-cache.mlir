// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v4 | FileCheck %s
// REQUIRES: ingot-opt

// The keys and values of a cache of int8 become floats where the attention
// reads them, also if the cache is stored with the axis of keys first.
// CHECK-LABEL: @int8(
// CHECK: graph.group "decode-attention"
// CHECK-COUNT-2: graph.cast
// CHECK-NOT: graph.group
// CHECK: return
func.func @int8(%q: tensor<1x2x3x32xf32>, %k: tensor<40x1x2x32xsi8>, %v: tensor<40x1x2x32xsi8>) -> tensor<1x2x3x32xf32> {
  %kt = graph.transpose %k {perm = array<i64: 1, 2, 0, 3>} : (tensor<40x1x2x32xsi8>) -> tensor<1x2x40x32xsi8>
  %kf = graph.cast %kt : (tensor<1x2x40x32xsi8>) -> tensor<1x2x40x32xf32>
  %kk = graph.transpose %kf {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x2x40x32xf32>) -> tensor<1x2x32x40xf32>
  %vt = graph.transpose %v {perm = array<i64: 1, 2, 0, 3>} : (tensor<40x1x2x32xsi8>) -> tensor<1x2x40x32xsi8>
  %vf = graph.cast %vt : (tensor<1x2x40x32xsi8>) -> tensor<1x2x40x32xf32>
  %s = graph.matmul %q, %kk : (tensor<1x2x3x32xf32>, tensor<1x2x32x40xf32>) -> tensor<1x2x3x40xf32>
  %p = graph.softmax %s {axis = 3 : i64} : (tensor<1x2x3x40xf32>) -> tensor<1x2x3x40xf32>
  %y = graph.matmul %p, %vf : (tensor<1x2x3x40xf32>, tensor<1x2x40x32xf32>) -> tensor<1x2x3x32xf32>
  return %y : tensor<1x2x3x32xf32>
}

// Two parts of a head, here the low and the high bits of bytes, are read from
// the same bytes.
// CHECK-LABEL: @int4(
// CHECK: graph.group "decode-attention"
// CHECK: graph.concat
// CHECK-NOT: graph.group
// CHECK: return
func.func @int4(%q: tensor<1x2x3x32xf32>, %k: tensor<1x2x40x16xui8>, %v: tensor<1x2x40x32xf32>) -> tensor<1x2x3x32xf32> {
  %m = graph.constant dense<15> : tensor<ui8> : tensor<ui8>
  %n = graph.constant dense<4> : tensor<ui8> : tensor<ui8>
  %low = graph.and %k, %m : (tensor<1x2x40x16xui8>, tensor<ui8>) -> tensor<1x2x40x16xui8>
  %high = graph.bit_shift %k, %n {direction = "RIGHT"} : (tensor<1x2x40x16xui8>, tensor<ui8>) -> tensor<1x2x40x16xui8>
  %lf = graph.cast %low : (tensor<1x2x40x16xui8>) -> tensor<1x2x40x16xf32>
  %hf = graph.cast %high : (tensor<1x2x40x16xui8>) -> tensor<1x2x40x16xf32>
  %kf = graph.concat %lf, %hf {axis = 3 : i64} : (tensor<1x2x40x16xf32>, tensor<1x2x40x16xf32>) -> tensor<1x2x40x32xf32>
  %kk = graph.transpose %kf {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x2x40x32xf32>) -> tensor<1x2x32x40xf32>
  %s = graph.matmul %q, %kk : (tensor<1x2x3x32xf32>, tensor<1x2x32x40xf32>) -> tensor<1x2x3x40xf32>
  %p = graph.softmax %s {axis = 3 : i64} : (tensor<1x2x3x40xf32>) -> tensor<1x2x3x40xf32>
  %y = graph.matmul %p, %v : (tensor<1x2x3x40xf32>, tensor<1x2x40x32xf32>) -> tensor<1x2x3x32xf32>
  return %y : tensor<1x2x3x32xf32>
}

// Keys that are computed from other keys, without a narrow tensor between them,
// are stored first: each block of queries reads them.
// CHECK-LABEL: @computed(
// CHECK: graph.group "elementwise"
// CHECK: graph.group "decode-attention"
// CHECK: return
func.func @computed(%q: tensor<1x2x3x32xf32>, %k: tensor<1x2x40x32xf32>, %v: tensor<1x2x40x32xf32>) -> tensor<1x2x3x32xf32> {
  %e = graph.exp %v : (tensor<1x2x40x32xf32>) -> tensor<1x2x40x32xf32>
  %kk = graph.transpose %k {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x2x40x32xf32>) -> tensor<1x2x32x40xf32>
  %s = graph.matmul %q, %kk : (tensor<1x2x3x32xf32>, tensor<1x2x32x40xf32>) -> tensor<1x2x3x40xf32>
  %p = graph.softmax %s {axis = 3 : i64} : (tensor<1x2x3x40xf32>) -> tensor<1x2x3x40xf32>
  %y = graph.matmul %p, %e : (tensor<1x2x3x40xf32>, tensor<1x2x40x32xf32>) -> tensor<1x2x3x32xf32>
  return %y : tensor<1x2x3x32xf32>
}
