// RUN: %ingot-opt %s -schedule-kernels=target=sm_90a | FileCheck %s
// REQUIRES: ingot-opt

// Tiles of 128 x 128 are computed by two warpgroups with 64 rows each; one
// thread of a third warpgroup copies the operands. 136 K steps of two bytes are
// three K tiles of 64, for which there are three pipeline stages.
// CHECK-LABEL: kernel.func @product(
// CHECK-SAME: extent = 4 : index
// CHECK-SAME: resident = 1 : i64
// CHECK-SAME: threads = 384 : i64
// CHECK-DAG: %[[LEFT:.*]] = memref.alloca() {alignment = 1024 : i64} : memref<3x128x64xf16, #gpu.address_space<workgroup>>
// CHECK-DAG: %[[RIGHT:.*]] = memref.alloca() {alignment = 1024 : i64} : memref<3x128x64xf16, #gpu.address_space<workgroup>>
// CHECK-DAG: %[[MBARRIERS:.*]] = memref.alloca() {alignment = 8 : i64} : memref<6xi64, #gpu.address_space<workgroup>>
// CHECK: %[[ROWS:.*]] = kernel.tiles %{{.*}} sizes <200, 136> strides [136, 1] box [128, 64] : memref<200x136xf16>
// CHECK: %[[COLUMNS:.*]] = kernel.tiles %{{.*}} sizes <200, 136> strides [136, 1] box [128, 64] : memref<27200xf16>
// CHECK: kernel.init_mbarrier %[[MBARRIERS]][%c0] for 1
// CHECK: kernel.init_mbarrier %[[MBARRIERS]][%c3] for 8
// CHECK: kernel.fence_mbarriers
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK: kernel.set_registers 224
// CHECK: %[[SUMS:.*]] = memref.alloca() : memref<64xf32>
// CHECK: } {kernel.unrolled = true}
// CHECK: scf.for
// CHECK: kernel.wait_mbarrier %[[MBARRIERS]]
// CHECK-NEXT: kernel.begin_products %[[SUMS]]
// CHECK-COUNT-4: kernel.tile_product %[[LEFT]]{{.*}} times %[[RIGHT]]{{.*}} plus %[[SUMS]] of f16, f16
// CHECK: kernel.close_products
// CHECK-NEXT: kernel.await_products but 1
// CHECK: kernel.arrive %[[MBARRIERS]]
// CHECK: kernel.await_products but 0
// CHECK: memref.store
// CHECK: } else {
// CHECK: kernel.set_registers 56 fewer
// CHECK: scf.for
// CHECK: kernel.expect_bytes %[[MBARRIERS]]{{.*}}, 32768
// CHECK: kernel.copy_tile %[[COLUMNS]]{{.*}} to %[[RIGHT]]
// CHECK: scf.for
// CHECK: scf.if
// CHECK: kernel.wait_mbarrier %[[MBARRIERS]]
// CHECK-NEXT: kernel.expect_bytes %[[MBARRIERS]]{{.*}}, 32768
// CHECK: kernel.copy_tile %[[COLUMNS]]{{.*}} to %[[RIGHT]]
// CHECK: kernel.copy_tile %[[ROWS]]{{.*}} to %[[LEFT]]
kernel.func @product(%x: tensor<200x136xf16>, %w: tensor<27200xf16>) -> tensor<200x200xf16> attributes {strategy = "warpgroup-product", plan = {columns = 128, groups = 2, resident = 1, rows = 128, slices = 1, stages = 3}} {
  %p = graph.unpack_panels %w {panel = 1, tail = 0, group = 8} : (tensor<27200xf16>) -> tensor<136x200xf16>
  %y = graph.matmul %x, %p : (tensor<200x136xf16>, tensor<136x200xf16>) -> tensor<200x200xf16>
  kernel.return %y : tensor<200x200xf16>
}

