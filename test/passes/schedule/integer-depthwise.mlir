// RUN: %ingot-opt %s -schedule-kernels=target=hexagon-v67 | FileCheck %s
// REQUIRES: ingot-opt

// The input at three kernel columns, interleaved with zeros by the target's instruction,
// times the packed weights of two positions of 64 channels each: four products for 128
// results, and as many for the next kernel row, without a loop.
// CHECK-LABEL: @positions(
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK-COUNT-3: vector.load %{{.*}} : memref<1x6x6x64xi8>, vector<128xi8>
// CHECK-COUNT-2: vector.interleave %{{.*}} : vector<128xi8> -> vector<256xi8>
// CHECK-COUNT-2: vector.interleave %{{.*}} : vector<64xi16> -> vector<128xi16>
// CHECK-COUNT-4: kernel.dot unsigned %{{.*}} : vector<128xi8>, vector<32xi32>
// CHECK-COUNT-3: vector.load %{{.*}} : memref<1x6x6x64xi8>, vector<128xi8>
// CHECK: vector.store %{{.*}} : memref<1x4x4x64xi8>, vector<128xi8>
kernel.func @positions(%x: tensor<1x6x6x64xui8>, %w: tensor<768xsi8>) -> tensor<1x4x4x64xui8> attributes {strategy = "integer-depthwise", plan = {columns = 128}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 64 : i64, tail = 0 : i64, group = 4 : i64, axes = 2 : i64} : (tensor<768xsi8>) -> tensor<3x3x1x64xsi8>
  %s = graph.conv %x, %u {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 64 : i64}
      : (tensor<1x6x6x64xui8>, tensor<3x3x1x64xsi8>) -> tensor<1x4x4x64xsi32>
  %y = graph.cast %s : (tensor<1x4x4x64xsi32>) -> tensor<1x4x4x64xui8>
  kernel.return %y : tensor<1x4x4x64xui8>
}

// More channels than a register holds, at a stride: the last register starts earlier.
// CHECK-LABEL: @channels(
// CHECK: vector.load %{{.*}} : memref<1x5x5x144xi8>, vector<128xi8>
// CHECK: vector.store %{{.*}} : memref<1x2x2x144xi8>, vector<128xi8>
// CHECK: %[[LAST:.*]] = arith.constant 16 : index
// CHECK: vector.load %{{.*}}, %[[LAST]]] : memref<1x5x5x144xi8>, vector<128xi8>
// CHECK: vector.store %{{.*}}, %[[LAST]]] : memref<1x2x2x144xi8>, vector<128xi8>
// CHECK-NOT: vector.store
kernel.func @channels(%x: tensor<1x5x5x144xui8>, %w: tensor<1728xsi8>) -> tensor<1x2x2x144xui8> attributes {strategy = "integer-depthwise", plan = {columns = 128}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 144 : i64, tail = 0 : i64, group = 4 : i64, axes = 2 : i64} : (tensor<1728xsi8>) -> tensor<3x3x1x144xsi8>
  %s = graph.conv %x, %u {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 144 : i64}
      : (tensor<1x5x5x144xui8>, tensor<3x3x1x144xsi8>) -> tensor<1x2x2x144xsi32>
  %y = graph.cast %s : (tensor<1x2x2x144xsi32>) -> tensor<1x2x2x144xui8>
  kernel.return %y : tensor<1x2x2x144xui8>
}

// Each second position of two registers: the columns of one are the even ones, those of
// the next the odd ones.
// CHECK-LABEL: @at_a_stride(
// CHECK-COUNT-2: vector.load %{{.*}} : memref<1x3x10x32xi8>, vector<128xi8>
// CHECK: vector.shuffle %[[FIRST:.*]], %[[NEXT:[^ ]*]] [0, 1, {{.*}} 31, 64, 65,
// CHECK: vector.shuffle %[[FIRST]], %[[NEXT]] [32, 33, {{.*}} 63, 96, 97,
// CHECK-COUNT-2: vector.load %{{.*}} : memref<1x3x10x32xi8>, vector<128xi8>
// CHECK-COUNT-4: kernel.dot unsigned %{{.*}} : vector<128xi8>, vector<32xi32>
// CHECK: vector.store %{{.*}} : memref<1x1x4x32xi8>, vector<128xi8>
kernel.func @at_a_stride(%x: tensor<1x3x10x32xui8>, %w: tensor<384xsi8>) -> tensor<1x1x4x32xui8> attributes {strategy = "integer-depthwise", plan = {columns = 128}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 32 : i64, tail = 0 : i64, group = 4 : i64, axes = 2 : i64} : (tensor<384xsi8>) -> tensor<3x3x1x32xsi8>
  %s = graph.conv %x, %u {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 32 : i64}
      : (tensor<1x3x10x32xui8>, tensor<3x3x1x32xsi8>) -> tensor<1x1x4x32xsi32>
  %y = graph.cast %s : (tensor<1x1x4x32xsi32>) -> tensor<1x1x4x32xui8>
  kernel.return %y : tensor<1x1x4x32xui8>
}
