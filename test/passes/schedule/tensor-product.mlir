// RUN: %ingot-opt %s -schedule-kernels=target=sm_80 | FileCheck %s
// REQUIRES: ingot-opt

// A block computes a tile of 32 x 32 with four warps of 16 x 16. 72 K steps are
// three K tiles of 32; two K tiles are being copied while one is multiplied.
// The right operand is not packed: its rows are transposed as they are loaded
// from shared memory.
// CHECK-LABEL: kernel.func @product(
// CHECK-SAME: extent = 4 : index
// CHECK-SAME: threads = 128 : i64
// CHECK-DAG: %[[LEFT:.*]] = memref.alloca() : memref<3x32x32xf16, #gpu.address_space<workgroup>>
// CHECK-DAG: %[[RIGHT:.*]] = memref.alloca() : memref<3x32x32xf16, #gpu.address_space<workgroup>>
// CHECK-COUNT-2: kernel.copy_ahead %{{.*}} to %[[RIGHT]]
// CHECK: kernel.copy_ahead %{{.*}} to %[[LEFT]]
// CHECK: kernel.close_copies
// CHECK: kernel.copy_ahead %{{.*}} to %[[LEFT]]
// CHECK: kernel.close_copies
// CHECK: kernel.await_copies but 1
// CHECK: gpu.barrier
// CHECK: scf.for {{.*}} to %c3{{.*}} iter_args
// CHECK: scf.if
// CHECK: kernel.copy_ahead %{{.*}} to %[[LEFT]]{{.*}} if
// CHECK: kernel.copy_ahead %{{.*}} to %[[RIGHT]]{{.*}} if
// CHECK: kernel.close_copies
// CHECK: kernel.load_matrices %[[LEFT]]
// CHECK: kernel.load_matrices %[[RIGHT]]{{.*}} transposed
// CHECK-COUNT-2: kernel.warp_product {{.*}}left = f16, right = f16
// CHECK: kernel.load_matrices %[[LEFT]]
// CHECK: kernel.await_copies but 1
// CHECK: gpu.barrier
// CHECK: scf.yield
kernel.func @product(%x: tensor<64x72xf16>, %w: tensor<72x64xf16>) -> tensor<64x64xf16> attributes {strategy = "tensor-product", plan = {columns = 32, rows = 32, slices = 1, stages = 3, warp_columns = 16, warp_rows = 16}} {
  %y = graph.matmul %x, %w : (tensor<64x72xf16>, tensor<72x64xf16>) -> tensor<64x64xf16>
  kernel.return %y : tensor<64x64xf16>
}

// The int8 elements of a right operand that is not packed are stored to shared
// memory one by one, so that the K steps of a column are contiguous.
// CHECK-LABEL: kernel.func @bytes(
// CHECK: %[[RIGHT:.*]] = memref.alloca() : memref<2x32x64xi8, #gpu.address_space<workgroup>>
// CHECK: memref.store %{{.*}}, %[[RIGHT]]
// CHECK-NOT: transposed
// CHECK: kernel.warp_product {{.*}}left = ui8, right = si8
kernel.func @bytes(%x: tensor<32x64xui8>, %w: tensor<64x32xsi8>) -> tensor<32x32xsi32> attributes {strategy = "tensor-product", plan = {columns = 32, rows = 32, slices = 1, stages = 2, warp_columns = 16, warp_rows = 16}} {
  %y = graph.matmul %x, %w : (tensor<32x64xui8>, tensor<64x32xsi8>) -> tensor<32x32xsi32>
  kernel.return %y : tensor<32x32xsi32>
}