// With more tiles than the device runs at once, each of 132 blocks computes
// several tiles, whose K tiles pass through the same pipeline stages.
// CHECK-LABEL: kernel.func @turns(
// CHECK-SAME: extent = 132 : index
// CHECK: %c256{{.*}} = arith.constant 256 : index
// CHECK: %c132{{.*}} = arith.constant 132 : index
// CHECK: scf.for %{{.*}} = %block_id_x to %c256{{.*}} step %c132{{.*}} iter_args
kernel.func @turns(%x: tensor<16384x128xf16>, %w: tensor<32768xf16>) -> tensor<16384x256xf16> attributes {strategy = "warpgroup-product", plan = {columns = 128, groups = 2, resident = 1, rows = 128, slices = 1, stages = 4}} {
  %p = graph.unpack_panels %w {panel = 1, tail = 0, group = 8} : (tensor<32768xf16>) -> tensor<128x256xf16>
  %y = graph.matmul %x, %p : (tensor<16384x128xf16>, tensor<128x256xf16>) -> tensor<16384x256xf16>
  kernel.return %y : tensor<16384x256xf16>
}

// A convolution with stride 2, whose windows begin at positions from -1 to 25:
// each K tile belongs to one position in the window. Two slices each multiply
// every other one of 18 K tiles.
// CHECK-LABEL: kernel.func @windows(
// CHECK: %[[PARTS:.*]] = memref.alloca() {alignment = 16 : i64} : memref<1x32x128xf32, #gpu.address_space<workgroup>>
// CHECK: %[[MAP:.*]] = kernel.tiles %{{.*}} sizes <2, 27, 27, 128> strides [93312, 3456, 128, 1] box [64, 64] low [-1, -1] high [25, 25] steps [2, 2]
// CHECK: kernel.tile_product
// CHECK: memref.store %{{.*}}, %[[PARTS]]
// CHECK: kernel.arrive
// CHECK: kernel.wait_mbarrier
// CHECK: memref.load %[[PARTS]]
// CHECK: kernel.copy_tile %[[MAP]]{{.*}} shift
kernel.func @windows(%x: tensor<2x27x27x128xf16>, %w: tensor<73728xf16>, %b: tensor<64xf16>) -> tensor<2x14x14x64xf16> attributes {strategy = "warpgroup-product", plan = {columns = 64, groups = 1, resident = 1, rows = 64, slices = 2, stages = 8}} {
  %p = graph.unpack_panels %w {panel = 1, tail = 0, group = 8, axes = 3} : (tensor<73728xf16>) -> tensor<3x3x128x64xf16>
  %y = graph.conv %x, %p, %b {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x27x27x128xf16>, tensor<3x3x128x64xf16>, tensor<64xf16>) -> tensor<2x14x14x64xf16>
  kernel.return %y : tensor<2x14x14x64xf16>
}

// Neither operand is packed: a K tile of the right operand is two boxes of 64
// contiguous columns with all K steps of the tile. The left operand broadcasts
// along the second batch axis.
// CHECK-LABEL: kernel.func @turned(
// CHECK-SAME: extent = 96 : index
// CHECK-DAG: %[[TLEFT:.*]] = memref.alloca() {alignment = 1024 : i64} : memref<4x128x64xf16, #gpu.address_space<workgroup>>
// CHECK-DAG: %[[TRIGHT:.*]] = memref.alloca() {alignment = 1024 : i64} : memref<4x2x64x64xf16, #gpu.address_space<workgroup>>
// CHECK: %[[TROWS:.*]] = kernel.tiles %{{.*}} sizes <2, 1, 512, 264> strides [135168, 135168, 264, 1] box [1, 1, 128, 64]
// CHECK: %[[TCOLUMNS:.*]] = kernel.tiles %{{.*}} sizes <1, 3, 264, 512> strides [405504, 135168, 512, 1] box [1, 1, 64, 64]
// CHECK: kernel.tile_product %[[TLEFT]]{{.*}} times %[[TRIGHT]][%{{.*}}, %c0{{.*}}, %c16{{.*}}, %c0{{.*}}] plus %{{.*}} of f16, f16 right turned
// CHECK: kernel.copy_tile %[[TCOLUMNS]]{{.*}} to %[[TRIGHT]][%{{.*}}, %c0{{.*}}, %c0{{.*}}, %c0
// CHECK: kernel.copy_tile %[[TCOLUMNS]]{{.*}} to %[[TRIGHT]][%{{.*}}, %c1{{.*}}, %c0{{.*}}, %c0
kernel.func @turned(%x: tensor<2x1x512x264xf16>, %w: tensor<1x3x264x512xf16>) -> tensor<2x3x512x512xf16> attributes {strategy = "warpgroup-product", plan = {columns = 128, groups = 2, resident = 1, rows = 128, slices = 1, stages = 4}} {
  %y = graph.matmul %x, %w : (tensor<2x1x512x264xf16>, tensor<1x3x264x512xf16>) -> tensor<2x3x512x512xf16>
  kernel.return %y : tensor<2x3x512x512xf16>
}

