// RUN: %ingot-opt %s -schedule-kernels=target=sm_80 | FileCheck %s
// REQUIRES: ingot-opt

// Packed weights have the K steps of each column next to each other, in vectors
// of four. Two warps divide the K steps of a column. 520 K steps are 130
// vectors: two for each of the 64 threads, and one more for two of them; the
// other threads load the last vector again and ignore it. The warps add their
// results in shared memory.
// CHECK-LABEL: kernel.func @packed(
// CHECK-SAME: extent = 3 : index
// CHECK-SAME: threads = 128 : i64
// CHECK: %[[PARTS:.*]] = memref.alloca() : memref<2x1x2xf32, #gpu.address_space<workgroup>>
// CHECK: arith.mulf
// CHECK-COUNT-7: math.fma
// CHECK: arith.minsi %[[LAST:.*]], %c129
// CHECK-COUNT-4: memref.load %arg1
// CHECK-COUNT-4: math.fma
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[LAST]], %c130
// CHECK: %[[SUM:.*]] = arith.select %[[INSIDE]]
// CHECK: gpu.shuffle xor %[[SUM]]
// CHECK-COUNT-4: gpu.shuffle xor
// CHECK: memref.store %{{.*}}, %[[PARTS]]
// CHECK: gpu.barrier
// CHECK-COUNT-2: memref.load %[[PARTS]]
// CHECK-NOT: memref.load %[[PARTS]]
// CHECK: memref.store
kernel.func @packed(%x: tensor<1x520xf32>, %w: tensor<3120xf32>) -> tensor<1x6xf32> attributes {strategy = "row-product", plan = {columns = 2, parts = 2, warp_columns = 1}} {
  %u = graph.unpack_panels %w {panel = 1 : i64, tail = 0 : i64, group = 4 : i64} : (tensor<3120xf32>) -> tensor<520x6xf32>
  %y = graph.matmul %x, %u : (tensor<1x520xf32>, tensor<520x6xf32>) -> tensor<1x6xf32>
  kernel.return %y : tensor<1x6xf32>
}

// A right operand that is not packed is read along its rows: each thread has
// two columns and a quarter of the K steps. Threads after the last column
// compute this column again, and do not store it.
// CHECK-LABEL: kernel.func @computed(
// CHECK-SAME: extent = 8 : index
// CHECK-SAME: threads = 128 : i64
// CHECK: memref.alloca() : memref<4x3x64xf32, #gpu.address_space<workgroup>>
// CHECK: arith.minsi
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c25{{.*}} iter_args
// CHECK-COUNT-6: math.fma
// CHECK-NOT: gpu.shuffle
// CHECK: gpu.barrier
kernel.func @computed(%x: tensor<4x3x100xf32>, %w: tensor<4x100x100xf32>) -> tensor<4x3x100xf32> attributes {strategy = "row-product", plan = {columns = 64, parts = 4, warp_columns = 64}} {
  %y = graph.matmul %x, %w : (tensor<4x3x100xf32>, tensor<4x100x100xf32>) -> tensor<4x3x100xf32>
  kernel.return %y : tensor<4x3x100xf32>
}

// Weights of 4 bits: in each iteration, a thread multiplies the 8 weights in
// four bytes of a column, which have one scale.
// CHECK-LABEL: kernel.func @narrow(
// CHECK-SAME: extent = 1 : index
// CHECK-SAME: threads = 128 : i64
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c4{{.*}} iter_args
// CHECK: memref.load %[[SCALES:.*]][%{{.*}}, %{{.*}}] : memref<4x32xf32>
// CHECK-COUNT-4: memref.load %{{.*}} : memref<64x32xi8>
// CHECK-NOT: memref<64x32xi8>
// CHECK: math.fma
// CHECK: scf.yield
kernel.func @narrow(%x: tensor<1x128xf32>, %w: tensor<64x32xui8>, %scales: tensor<4x32xf32>) -> tensor<1x32xf32> attributes {strategy = "row-product", plan = {columns = 32, parts = 4, warp_columns = 32}} {
  %y = graph.narrow_matmul %x, %w, %scales {bits = 4 : i64, block = 32 : i64} : (tensor<1x128xf32>, tensor<64x32xui8>, tensor<4x32xf32>) -> tensor<1x32xf32>
  kernel.return %y : tensor<1x32xf32>
}