// Two slices of a block compute one tile: each slice multiplies every other K
// tile (4 buffers, for two pipeline stages). The second slice writes its sums
// to shared memory, and the first one adds and stores them.
// CHECK-LABEL: kernel.func @slices(
// CHECK-SAME: extent = 1 : index
// CHECK-SAME: threads = 256 : i64
// CHECK-DAG: %[[LEFT:.*]] = memref.alloca() : memref<4x32x32xf16, #gpu.address_space<workgroup>>
// CHECK-DAG: %[[PARTS:.*]] = memref.alloca() : memref<1x8x128xf32, #gpu.address_space<workgroup>>
// CHECK: scf.for {{.*}} to %c4{{.*}} iter_args
// CHECK: kernel.load_matrices %[[LEFT]]
// CHECK: scf.if
// CHECK-COUNT-8: memref.store %{{.*}}, %[[PARTS]]
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK-COUNT-8: memref.load %[[PARTS]]
kernel.func @slices(%x: tensor<32x256xf16>, %w: tensor<256x32xf16>) -> tensor<32x32xf16> attributes {strategy = "tensor-product", plan = {columns = 32, rows = 32, slices = 2, stages = 2, warp_columns = 16, warp_rows = 16}} {
  %y = graph.matmul %x, %w : (tensor<32x256xf16>, tensor<256x32xf16>) -> tensor<32x32xf16>
  kernel.return %y : tensor<32x32xf16>
}

// Operands in tf32: a 16-byte vector has four elements, and a matrix
// instruction multiplies 8 K steps. The elements of a right operand that is not
// packed are stored to shared memory one by one, because 32-bit elements cannot
// be transposed as they are loaded.
// CHECK-LABEL: kernel.func @tf32(
// CHECK-DAG: memref.alloca() : memref<2x32x16xf32, #gpu.address_space<workgroup>>
// CHECK-NOT: transposed
// CHECK: kernel.warp_product {{.*}}left = tf32, right = tf32
kernel.func @tf32(%x: tensor<32x64xf32>, %w: tensor<64x32xf32>) -> tensor<32x32xf32> attributes {strategy = "tensor-product", plan = {columns = 32, rows = 32, slices = 1, stages = 2, warp_columns = 16, warp_rows = 16}} {
  %y = graph.matmul %x, %w {graph.multiplied = tf32} : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  kernel.return %y : tensor<32x32xf32>
}

// The groups of a grouped convolution are computed like batches: each group
// reads its own input channels and weights.
// CHECK-LABEL: kernel.func @groups(
// CHECK-SAME: extent = 2 : index
// CHECK: kernel.copy_ahead %arg0
// CHECK: kernel.warp_product
kernel.func @groups(%x: tensor<1x4x8x32xf16>, %w: tensor<1x1x16x64xf16>) -> tensor<1x4x8x64xf16> attributes {strategy = "tensor-product", plan = {columns = 32, rows = 32, slices = 1, stages = 2, warp_columns = 16, warp_rows = 16}} {
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 2} : (tensor<1x4x8x32xf16>, tensor<1x1x16x64xf16>) -> tensor<1x4x8x64xf16>
  kernel.return %y : tensor<1x4x8x64xf16>
}

// Three blocks share the 2 x 4 K tiles of two output tiles: 3, 3 and 2 K tiles.
// The second block has the end of the first output tile and the beginning of
// the second. Partial sums are written to memory, and the block that completes
// an output tile adds them in the order of the K tiles.
// CHECK-LABEL: kernel.func @shares(
// CHECK-SAME: %[[PARTS:[a-z0-9]+]]: memref<6x8x128xf32> {kernel.name = "scratch0"}
// CHECK-SAME: %[[COUNTS:[a-z0-9]+]]: memref<2xi32> {kernel.cleared, kernel.name = "scratch1"}
// CHECK-SAME: extent = 3 : index
// CHECK: scf.for
// CHECK: kernel.warp_product
// CHECK: scf.if
// CHECK: } else {
// CHECK-COUNT-8: memref.store %{{.*}}, %[[PARTS]]
// CHECK: %[[N:.*]] = kernel.count %[[COUNTS]]
// CHECK: arith.cmpi eq, %[[N]]
// CHECK: scf.for
// CHECK-COUNT-8: memref.load %[[PARTS]]
kernel.func @shares(%x: tensor<64x128xf16>, %w: tensor<128x32xf16>) -> tensor<64x32xf16> attributes {strategy = "stream-product", plan = {columns = 32, rows = 32, shares = 3, stages = 2, warp_columns = 16, warp_rows = 16}} {
  %y = graph.matmul %x, %w : (tensor<64x128xf16>, tensor<128x32xf16>) -> tensor<64x32xf16>
  kernel.return %y : tensor<64x32xf16>
}