// The four blocks of a cluster have adjacent tiles; 400 rows are 8 tiles of 64.
// Each block copies half of the rows and half of the columns of a K tile, and
// both blocks that multiply a half receive it. A pipeline stage is free when
// the warpgroups of all blocks that read it are done.
// CHECK-LABEL: kernel.func @clusters(
// CHECK-SAME: cluster = 4 : i64
// CHECK-SAME: extent = 16 : index
// CHECK-DAG: %[[CLEFT:.*]] = memref.alloca() {alignment = 1024 : i64} : memref<3x64x64xf16, #gpu.address_space<workgroup>>
// CHECK-DAG: %[[CRIGHT:.*]] = memref.alloca() {alignment = 1024 : i64} : memref<3x128x64xf16, #gpu.address_space<workgroup>>
// CHECK: kernel.tiles %{{.*}} sizes <400, 136> strides [136, 1] box [32, 64]
// CHECK: kernel.tiles %{{.*}} sizes <{{.*}}> strides [{{.*}}] box [2, 4, 4, 2, 64]
// CHECK: kernel.init_mbarrier %{{.*}}[%c0{{.*}}] for 1
// CHECK: kernel.init_mbarrier %{{.*}}[%c3{{.*}}] for 12
// CHECK: kernel.fence_mbarriers
// CHECK: kernel.cluster_barrier
// CHECK: kernel.tile_product
// CHECK-COUNT-3: kernel.arrive %{{.*}}[%{{.*}}] of %
// CHECK: kernel.expect_bytes %{{.*}}, 24576
// CHECK: kernel.copy_tile %{{.*}} to %[[CRIGHT]]{{.*}} for %
// CHECK: kernel.copy_tile %{{.*}} to %[[CLEFT]]{{.*}} for %
// CHECK: }
// CHECK: kernel.cluster_barrier shown
kernel.func @clusters(%x: tensor<400x136xf16>, %w: tensor<34816xf16>) -> tensor<400x256xf16> attributes {strategy = "warpgroup-product", plan = {below = 2, beside = 2, columns = 128, groups = 1, resident = 1, rows = 64, slices = 1, stages = 3}} {
  %p = graph.unpack_panels %w {panel = 1, tail = 0, group = 8} : (tensor<34816xf16>) -> tensor<136x256xf16>
  %y = graph.matmul %x, %p : (tensor<400x136xf16>, tensor<136x256xf16>) -> tensor<400x256xf16>
  kernel.return %y : tensor<400x256xf16>
}

