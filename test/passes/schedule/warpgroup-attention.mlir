// RUN: %ingot-opt %s -schedule-kernels=target=sm_90a | FileCheck %s
// REQUIRES: ingot-opt

// Two warpgroups have 64 queries each. One thread of a third warpgroup copies
// the queries once, and keys and values in blocks of 128 into two pipeline
// stages. Rows of 80 elements are two boxes of 64, the second of which the copy
// pads; only its first 16 K steps are multiplied. 300 keys are three blocks,
// the last of which is padded.
// CHECK-LABEL: kernel.func @tiles(
// CHECK-SAME: extent = 6 : index
// CHECK-SAME: resident = 1 : i64
// CHECK-SAME: threads = 384 : i64
// CHECK-DAG: %[[QUERIES:.*]] = memref.alloca() {alignment = 1024 : i64} : memref<2x128x64xf16, #gpu.address_space<workgroup>>
// CHECK-DAG: %[[KEYS:.*]] = memref.alloca() {alignment = 1024 : i64} : memref<2x2x128x64xf16, #gpu.address_space<workgroup>>
// CHECK-DAG: %[[VALUES:.*]] = memref.alloca() {alignment = 1024 : i64} : memref<2x1x128x64xf16, #gpu.address_space<workgroup>>
// CHECK-DAG: %[[MBARRIERS:.*]] = memref.alloca() {alignment = 8 : i64} : memref<5xi64, #gpu.address_space<workgroup>>
// CHECK: %[[QMAP:.*]] = kernel.tiles %{{.*}} sizes <3, 150, 80> strides [12000, 80, 1] box [1, 128, 64]
// CHECK: %[[KMAP:.*]] = kernel.tiles %{{.*}} sizes <3, 300, 80> strides [24000, 80, 1] box [1, 128, 64]
// CHECK: %[[VMAP:.*]] = kernel.tiles %{{.*}} sizes <3, 300, 64> strides [19200, 64, 1] box [1, 128, 64]
// CHECK: kernel.set_registers 224
// CHECK: %[[SCORES:.*]] = memref.alloca() : memref<64xf32>
// CHECK: %[[SUMS:.*]] = memref.alloca() : memref<32xf32>
// CHECK: %[[WORDS:.*]] = memref.alloca() : memref<32xi32>
// CHECK: kernel.tile_product %[[QUERIES]]{{.*}} times %[[KEYS]]{{.*}} plus %[[SCORES]] first of f16, f16
// CHECK-COUNT-4: kernel.tile_product %[[QUERIES]]{{.*}} times %[[KEYS]]{{.*}} plus %[[SCORES]] of f16, f16
// CHECK: kernel.await_products but 0 : %[[SCORES]]
// CHECK-NOT: kernel.round_pair
// CHECK: scf.for {{.*}} iter_args
// CHECK: kernel.await_products but 0 : %[[SUMS]], %[[WORDS]]
// CHECK: kernel.round_pair {{.*}} to f16
// CHECK: kernel.arrive %[[MBARRIERS]]
// CHECK: kernel.wait_mbarrier %[[MBARRIERS]]
// CHECK-NEXT: kernel.begin_products %[[SUMS]], %[[WORDS]]
// CHECK: kernel.tile_product {{.*}} first of
// CHECK-COUNT-4: kernel.tile_product %[[QUERIES]]
// CHECK-NEXT: kernel.close_products
// CHECK-COUNT-8: kernel.tile_product %[[WORDS]][{{.*}}] times %[[VALUES]]{{.*}} plus %[[SUMS]] of f16, f16 right turned
// CHECK: kernel.close_products
// CHECK-NEXT: kernel.await_products but 1 : %[[SCORES]]
// CHECK-COUNT-4: gpu.shuffle xor
// CHECK: kernel.exp2
// CHECK-NOT: kernel.round_pair
// CHECK: scf.yield
// CHECK: kernel.await_products but 0 : %[[SUMS]], %[[WORDS]]
// CHECK: kernel.round_pair
// CHECK-COUNT-8: kernel.tile_product %[[WORDS]]
// CHECK: kernel.store_vector
// CHECK: kernel.set_registers 56 fewer
// CHECK: kernel.expect_bytes %[[MBARRIERS]][%c4], 32768
// CHECK-COUNT-2: kernel.copy_tile %[[QMAP]]{{.*}} to %[[QUERIES]]
// CHECK: scf.for
// CHECK: kernel.expect_bytes %[[MBARRIERS]]{{.*}}, 49152
// CHECK-COUNT-2: kernel.copy_tile %[[KMAP]]{{.*}} to %[[KEYS]]
// CHECK-NEXT: kernel.copy_tile %[[VMAP]]{{.*}} to %[[VALUES]]
kernel.func @tiles(%q: tensor<3x150x80xf16>, %k: tensor<3x300x80xf16>, %v: tensor<3x300x64xf16>) -> tensor<3x150x64xf16> attributes {strategy = "warpgroup-attention", plan = {groups = 2, keys = 128, resident = 1, slices = 1, stages = 2}} {
  %t = graph.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<3x300x80xf16>) -> tensor<3x80x300xf16>
  %s = graph.matmul %q, %t : (tensor<3x150x80xf16>, tensor<3x80x300xf16>) -> tensor<3x150x300xf32>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<3x150x300xf32>) -> tensor<3x150x300xf32>
  %r = graph.cast %p : (tensor<3x150x300xf32>) -> tensor<3x150x300xf16>
  %y = graph.matmul %r, %v : (tensor<3x150x300xf16>, tensor<3x300x64xf16>) -> tensor<3x150x64xf16>
  kernel.return %y : tensor<3x150x64xf16>
}

