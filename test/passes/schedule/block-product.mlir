// RUN: %ingot-opt %s -schedule-kernels=target=sm_80 | FileCheck %s
// REQUIRES: ingot-opt

// Two by one tiles of 32 x 32, each a block of 128 threads with 2 x 4 sums. 20 steps are
// two strips of 16, of which the second one is filled up with zeros; so are the columns
// beyond the 24th.
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
kernel.func @product(%x: tensor<64x20xf32>, %w: tensor<20x24xf32>) -> tensor<64x24xf32> attributes {strategy = "block-product", plan = {columns = 32, rows = 32, thread_columns = 4, thread_rows = 2}} {
  %y = graph.matmul %x, %w : (tensor<64x20xf32>, tensor<20x24xf32>) -> tensor<64x24xf32>
  kernel.return %y : tensor<64x24xf32>
}

// A warp reduces a row: each thread a part, then they exchange.
// CHECK-LABEL: kernel.func @sum(
// CHECK-SAME: extent = 3 : index
// CHECK-SAME: threads = 128 : i64
// CHECK: scf.for %{{.*}} = %[[LANE:.*]] to %c1000{{.*}} step %c32
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[LANE]], %c0
// CHECK: scf.if %[[FIRST]]
// CHECK: memref.store
kernel.func @sum(%x: tensor<12x1000xf32>) -> tensor<12x1xf32> attributes {strategy = "reduction"} {
  %y = graph.reduce_sum %x {axes = array<i64: 1>} : (tensor<12x1000xf32>) -> tensor<12x1xf32>
  kernel.return %y : tensor<12x1xf32>
}
