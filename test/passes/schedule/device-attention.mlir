// RUN: %ingot-opt %s -schedule-kernels=target=sm_80 | FileCheck %s
// REQUIRES: ingot-opt

// Two warps have 16 queries each. Keys and values are loaded in blocks of 32
// into two buffers each, in rows of nine 16-byte vectors, one of which is
// padding. Keys are read as they are stored, before their transpose: 32 rows of
// 8 vectors are four copies for each of 64 threads. 64 elements are 4 K steps
// of 16 for each pair of matrix-unit tiles of keys, and 32 keys are two K steps
// for each of 8 tiles of values.
// CHECK-LABEL: kernel.func @narrow(
// CHECK-SAME: extent = 6 : index
// CHECK-SAME: threads = 64 : i64
// CHECK-DAG: %[[KEYS:.*]] = memref.alloca() : memref<2x32x72xf16, #gpu.address_space<workgroup>>
// CHECK-DAG: %[[VALUES:.*]] = memref.alloca() : memref<2x32x72xf16, #gpu.address_space<workgroup>>
// CHECK-COUNT-4: kernel.copy_ahead {{.*}} to %[[KEYS]]
// CHECK-COUNT-4: kernel.copy_ahead {{.*}} to %[[VALUES]]
// CHECK: kernel.close_copies
// CHECK: scf.for {{.*}} iter_args
// CHECK: kernel.await_copies but 0
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK-COUNT-8: kernel.copy_ahead
// CHECK: kernel.load_matrices %[[KEYS]]
// CHECK-COUNT-16: kernel.warp_product {{.*}}left = f16, right = f16
// CHECK-COUNT-2: gpu.shuffle xor
// CHECK: kernel.load_matrices %[[VALUES]]{{.*}} transposed
// CHECK-COUNT-16: kernel.warp_product
// CHECK-NOT: kernel.warp_product
// CHECK: scf.yield
kernel.func @narrow(%q: tensor<3x64x64xf16>, %k: tensor<3x96x64xf16>, %v: tensor<3x96x64xf16>) -> tensor<3x64x64xf16> attributes {strategy = "tensor-attention", plan = {keys = 32, queries = 32, slices = 1}} {
  %t = graph.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<3x96x64xf16>) -> tensor<3x64x96xf16>
  %s = graph.matmul %q, %t : (tensor<3x64x64xf16>, tensor<3x64x96xf16>) -> tensor<3x64x96xf16>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<3x64x96xf16>) -> tensor<3x64x96xf16>
  %y = graph.matmul %p, %v : (tensor<3x64x96xf16>, tensor<3x96x64xf16>) -> tensor<3x64x64xf16>
  kernel.return %y : tensor<3x64x64xf16>
}

