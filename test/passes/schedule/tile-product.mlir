// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v4+amx | FileCheck %s
// REQUIRES: ingot-opt

// With AMX, a block of 32 rows by 32 columns has 2 x 2 tiles of sums for all K
// steps. 96 K steps are two K tiles of 48, so that the tile shapes do not
// change. The remaining rows have tiles with fewer rows. All columns of a
// weight panel are computed; columns that are not in the result are not stored.
// CHECK-LABEL: @blocks(
// CHECK: kernel.shape_tiles rows [16, 16, 16, 16, 16, 16, 12, 12] bytes [64, 64, 64, 64, 48, 48, 64, 64]
// CHECK: kernel.clear_tile 0
// CHECK: kernel.clear_tile 3
// CHECK: scf.for %[[CHUNK:.*]] = %c0{{.*}} to %c2
// CHECK: %[[STEP:.*]] = arith.muli %[[CHUNK]], %c48
// CHECK: kernel.load_tile 6, %[[W:.*]][%[[AT:.*]]] pitch 128
// CHECK: kernel.load_tile 7, %[[W]][%{{.*}}] pitch 128
// CHECK: kernel.load_tile 4, %[[X:.*]][%c0{{[_0-9]*}}, %[[STEP]]] pitch 96
// CHECK-NEXT: kernel.multiply_tiles 0 plus 4 times 6 of ui8, si8
// CHECK-NEXT: kernel.multiply_tiles 1 plus 4 times 7 of ui8, si8
// CHECK: kernel.load_tile 5, %[[X]][%c16{{[_0-9]*}}, %[[STEP]]] pitch 96
// CHECK-NEXT: kernel.multiply_tiles 2 plus 5 times 6 of ui8, si8
// CHECK-NEXT: kernel.multiply_tiles 3 plus 5 times 7 of ui8, si8
// CHECK: kernel.store_tile 0, %[[SUMS:[a-z0-9_]*]][%c0{{[_0-9]*}}, %c0{{[_0-9]*}}] pitch 128
// CHECK: kernel.store_tile 1, %[[SUMS]][%c0{{[_0-9]*}}, %c16{{[_0-9]*}}] pitch 128
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c16{{.*}} step %c4
// CHECK-COUNT-8: vector.load %[[SUMS]]
// CHECK-COUNT-8: vector.store %{{.*}} : memref<40x50xi32>, vector<16xi32>
// CHECK: kernel.store_tile 2, %[[SUMS]]
// CHECK: kernel.shape_tiles rows [8, 8, 8, 12, 12] bytes [64, 64, 48, 64, 64]
// CHECK: kernel.multiply_tiles 1 plus 2 times 4
// CHECK: kernel.release_tiles
// CHECK: vector.store %{{.*}} : memref<40x50xi32>, vector<2xi32>
// CHECK: kernel.release_tiles
// CHECK-NEXT: }
// CHECK-NEXT: kernel.return
kernel.func @blocks(%x: tensor<40x96xui8>, %w: tensor<6144xsi8>) -> tensor<40x50xsi32> attributes {strategy = "tile-product", plan = {columns = 32, rows = 32, splits = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 32 : i64, tail = 32 : i64, group = 4 : i64} : (tensor<6144xsi8>) -> tensor<96x50xsi8>
  %y = graph.matmul %x, %u : (tensor<40x96xui8>, tensor<96x50xsi8>) -> tensor<40x50xsi32>
  kernel.return %y : tensor<40x50xsi32>
}

// The result is one row of three tiles of sums. The epilogue reads four rows of
// sums at a time.
// CHECK-LABEL: @epilogue(
// CHECK: kernel.multiply_tiles 2 plus 3 times 6 of si8, si8
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c16{{.*}} step %c4
// CHECK: arith.addi %{{.*}} : vector<16xi32>
// CHECK: arith.trunci %{{.*}} : vector<16xi32> to vector<16xi8>
// CHECK: vector.store %{{.*}} : memref<16x48xi8>, vector<16xi8>
kernel.func @epilogue(%x: tensor<16x64xsi8>, %w: tensor<3072xsi8>, %b: tensor<1x48xsi32>) -> tensor<16x48xsi8> attributes {strategy = "tile-product", plan = {columns = 48, rows = 16, splits = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 48 : i64, tail = 0 : i64, group = 4 : i64} : (tensor<3072xsi8>) -> tensor<64x48xsi8>
  %y = graph.matmul %x, %u : (tensor<16x64xsi8>, tensor<64x48xsi8>) -> tensor<16x48xsi32>
  %s = graph.add %y, %b : (tensor<16x48xsi32>, tensor<1x48xsi32>) -> tensor<16x48xsi32>
  %z = graph.cast %s : (tensor<16x48xsi32>) -> tensor<16x48xsi8>
  kernel.return %z : tensor<16x48xsi8>
}

// AMX with bf16: a tile has 32 K steps, in pairs, and sums are f32.
// CHECK-LABEL: @bfloats(
// CHECK: kernel.shape_tiles rows [16, 16, 16] bytes [64, 64, 64]
// CHECK: kernel.load_tile 1, %{{.*}} pitch 128
// CHECK: kernel.multiply_tiles 0 plus 1 times 2 of bf16, bf16
// CHECK: kernel.store_tile 0, %{{.*}} : memref<16x16xf32>
kernel.func @bfloats(%x: tensor<16x64xbf16>, %w: tensor<1024xbf16>) -> tensor<16x16xf32> attributes {strategy = "tile-product", plan = {columns = 16, rows = 16, splits = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 16 : i64, tail = 0 : i64, group = 2 : i64} : (tensor<1024xbf16>) -> tensor<64x16xbf16>
  %y = graph.matmul %x, %u : (tensor<16x64xbf16>, tensor<64x16xbf16>) -> tensor<16x16xf32>
  kernel.return %y : tensor<16x16xf32>
}
