// RUN: %ingot-opt %s -schedule-kernels=target=armv8.2-a+fp16 | FileCheck %s
// REQUIRES: ingot-opt

// Eight rows of f16 are packed, of which a tile loads one vector for each K
// step. The sums of one stage of K steps are f16, in vectors of eight columns.
// CHECK-LABEL: @halves(
// CHECK-COUNT-8: vector.load %{{.*}} : memref<10x16xf16>, vector<8xf16>
// CHECK-COUNT-24: vector.shuffle
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c4
// CHECK: vector.load %{{.*}} : memref<1x256xf16>, vector<8xf16>
// CHECK: vector.load %{{.*}} : memref<256xf16>, vector<8xf16>
// CHECK: vector.load %{{.*}} : memref<256xf16>, vector<8xf16>
// CHECK: kernel.dot {{.*}} : vector<8xf16>, vector<8xf16>
// CHECK: return
kernel.func @halves(%x: tensor<1x2x5x16xf16>, %p: tensor<256xf16>) -> tensor<1x2x5x16xf32>
    attributes {strategy = "convolution",
                plan = {columns = 16, order = "tiles", packed = 16, parts = 1, rows = 8, splits = 1}} {
  %w = graph.unpack_panels %p {panel = 16 : i64, tail = 0 : i64, group = 1 : i64} : (tensor<256xf16>) -> tensor<1x1x16x16xf16>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64, graph.multiplied = f16}
      : (tensor<1x2x5x16xf16>, tensor<1x1x16x16xf16>) -> tensor<1x2x5x16xf32>
  kernel.return %y : tensor<1x2x5x16xf32>
}