// Keys and values of f32 that are multiplied as bf16 are rounded as they are
// stored to shared memory, in vector accesses of 16 bytes: 32 rows of 4 vectors
// are four vectors for each of 32 threads.
// CHECK-LABEL: kernel.func @rounded(
// CHECK-DAG: %[[KEYS:.*]] = memref.alloca() : memref<2x32x40xbf16, #gpu.address_space<workgroup>>
// CHECK-DAG: %[[VALUES:.*]] = memref.alloca() : memref<2x32x40xbf16, #gpu.address_space<workgroup>>
// CHECK-COUNT-7: memref.load %arg1
// CHECK: %[[LAST:.*]] = memref.load %arg1
// CHECK: kernel.store_vector {{.*}}%[[LAST]] to %[[KEYS]]
// CHECK-COUNT-3: kernel.store_vector {{.*}} to %[[KEYS]]
// CHECK-COUNT-4: kernel.store_vector {{.*}} to %[[VALUES]]
// CHECK-NOT: memref.store %{{.*}}, %[[KEYS]]
// CHECK-NOT: memref.store %{{.*}}, %[[VALUES]]
// CHECK: kernel.return
kernel.func @rounded(%q: tensor<1x16x32xf32>, %k: tensor<1x64x32xf32>, %v: tensor<1x64x32xf32>) -> tensor<1x16x32xf32> attributes {strategy = "tensor-attention", plan = {keys = 32, queries = 16, slices = 1}} {
  %qn = graph.cast %q : (tensor<1x16x32xf32>) -> tensor<1x16x32xbf16>
  %kn = graph.cast %k : (tensor<1x64x32xf32>) -> tensor<1x64x32xbf16>
  %vn = graph.cast %v : (tensor<1x64x32xf32>) -> tensor<1x64x32xbf16>
  %t = graph.transpose %kn {perm = array<i64: 0, 2, 1>} : (tensor<1x64x32xbf16>) -> tensor<1x32x64xbf16>
  %s = graph.matmul %qn, %t : (tensor<1x16x32xbf16>, tensor<1x32x64xbf16>) -> tensor<1x16x64xf32>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<1x16x64xf32>) -> tensor<1x16x64xf32>
  %r = graph.cast %p : (tensor<1x16x64xf32>) -> tensor<1x16x64xbf16>
  %y = graph.matmul %r, %vn : (tensor<1x16x64xbf16>, tensor<1x64x32xbf16>) -> tensor<1x16x32xf32>
  kernel.return %y : tensor<1x16x32xf32>
}

// Attention in tf32, with two slices of a block that divide the keys: the
// second slice writes 2 maximum scores, 2 totals and 16 sums per thread to
// shared memory. Values are read one by one, because the matrix units cannot
// transpose 32-bit elements while they load them.
// CHECK-LABEL: kernel.func @slices(
// CHECK-SAME: threads = 64 : i64
// CHECK-DAG: %[[VALUES:.*]] = memref.alloca() : memref<2x32x36xf32, #gpu.address_space<workgroup>>
// CHECK-DAG: %[[PARTS:.*]] = memref.alloca() : memref<1x20x32xf32, #gpu.address_space<workgroup>>
// CHECK: scf.for
// CHECK-NOT: transposed
// CHECK: kernel.warp_product {{.*}}left = tf32, right = tf32
// CHECK: memref.load %[[VALUES]]
// CHECK: scf.if
// CHECK-COUNT-20: memref.store %{{.*}}, %[[PARTS]]
// CHECK: gpu.barrier
// CHECK-COUNT-20: memref.load %[[PARTS]]
// CHECK: scf.if
kernel.func @slices(%q: tensor<1x16x32xf32>, %k: tensor<1x32x64xf32>, %v: tensor<1x64x32xf32>) -> tensor<1x16x32xf32> attributes {strategy = "tensor-attention", plan = {keys = 32, queries = 16, slices = 2}} {
  %s = graph.matmul %q, %k {graph.multiplied = tf32} : (tensor<1x16x32xf32>, tensor<1x32x64xf32>) -> tensor<1x16x64xf32>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<1x16x64xf32>) -> tensor<1x16x64xf32>
  %r = graph.round_to_tf32 %p : (tensor<1x16x64xf32>) -> tensor<1x16x64xf32>
  %y = graph.matmul %r, %v {graph.multiplied = tf32} : (tensor<1x16x64xf32>, tensor<1x64x32xf32>) -> tensor<1x16x32xf32>
  kernel.return %y : tensor<1x16x32xf32>
}