// Two slices (warpgroups) of a block compute every other block of keys. The
// second slice writes 32 sums, 2 maximum scores and 2 totals of each thread to
// shared memory. A mask is added to the scores.
// CHECK-LABEL: kernel.func @slices(
// CHECK-SAME: threads = 384 : i64
// CHECK: %[[PARTS:.*]] = memref.alloca() : memref<36x128xf32, #gpu.address_space<workgroup>>
// CHECK: scf.for {{.*}} iter_args
// CHECK: memref.load %arg3
// CHECK: arith.addf
// CHECK-COUNT-5: memref.store %{{.*}}, %[[PARTS]]
// CHECK: kernel.arrive
// CHECK: kernel.wait_mbarrier
// CHECK: memref.load %[[PARTS]]
kernel.func @slices(%q: tensor<1x64x64xbf16>, %k: tensor<1x256x64xbf16>, %v: tensor<1x256x64xbf16>, %m: tensor<1x64x256xf32>) -> tensor<1x64x64xf32> attributes {strategy = "warpgroup-attention", plan = {groups = 1, keys = 64, resident = 1, slices = 2, stages = 4}} {
  %t = graph.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<1x256x64xbf16>) -> tensor<1x64x256xbf16>
  %s = graph.matmul %q, %t : (tensor<1x64x64xbf16>, tensor<1x64x256xbf16>) -> tensor<1x64x256xf32>
  %a = graph.add %s, %m : (tensor<1x64x256xf32>, tensor<1x64x256xf32>) -> tensor<1x64x256xf32>
  %p = graph.softmax %a {axis = 2 : i64} : (tensor<1x64x256xf32>) -> tensor<1x64x256xf32>
  %r = graph.cast %p : (tensor<1x64x256xf32>) -> tensor<1x64x256xbf16>
  %y = graph.matmul %r, %v : (tensor<1x64x256xbf16>, tensor<1x256x64xbf16>) -> tensor<1x64x64xf32>
  kernel.return %y : tensor<1x64x64xf32>
}

// With a dynamic number of keys, the tensor maps and the loop over blocks of
// keys end at the actual number.
// CHECK-LABEL: kernel.func @open(
// CHECK: kernel.tiles %arg1 sizes <"n" in 1 to 512 : 8, s0, 64> strides [32768, 64, 1] box [1, 128, 64]
// CHECK: kernel.tile_product
// CHECK: %[[BLOCKS:.*]] = arith.divsi
// CHECK: scf.for %{{.*}} = %c1{{.*}} to %[[BLOCKS]]
kernel.func @open(%q: tensor<8x64x64xf16>, %k: tensor<8x512x64xf16, #kernel.sizes<"n" in 1 to 512 : 8, s0, 64>>, %v: tensor<8x512x64xf16, #kernel.sizes<"n" in 1 to 512 : 8, s0, 64>>) -> tensor<8x64x64xf16> attributes {strategy = "warpgroup-attention", plan = {groups = 1, keys = 128, resident = 2, slices = 1, stages = 2}} {
  %t = graph.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<8x512x64xf16, #kernel.sizes<"n" in 1 to 512 : 8, s0, 64>>) -> tensor<8x64x512xf16, #kernel.sizes<"n" in 1 to 512 : 8, 64, s0>>
  %s = graph.matmul %q, %t : (tensor<8x64x64xf16>, tensor<8x64x512xf16, #kernel.sizes<"n" in 1 to 512 : 8, 64, s0>>) -> tensor<8x64x512xf32, #kernel.sizes<"n" in 1 to 512 : 8, 64, s0>>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<8x64x512xf32, #kernel.sizes<"n" in 1 to 512 : 8, 64, s0>>) -> tensor<8x64x512xf32, #kernel.sizes<"n" in 1 to 512 : 8, 64, s0>>
  %r = graph.cast %p : (tensor<8x64x512xf32, #kernel.sizes<"n" in 1 to 512 : 8, 64, s0>>) -> tensor<8x64x512xf16, #kernel.sizes<"n" in 1 to 512 : 8, 64, s0>>
  %y = graph.matmul %r, %v : (tensor<8x64x512xf16, #kernel.sizes<"n" in 1 to 512 : 8, 64, s0>>, tensor<8x512x64xf16, #kernel.sizes<"n" in 1 to 512 : 8, s0, 64>>) -> tensor<8x64x64xf16>
  kernel.return %y : tensor<8x64x64xf16>
}
