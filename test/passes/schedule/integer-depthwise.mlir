// RUN: %ingot-opt %s -schedule-kernels=target=hexagon-v67 | FileCheck %s
// REQUIRES: ingot-opt

// A depthwise convolution computes two positions of 64 channels per register,
// row by row, with twelve vectors of weights in registers. The products of an
// input row, whose three kernel columns are interleaved with zeros by an
// instruction, are added to the sums of the output row that it completes, and
// to the sums of the next two rows, which the loop carries.
// CHECK-LABEL: @positions(
// CHECK: scf.for
// CHECK-COUNT-12: vector.load %{{.*}} : memref<1536xi8>, vector<128xi8>
// CHECK-COUNT-6: vector.load %{{.*}} : memref<2304xi8>, vector<128xi8>
// CHECK: scf.for {{.*}} iter_args(%[[OLDEST:[a-z0-9]+]] =
// CHECK-COUNT-3: vector.load %{{.*}} : memref<2304xi8>, vector<128xi8>
// CHECK-COUNT-2: vector.interleave %{{.*}} : vector<128xi8> -> vector<256xi8>
// CHECK-COUNT-2: vector.interleave %{{.*}} : vector<64xi16> -> vector<128xi16>
// CHECK: kernel.dot unsigned %{{.*}}, %[[OLDEST]] : vector<128xi8>, vector<32xi32>
// CHECK-COUNT-11: kernel.dot unsigned %{{.*}} : vector<128xi8>, vector<32xi32>
// CHECK-NOT: kernel.dot
// CHECK: vector.store %{{.*}} : memref<1024xi8>, vector<128xi8>
// CHECK: {kernel.unrolled = false}
kernel.func @positions(%x: tensor<1x6x6x64xui8>, %w: tensor<1536xsi8>) -> tensor<1x4x4x64xui8> attributes {strategy = "integer-depthwise", plan = {columns = 128, rows = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 128 : i64, tail = 128 : i64, group = 4 : i64, axes = 2 : i64} : (tensor<1536xsi8>) -> tensor<3x3x1x64xsi8>
  %s = graph.conv %x, %u {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 64 : i64}
      : (tensor<1x6x6x64xui8>, tensor<3x3x1x64xsi8>) -> tensor<1x4x4x64xsi32>
  %y = graph.cast %s : (tensor<1x4x4x64xsi32>) -> tensor<1x4x4x64xui8>
  kernel.return %y : tensor<1x4x4x64xui8>
}

// 144 channels with a stride of 2: a register of 128 lanes has parts of two
// positions, and is merged from a load for each of them. vector.vscale hides
// the distances between loads from the C++ compiler. The last register of a row
// starts earlier. Weights and addends of the channels are repeated at the end,
// so that they can be read past the last channel.
// CHECK-LABEL: @channels(
// CHECK: vector.vscale
// CHECK: scf.for
// CHECK: %[[BEHIND:.*]] = arith.cmpi ule, {{.*}} : vector<128xi8>
// CHECK-COUNT-12: vector.load %{{.*}} : memref<3072xi8>, vector<128xi8>
// CHECK: scf.for
// CHECK: arith.select %[[BEHIND]], %{{.*}} : vector<128xi1>, vector<128xi8>
// CHECK: vector.load %{{.*}} : memref<256xi32>, vector<128xi32>
// CHECK: vector.store %{{.*}} : memref<576xi8>, vector<128xi8>
// CHECK: vector.store %{{.*}}, %[[LAST:.*]]] : memref<576xi8>, vector<128xi8>
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

// With 48 channels, a register has two whole positions, which one merge
// combines; parts of further positions would need too many merges. The last
// register of a row ends with the row, and may start in the middle of a
// position.
// CHECK-LABEL: @whole_positions(
// CHECK-DAG: %[[ONE:.*]] = vector.vscale
// CHECK-DAG: %[[RESULTS:.*]] = arith.muli %[[ONE]], %c144
// CHECK: arith.cmpi ule
// CHECK-NOT: arith.cmpi ule
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %[[RESULTS]] : index
// CHECK: %[[FIRST:.*]] = arith.addi %[[ROW]], %{{.*}} : index
// CHECK: vector.store %{{.*}}, %{{.*}}[%[[FIRST]]] : memref<432xi8>, vector<128xi8>
// CHECK-COUNT-2: arith.cmpi ule
// CHECK: scf.for
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %[[RESULTS]] : index
// CHECK: %[[FIRST:.*]] = arith.addi %[[ROW]], %c16{{.*}} : index
// CHECK: vector.store %{{.*}}, %{{.*}}[%[[FIRST]]] : memref<432xi8>, vector<128xi8>
kernel.func @whole_positions(%x: tensor<1x7x7x48xui8>, %w: tensor<1920xsi8>) -> tensor<1x3x3x48xui8> attributes {strategy = "integer-depthwise", plan = {columns = 128, rows = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 160 : i64, tail = 160 : i64, group = 4 : i64, axes = 2 : i64} : (tensor<1920xsi8>) -> tensor<3x3x1x48xsi8>
  %s = graph.conv %x, %u {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 48 : i64}
      : (tensor<1x7x7x48xui8>, tensor<3x3x1x48xsi8>) -> tensor<1x3x3x48xsi32>
  %y = graph.cast %s : (tensor<1x3x3x48xsi32>) -> tensor<1x3x3x48xui8>
  kernel.return %y : tensor<1x3x3x48xui8>
}

// With a stride of 2, the positions of two loaded registers are divided into
// one register of even columns and one of odd columns.
// CHECK-LABEL: @at_a_stride(
// CHECK-COUNT-2: vector.load %{{.*}} : memref<1152xi8>, vector<128xi8>
// CHECK: vector.shuffle %[[FIRST:.*]], %[[NEXT:[^ ]*]] [0, 1, {{.*}} 63, 128, 129,
// CHECK: vector.shuffle %[[FIRST]], %[[NEXT]] [64, 65, {{.*}} 127, 192, 193,
// CHECK: vector.load %{{.*}} : memref<1152xi8>, vector<128xi8>
// CHECK-COUNT-4: kernel.dot unsigned %{{.*}} : vector<128xi8>, vector<32xi32>
// CHECK: vector.store %{{.*}} : memref<128xi8>, vector<128xi8>
kernel.func @at_a_stride(%x: tensor<1x3x6x64xui8>, %w: tensor<1536xsi8>) -> tensor<1x1x2x64xui8> attributes {strategy = "integer-depthwise", plan = {columns = 128, rows = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 128 : i64, tail = 128 : i64, group = 4 : i64, axes = 2 : i64} : (tensor<1536xsi8>) -> tensor<3x3x1x64xsi8>
  %s = graph.conv %x, %u {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 64 : i64}
      : (tensor<1x3x6x64xui8>, tensor<3x3x1x64xsi8>) -> tensor<1x1x2x64xsi32>
  %y = graph.cast %s : (tensor<1x1x2x64xsi32>) -> tensor<1x1x2x64xui8>
  kernel.return %y : tensor<1x1x2x64xui8>
}
