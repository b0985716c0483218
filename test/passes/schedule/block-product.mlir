// RUN: %ingot-opt %s -schedule-kernels=target=sm_80 | FileCheck %s
// REQUIRES: ingot-opt

// The result is two tiles of 32 x 32 elements, each computed by a block of 128
// threads with 2 x 4 sums. 21 K steps are two K tiles of 16, the second of
// which is padded with zeros. Columns from the 24th on are padded as well.
// CHECK-LABEL: kernel.func @product(
// CHECK-SAME: extent = 2 : index
// CHECK-SAME: threads = 128 : i64
// CHECK-DAG: %[[LEFT:.*]] = memref.alloca() : memref<16x36xf32, #gpu.address_space<workgroup>>
// CHECK-DAG: %[[RIGHT:.*]] = memref.alloca() : memref<16x32xf32, #gpu.address_space<workgroup>>
// CHECK: %[[SUMS:.*]]:8 = scf.for %{{.*}} = %c0{{.*}} to %c32{{.*}} step %c16
// CHECK: memref.store %{{.*}}, %[[LEFT]]
// CHECK: memref.store %{{.*}}, %[[RIGHT]]
// CHECK: gpu.barrier
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c16
// CHECK-COUNT-2: memref.load %[[LEFT]]
// CHECK-COUNT-4: memref.load %[[RIGHT]]
// CHECK-COUNT-8: math.fma
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK: memref.store
kernel.func @product(%x: tensor<64x21xf32>, %w: tensor<21x24xf32>) -> tensor<64x24xf32> attributes {strategy = "block-product", plan = {columns = 32, rows = 32, slices = 1, thread_columns = 4, thread_rows = 2}} {
  %y = graph.matmul %x, %w : (tensor<64x21xf32>, tensor<21x24xf32>) -> tensor<64x24xf32>
  kernel.return %y : tensor<64x24xf32>
}

// Each row is reduced by one warp: a thread reads 4 adjacent elements at a
// time, then the threads exchange their sums.
// CHECK-LABEL: kernel.func @sum(
// CHECK-SAME: extent = 512 : index
// CHECK-SAME: threads = 128 : i64
// CHECK: %[[LANE:.*]] = arith.remsi %{{.*}}, %c32
// CHECK: %[[FROM:.*]] = arith.muli %[[LANE]], %c4
// CHECK: scf.for %{{.*}} = %[[FROM]] to %c1000{{.*}} step %c128
// CHECK-COUNT-4: memref.load
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[LANE]], %c0
// CHECK: scf.if %[[FIRST]]
// CHECK: memref.store
kernel.func @sum(%x: tensor<2048x1000xf32>) -> tensor<2048x1xf32> attributes {strategy = "reduction"} {
  %y = graph.reduce_sum %x {axes = array<i64: 1>} : (tensor<2048x1000xf32>) -> tensor<2048x1xf32>
  kernel.return %y : tensor<2048x1xf32>
}

// Two slices of a block compute one tile: each slice multiplies every other K
// tile of 16 steps. The second slice writes its sums to shared memory, and the
// first one adds and stores them.
// CHECK-LABEL: kernel.func @slices(
// CHECK-SAME: extent = 1 : index
// CHECK-SAME: threads = 256 : i64
// CHECK-DAG: memref.alloca() : memref<4x32x20xf32, #gpu.address_space<workgroup>>
// CHECK-DAG: %[[PARTS:.*]] = memref.alloca() : memref<1x8x128xf32, #gpu.address_space<workgroup>>
// CHECK: scf.for {{.*}} to %c128{{.*}} step %c32
// CHECK: scf.if
// CHECK-COUNT-8: memref.store %{{.*}}, %[[PARTS]]
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK-COUNT-8: memref.load %[[PARTS]]
kernel.func @slices(%x: tensor<32x128xf32>, %w: tensor<128x32xf32>) -> tensor<32x32xf32> attributes {strategy = "block-product", plan = {columns = 32, rows = 32, slices = 2, thread_columns = 4, thread_rows = 2}} {
  %y = graph.matmul %x, %w : (tensor<32x128xf32>, tensor<128x32xf32>) -> tensor<32x32xf32>
  kernel.return %y : tensor<32x32xf32>
}

// Asynchronous copies of 16 bytes: the next K tile is copied to the second
// buffer while the current one is multiplied. Rows of the left tile are 20
// elements apart in shared memory.
// CHECK-LABEL: kernel.func @vectors(
// CHECK-DAG: %[[LEFT:.*]] = memref.alloca() : memref<2x32x20xf32, #gpu.address_space<workgroup>>
// CHECK-DAG: %[[RIGHT:.*]] = memref.alloca() : memref<2x16x32xf32, #gpu.address_space<workgroup>>
// CHECK: kernel.copy_ahead {{.*}} to %[[LEFT]]
// CHECK: kernel.copy_ahead {{.*}} to %[[RIGHT]]
// CHECK: scf.for {{.*}} to %c48{{.*}} step %c16
// CHECK: kernel.await_copies but 0
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK: kernel.copy_ahead {{.*}} to %[[LEFT]]
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c16
// CHECK-COUNT-8: math.fma
// CHECK-NOT: gpu.barrier
kernel.func @vectors(%x: tensor<64x40xf32>, %w: tensor<40x24xf32>) -> tensor<64x24xf32> attributes {strategy = "block-product", plan = {columns = 32, rows = 32, slices = 1, thread_columns = 4, thread_rows = 2}} {
  %y = graph.matmul %x, %w : (tensor<64x40xf32>, tensor<40x24xf32>) -> tensor<64x24xf32>
  kernel.return %y : tensor<64x24xf32>
}

// If few rows are reduced, each row has its own block, whose warps add their
// results in shared memory.
// CHECK-LABEL: kernel.func @few_rows(
// CHECK-SAME: extent = 3 : index
// CHECK-SAME: threads = 256 : i64
// CHECK: scf.for {{.*}} to %c1000{{.*}} step %c1024
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: %[[TOTALS:.*]] = memref.alloca() : memref<8xf32, #gpu.address_space<workgroup>>
// CHECK: gpu.barrier
// CHECK: memref.store %{{.*}}, %[[TOTALS]]
// CHECK: gpu.barrier
// CHECK-COUNT-8: memref.load %[[TOTALS]]
kernel.func @few_rows(%x: tensor<3x1000xf32>) -> tensor<3x1xf32> attributes {strategy = "reduction"} {
  %y = graph.reduce_sum %x {axes = array<i64: 1>} : (tensor<3x1000xf32>) -> tensor<3x1xf32>
  kernel.return %y : tensor<3x1xf32>
}