// Two blocks of a cluster compute one tile, with three of its six K tiles each.
// Each block completes one half of the rows: it sends its sums for the other
// half to the other block, and waits for 16 KB of partial sums (half of 32 sums
// of 128 threads, from either block).
// CHECK-LABEL: kernel.func @behind(
// CHECK-SAME: cluster = 2 : i64
// CHECK-SAME: extent = 4 : index
// CHECK: %[[PARTS:.*]] = memref.alloca() {alignment = 16 : i64} : memref<2x4x128x4xf32, #gpu.address_space<workgroup>>
// CHECK: kernel.init_mbarrier %{{.*}}[%c6{{.*}}] for 1
// CHECK: kernel.cluster_barrier{{$}}
// CHECK: kernel.tile_product
// CHECK: kernel.await_products but 0
// CHECK-COUNT-4: kernel.send {{.*}} to %[[PARTS]][%{{.*}}] of %c0
// CHECK-COUNT-4: kernel.send {{.*}} to %[[PARTS]][%{{.*}}] of %c1
// CHECK-NOT: kernel.send
// CHECK: kernel.wait_mbarrier %{{.*}}[%c6
// CHECK: memref.load %[[PARTS]]
// CHECK: } else {
// CHECK: kernel.expect_bytes %{{.*}}[%c6{{.*}}], 16384
// CHECK: kernel.copy_tile
// CHECK-NOT: kernel.cluster_barrier
kernel.func @behind(%x: tensor<100x384xf16>, %w: tensor<24576xf16>) -> tensor<100x64xf16> attributes {strategy = "warpgroup-product", plan = {behind = 2, columns = 64, groups = 1, resident = 1, rows = 64, slices = 1, stages = 3}} {
  %p = graph.unpack_panels %w {panel = 1, tail = 0, group = 8} : (tensor<24576xf16>) -> tensor<384x64xf16>
  %y = graph.matmul %x, %p : (tensor<100x384xf16>, tensor<384x64xf16>) -> tensor<100x64xf16>
  kernel.return %y : tensor<100x64xf16>
}

// A tensor that is added to the result is loaded before the K tiles are
// multiplied, except if a thread has 128 sums: then it would take too many
// registers.
// CHECK-LABEL: kernel.func @sum(
// CHECK: %[[EARLY:.*]] = memref.alloca() : memref<64xf16>
// CHECK: %[[ELEMENT:.*]] = memref.load %{{.*}} : memref<200x200xf16>
// CHECK: memref.store %[[ELEMENT]], %[[EARLY]]
// CHECK: kernel.tile_product
// CHECK: memref.load %[[EARLY]]
// CHECK-LABEL: kernel.func @wide_sum(
// CHECK: %[[OPERAND:.*]] = memref.alloca() : memref<64xf16>
// CHECK-NOT: memref.store %{{.*}}, %[[OPERAND]]
// CHECK: kernel.tile_product
// CHECK: memref.store %{{.*}}, %[[OPERAND]]
kernel.func @sum(%x: tensor<200x136xf16>, %w: tensor<27200xf16>, %s: tensor<200x200xf16>) -> tensor<200x200xf16> attributes {strategy = "warpgroup-product", plan = {columns = 128, groups = 2, resident = 1, rows = 128, slices = 1, stages = 3}} {
  %p = graph.unpack_panels %w {panel = 1, tail = 0, group = 8} : (tensor<27200xf16>) -> tensor<136x200xf16>
  %y = graph.matmul %x, %p : (tensor<200x136xf16>, tensor<136x200xf16>) -> tensor<200x200xf16>
  %z = graph.add %y, %s : (tensor<200x200xf16>, tensor<200x200xf16>) -> tensor<200x200xf16>
  kernel.return %z : tensor<200x200xf16>
}
kernel.func @wide_sum(%x: tensor<200x136xf16>, %w: tensor<27200xf16>, %s: tensor<200x200xf16>) -> tensor<200x200xf16> attributes {strategy = "warpgroup-product", plan = {columns = 256, groups = 2, resident = 1, rows = 128, slices = 1, stages = 3}} {
  %p = graph.unpack_panels %w {panel = 1, tail = 0, group = 8} : (tensor<27200xf16>) -> tensor<136x200xf16>
  %y = graph.matmul %x, %p : (tensor<200x136xf16>, tensor<136x200xf16>) -> tensor<200x200xf16>
  %z = graph.add %y, %s : (tensor<200x200xf16>, tensor<200x200xf16>) -> tensor<200x200xf16>
  kernel.return %z : tensor<200x200xf16>
}
