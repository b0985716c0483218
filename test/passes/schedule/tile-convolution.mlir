// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v4+amx | FileCheck %s
// REQUIRES: ingot-opt

// A convolution with AMX computes two result rows at a time, from a copy of
// four input rows with padding. The three columns of a kernel row are
// contiguous in the copy: 192 K steps, or three K tiles. The next position is
// 64 bytes further. Two of 30 positions lie between the two rows: they are
// computed and not stored.
// CHECK-LABEL: @rows(
// CHECK-SAME: %[[SCRATCH:[a-z0-9]*]]: memref<1x4096xi8> {kernel.name = "scratch0"})
// CHECK: %[[COPY:.*]] = kernel.view %[[SCRATCH]]
// CHECK: scf.if
// CHECK: kernel.view %{{.*}} : memref<1x6x14x64xi8> to memref<1x6x896xi8>
// CHECK: vector.store %{{.*}}, %[[COPY]]
// CHECK: } else {
// CHECK: vector.store %{{.*}}, %[[COPY]]
// CHECK: kernel.shape_tiles rows [16, 16, 16, 16, 16] bytes [64, 64, 64, 64, 64]
// CHECK: kernel.clear_tile 1
// CHECK: scf.for %{{.*}} to %c3
// CHECK: scf.for %{{.*}} to %c3
// CHECK: kernel.load_tile 3, %{{.*}} pitch 128
// CHECK: kernel.load_tile 2, %[[COPY]][%{{.*}}] pitch 64
// CHECK: kernel.multiply_tiles 1 plus 2 times 4 of ui8, si8
// CHECK: kernel.store_tile 0
// CHECK: %[[X:.*]] = arith.remsi %{{.*}}, %c16
// CHECK: %[[STORED:.*]] = arith.cmpi slt, %[[X]], %c14
// CHECK: scf.if %[[STORED]] {
// CHECK: kernel.shape_tiles rows [14, 14, 14, 16, 16] bytes [64, 64, 64, 64, 64]
// CHECK: kernel.release_tiles
kernel.func @rows(%x: tensor<1x6x14x64xui8>, %w: tensor<18432xsi8>) -> tensor<1x6x14x32xsi32> attributes {strategy = "tile-convolution", plan = {columns = 32, lines = 2, order = "tiles", parts = 1, rows = 16}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 32 : i64, tail = 0 : i64, group = 4 : i64} : (tensor<18432xsi8>) -> tensor<3x3x64x32xsi8>
  %y = graph.conv %x, %u {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x6x14x64xui8>, tensor<3x3x64x32xsi8>) -> tensor<1x6x14x32xsi32>
  kernel.return %y : tensor<1x6x14x32xsi32>
}

// With a stride of 2, the copy of the input stores even rows and columns
// separately from odd ones, in four planes of 5 x 5 positions, so that
// neighbouring results read neighbouring positions.
// CHECK-LABEL: @strided(
// CHECK-SAME: memref<1x6400xi8> {kernel.name = "scratch0"})
// CHECK: scf.for %[[PLANE:.*]] = %c0{{.*}} to %c4
// CHECK: arith.divsi %[[PLANE]], %c2
// CHECK: arith.remsi %[[PLANE]], %c2
// CHECK: kernel.shape_tiles rows [16, 16, 16] bytes [64, 64, 64]
// CHECK: arith.muli %{{.*}}, %c50
// CHECK: arith.muli %{{.*}}, %c25
// CHECK: kernel.load_tile 1, %{{.*}} pitch 64
// CHECK: kernel.multiply_tiles 0 plus 1 times 2 of ui8, si8
kernel.func @strided(%x: tensor<1x8x8x64xui8>, %w: tensor<9216xsi8>) -> tensor<1x4x4x16xsi32> attributes {strategy = "tile-convolution", plan = {columns = 16, lines = 4, order = "tiles", parts = 1, rows = 16}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 16 : i64, tail = 0 : i64, group = 4 : i64} : (tensor<9216xsi8>) -> tensor<3x3x64x16xsi8>
  %y = graph.conv %x, %u {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x64xui8>, tensor<3x3x64x16xsi8>) -> tensor<1x4x4x16xsi32>
  kernel.return %y : tensor<1x4x4x16xsi32>
}

// A 1x1 convolution is a matrix multiplication that reads the input in place.
// The last of 49 positions is in the second tile of a block of 17 rows.
// CHECK-LABEL: @pointwise(
// CHECK-NOT: scratch
// CHECK: kernel.shape_tiles rows [16, 16, 16, 16, 16, 16, 16, 16]
// CHECK: kernel.load_tile 5, %{{.*}}[%c16{{[_0-9]*}}, %{{.*}}] pitch 64
// CHECK: kernel.shape_tiles rows [16, 16, 1, 1, 16, 1, 16, 16]
// CHECK: kernel.release_tiles
kernel.func @pointwise(%x: tensor<1x7x7x64xui8>, %w: tensor<2048xsi8>, %b: tensor<32xsi32>) -> tensor<1x7x7x32xsi32> attributes {strategy = "tile-convolution", plan = {columns = 32, lines = 0, order = "tiles", parts = 1, rows = 32}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 32 : i64, tail = 0 : i64, group = 4 : i64} : (tensor<2048xsi8>) -> tensor<1x1x64x32xsi8>
  %y = graph.conv %x, %u, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x7x7x64xui8>, tensor<1x1x64x32xsi8>, tensor<32xsi32>) -> tensor<1x7x7x32xsi32>
  kernel.return %y : tensor<1x7x7x32xsi32>
}