// Attention in f32, without matrix units. Each group of 16 threads has two
// queries, and each thread one key: 16 K steps of two multiply-adds, four
// exchanges for the maximum score of each query, and two columns of the values.
// The scores of missing keys are -inf.
// CHECK-LABEL: kernel.func @exact(
// CHECK-SAME: extent = 4 : index
// CHECK-SAME: threads = 128 : i64
// CHECK-DAG: memref.alloca() : memref<16x20xf32, #gpu.address_space<workgroup>>
// CHECK-DAG: memref.alloca() : memref<16x20xf32, #gpu.address_space<workgroup>>
// CHECK-DAG: memref.alloca() : memref<16x32xf32, #gpu.address_space<workgroup>>
// CHECK-DAG: memref.alloca() : memref<16x20xf32, #gpu.address_space<workgroup>>
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c2{{.*}} iter_args
// CHECK: gpu.barrier
// CHECK: scf.for %{{.*}} to %c16{{.*}} iter_args
// CHECK-COUNT-2: math.fma
// CHECK: arith.select {{.*}} %{{.*}}, %cst
// CHECK-COUNT-4: gpu.shuffle xor
// CHECK: gpu.barrier
// CHECK-COUNT-4: math.fma
// CHECK: gpu.barrier
kernel.func @exact(%q: tensor<2x32x16xf32>, %k: tensor<2x16x20xf32>, %v: tensor<2x20x32xf32>) -> tensor<2x32x32xf32> attributes {strategy = "block-attention", plan = {across = 16, keys = 16, queries = 16, slices = 1, thread_queries = 2}} {
  %s = graph.matmul %q, %k : (tensor<2x32x16xf32>, tensor<2x16x20xf32>) -> tensor<2x32x20xf32>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<2x32x20xf32>) -> tensor<2x32x20xf32>
  %y = graph.matmul %p, %v : (tensor<2x32x20xf32>, tensor<2x20x32xf32>) -> tensor<2x32x32xf32>
  kernel.return %y : tensor<2x32x32xf32>
}

// Attention of a single query: 16 threads share a key, with four elements each,
// so that 4 warps are 8 groups, each of which has two keys at a time. The
// number of keys is dynamic.
// CHECK-LABEL: kernel.func @row(
// CHECK-SAME: extent = 8 : index
// CHECK-SAME: threads = 128 : i64
// CHECK-DAG: memref.alloca() : memref<8x1xf32, #gpu.address_space<workgroup>>
// CHECK-DAG: %[[PARTS:.*]] = memref.alloca() : memref<8x1x64xf32, #gpu.address_space<workgroup>>
// CHECK: %[[TRIPS:.*]] = arith.{{.*}}divsi
// CHECK: scf.for %{{.*}} to %{{.*}} iter_args
// CHECK-COUNT-6: math.fma
// CHECK-COUNT-8: gpu.shuffle xor
// CHECK-COUNT-8: math.fma
// CHECK: scf.yield
// CHECK: memref.store %{{.*}}, %[[PARTS]]
// CHECK: gpu.barrier
// CHECK: memref.load %[[PARTS]]
kernel.func @row(%q: tensor<8x1x64xf32>, %k: tensor<8x512x64xf32, #kernel.sizes<"n" in 1 to 512 : 8, s0, 64>>, %v: tensor<8x512x64xf32, #kernel.sizes<"n" in 1 to 512 : 8, s0, 64>>) -> tensor<8x1x64xf32> attributes {strategy = "row-attention", plan = {keys = 2, warps = 4}} {
  %t = graph.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<8x512x64xf32, #kernel.sizes<"n" in 1 to 512 : 8, s0, 64>>) -> tensor<8x64x512xf32, #kernel.sizes<"n" in 1 to 512 : 8, 64, s0>>
  %s = graph.matmul %q, %t : (tensor<8x1x64xf32>, tensor<8x64x512xf32, #kernel.sizes<"n" in 1 to 512 : 8, 64, s0>>) -> tensor<8x1x512xf32, #kernel.sizes<"n" in 1 to 512 : 8, 1, s0>>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<8x1x512xf32, #kernel.sizes<"n" in 1 to 512 : 8, 1, s0>>) -> tensor<8x1x512xf32, #kernel.sizes<"n" in 1 to 512 : 8, 1, s0>>
  %y = graph.matmul %p, %v : (tensor<8x1x512xf32, #kernel.sizes<"n" in 1 to 512 : 8, 1, s0>>, tensor<8x512x64xf32, #kernel.sizes<"n" in 1 to 512 : 8, s0, 64>>) -> tensor<8x1x64xf32>
  kernel.return %y : tensor<8x1x64xf32>
}
