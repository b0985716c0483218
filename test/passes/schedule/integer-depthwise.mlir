// RUN: %ingot-opt %s -schedule-kernels=target=hexagon-v67 | FileCheck %s
// REQUIRES: ingot-opt

// Registers of two positions of 64 channels keep their twelve vectors of weights down the
// rows: the input at three kernel columns, interleaved with zeros by the target's
// instruction, times these, for each kernel row, without a loop over them.
// CHECK-LABEL: @positions(
// CHECK: scf.for
// CHECK-COUNT-12: vector.load %{{.*}} : memref<1536xi8>, vector<128xi8>
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK-COUNT-3: vector.load %{{.*}} : memref<2304xi8>, vector<128xi8>
// CHECK-COUNT-2: vector.interleave %{{.*}} : vector<128xi8> -> vector<256xi8>
// CHECK-COUNT-2: vector.interleave %{{.*}} : vector<64xi16> -> vector<128xi16>
// CHECK-COUNT-4: kernel.dot unsigned %{{.*}} : vector<128xi8>, vector<32xi32>
// CHECK-COUNT-3: vector.load %{{.*}} : memref<2304xi8>, vector<128xi8>
// CHECK: vector.store %{{.*}} : memref<4x256xi8>, vector<128xi8>
kernel.func @positions(%x: tensor<1x6x6x64xui8>, %w: tensor<1536xsi8>) -> tensor<1x4x4x64xui8> attributes {strategy = "integer-depthwise", plan = {columns = 128, rows = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 128 : i64, tail = 128 : i64, group = 4 : i64, axes = 2 : i64} : (tensor<1536xsi8>) -> tensor<3x3x1x64xsi8>
  %s = graph.conv %x, %u {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 64 : i64}
      : (tensor<1x6x6x64xui8>, tensor<3x3x1x64xsi8>) -> tensor<1x4x4x64xsi32>
  %y = graph.cast %s : (tensor<1x4x4x64xsi32>) -> tensor<1x4x4x64xui8>
  kernel.return %y : tensor<1x4x4x64xui8>
}

// 144 channels, at a stride: a register has parts of two positions, and is merged of one
// for each of them. The compiler of the code does not see how far loads are apart. The last
// register of a row begins earlier. Weights and what is added for each channel are read on
// across the last one.
// CHECK-LABEL: @channels(
// CHECK: vector.vscale
// CHECK: scf.for
// CHECK: %[[BEHIND:.*]] = arith.cmpi ule, {{.*}} : vector<128xi8>
// CHECK-COUNT-12: vector.load %{{.*}} : memref<3072xi8>, vector<128xi8>
// CHECK: scf.for
// CHECK: arith.select %[[BEHIND]], %{{.*}} : vector<128xi1>, vector<128xi8>
// CHECK: vector.load %{{.*}} : memref<256xi32>, vector<128xi32>
// CHECK: vector.store %{{.*}} : memref<2x288xi8>, vector<128xi8>
// CHECK: vector.store %{{.*}}, %[[LAST:.*]]] : memref<2x288xi8>, vector<128xi8>
// CHECK-NOT: vector.store
kernel.func @channels(%x: tensor<1x5x6x144xui8>, %w: tensor<3072xsi8>, %b: tensor<256xsi32>) -> tensor<1x2x2x144xui8> attributes {strategy = "integer-depthwise", plan = {columns = 128, rows = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 256 : i64, tail = 256 : i64, group = 4 : i64, axes = 2 : i64} : (tensor<3072xsi8>) -> tensor<3x3x1x144xsi8>
  %c = graph.unpack_panels %b {panel = 256 : i64, tail = 256 : i64} : (tensor<256xsi32>) -> tensor<1x144xsi32>
  %s = graph.conv %x, %u {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 144 : i64}
      : (tensor<1x5x6x144xui8>, tensor<3x3x1x144xsi8>) -> tensor<1x2x2x144xsi32>
  %a = graph.add %s, %c : (tensor<1x2x2x144xsi32>, tensor<1x144xsi32>) -> tensor<1x2x2x144xsi32>
  %y = graph.cast %a : (tensor<1x2x2x144xsi32>) -> tensor<1x2x2x144xui8>
  kernel.return %y : tensor<1x2x2x144xui8>
}

// Each second position of two registers: the columns of one are the even ones, those of
// the next the odd ones.
// CHECK-LABEL: @at_a_stride(
// CHECK-COUNT-2: vector.load %{{.*}} : memref<960xi8>, vector<128xi8>
// CHECK: vector.shuffle %[[FIRST:.*]], %[[NEXT:[^ ]*]] [0, 1, {{.*}} 31, 64, 65,
// CHECK: vector.shuffle %[[FIRST]], %[[NEXT]] [32, 33, {{.*}} 63, 96, 97,
// CHECK: vector.load %{{.*}} : memref<960xi8>, vector<128xi8>
// CHECK-COUNT-4: kernel.dot unsigned %{{.*}} : vector<128xi8>, vector<32xi32>
// CHECK: vector.store %{{.*}} : memref<1x128xi8>, vector<128xi8>
kernel.func @at_a_stride(%x: tensor<1x3x10x32xui8>, %w: tensor<1536xsi8>) -> tensor<1x1x4x32xui8> attributes {strategy = "integer-depthwise", plan = {columns = 128, rows = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 128 : i64, tail = 128 : i64, group = 4 : i64, axes = 2 : i64} : (tensor<1536xsi8>) -> tensor<3x3x1x32xsi8>
  %s = graph.conv %x, %u {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 32 : i64}
      : (tensor<1x3x10x32xui8>, tensor<3x3x1x32xsi8>) -> tensor<1x1x4x32xsi32>
  %y = graph.cast %s : (tensor<1x1x4x32xsi32>) -> tensor<1x1x4x32xui8>
  kernel.return %y : tensor<1x1x4x32xui8>
}
