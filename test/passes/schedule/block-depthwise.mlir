// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v4+vnni | FileCheck %s
// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v3+avxvnni | FileCheck %s --check-prefix=HALF
// REQUIRES: ingot-opt

// A depthwise convolution of int8 on x86: two output positions of 64 channels
// share the interleaved data of four input columns. Bytes and pairs are
// interleaved within 128-bit blocks, and the weights of the second position are
// shifted by one byte. Four vectors of sums become one register of results.
// CHECK-LABEL: @pairs(
// CHECK: %[[OUTSIDE:.*]] = vector.broadcast %{{.*}} : i8 to vector<64xi8>
// CHECK: kernel.zip_low %[[OUTSIDE]], %{{.*}} : vector<64xi8>
// CHECK: vector.store %{{.*}} : memref<1x4x8x64xi8>, vector<64xi8>
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-4: vector.shuffle %{{.*}} [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15] : vector<16xi32>, vector<16xi32>
// CHECK-COUNT-2: kernel.zip_low %{{.*}} : vector<64xi8>
// CHECK: kernel.zip_low %{{.*}} : vector<32xi16>
// CHECK: kernel.zip_high %{{.*}} : vector<32xi16>
// CHECK-COUNT-2: kernel.zip_high %{{.*}} : vector<64xi8>
// CHECK: kernel.zip_low %{{.*}} : vector<32xi16>
// CHECK: kernel.zip_high %{{.*}} : vector<32xi16>
// CHECK-COUNT-4: kernel.dot unsigned %{{.*}} : vector<64xi8>, vector<16xi32>
// CHECK: %[[MOVED:.*]] = arith.shli %{{.*}} : vector<16xi32>
// CHECK: %[[BYTES:.*]] = vector.bitcast %[[MOVED]] : vector<16xi32> to vector<64xi8>
// CHECK: kernel.dot unsigned %{{.*}}, %[[BYTES]], %{{.*}} : vector<64xi8>, vector<16xi32>
// CHECK: kernel.narrow_signed %{{.*}} : vector<16xi32> to vector<32xi16>
// CHECK: kernel.narrow_signed %{{.*}} : vector<16xi32> to vector<32xi16>
// CHECK: kernel.narrow_unsigned %{{.*}} : vector<32xi16> to vector<64xi8>
// CHECK: vector.store %{{.*}} : memref<1x4x8x64xi8>, vector<64xi8>
// HALF-LABEL: @pairs(
// HALF-COUNT-4: kernel.dot unsigned %{{.*}} : vector<32xi8>, vector<8xi32>
// HALF: vector.store %{{.*}} : memref<1x4x8x64xi8>, vector<32xi8>
kernel.func @pairs(%x: tensor<1x4x8x64xui8>, %w: tensor<768xsi8>, %scale: tensor<f32>) -> tensor<1x4x8x64xui8> attributes {strategy = "block-depthwise", plan = {columns = 2}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 64 : i64, tail = 0 : i64, group = 4 : i64, axes = 2 : i64} : (tensor<768xsi8>) -> tensor<3x3x1x64xsi8>
  %s = graph.conv %x, %u {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 64 : i64}
      : (tensor<1x4x8x64xui8>, tensor<3x3x1x64xsi8>) -> tensor<1x4x8x64xsi32>
  %f = graph.cast %s : (tensor<1x4x8x64xsi32>) -> tensor<1x4x8x64xf32>
  %zero = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %y = graph.quantize %f, %scale, %zero : (tensor<1x4x8x64xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x4x8x64xui8>
  kernel.return %y : tensor<1x4x8x64xui8>
}

// Channels after the last full register use narrower registers. The last of
// these registers overlaps the channels before it.
// CHECK-LABEL: @rest(
// CHECK: vector.load %{{.*}} : memref<1x3x3x72xi8>, vector<64xi8>
// CHECK: %[[LAST:.*]] = arith.constant 56 : index
// CHECK: vector.load %{{.*}}, %[[LAST]]] : memref<1x3x3x72xi8>, vector<16xi8>
// CHECK: kernel.dot unsigned %{{.*}} : vector<16xi8>, vector<4xi32>
kernel.func @rest(%x: tensor<1x3x3x72xui8>, %w: tensor<864xsi8>) -> tensor<1x1x1x72xsi32> attributes {strategy = "block-depthwise", plan = {columns = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 72 : i64, tail = 0 : i64, group = 4 : i64, axes = 2 : i64} : (tensor<864xsi8>) -> tensor<3x3x1x72xsi8>
  %s = graph.conv %x, %u {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 72 : i64}
      : (tensor<1x3x3x72xui8>, tensor<3x3x1x72xsi8>) -> tensor<1x1x1x72xsi32>
  kernel.return %s : tensor<1x1x1x72xsi32>
}
