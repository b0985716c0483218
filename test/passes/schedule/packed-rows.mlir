// Rows of a product's left operand are packed, on targets whose multiply-adds
// take a lane of a vector as factor: four rows of four K steps are transposed
// (shuffles), and stored to scratch memory. A tile then loads two vectors of
// rows and two of weights for each K step. The last two of ten rows are a tile
// of their own, with one vector of rows.
//
// RUN: %ingot-opt %s -schedule-kernels=target=armv8-a | FileCheck %s
// RUN: not %ingot-opt %s -schedule-kernels=target=x86-64-v3 2>&1 | FileCheck %s --check-prefix=WIDE
// REQUIRES: ingot-opt

// WIDE: rows are packed only for multiply-adds that take a lane of a vector as factor

// CHECK-LABEL: @convolution(
// CHECK-COUNT-4: vector.load %{{.*}} : memref<10x16xf32>, vector<4xf32>
// CHECK-COUNT-8: vector.shuffle
// CHECK-COUNT-4: vector.store %{{.*}} : memref<1x256xf32>, vector<4xf32>
// CHECK: scf.for
// CHECK-COUNT-2: vector.load %{{.*}} : memref<10x16xf32>, vector<4xf32>
// CHECK-NEXT: vector.shuffle
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c4
// CHECK-COUNT-2: vector.load %{{.*}} : memref<1x256xf32>, vector<4xf32>
// CHECK-NEXT: vector.load %{{.*}} : memref<128xf32>, vector<4xf32>
// CHECK-NEXT: vector.load %{{.*}} : memref<128xf32>, vector<4xf32>
// CHECK-COUNT-64: vector.fma
// CHECK-NOT: vector.fma
// CHECK: } {kernel.clang_unroll_count = 2 : i64}
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c4
// CHECK-COUNT-16: vector.fma
// CHECK-NOT: vector.fma
// CHECK: return
kernel.func @convolution(%x: tensor<1x2x5x16xf32>, %p: tensor<128xf32>) -> tensor<1x2x5x8xf32>
    attributes {strategy = "convolution",
                plan = {columns = 8, order = "tiles", packed = 16, parts = 1, rows = 8, splits = 1}} {
  %w = graph.unpack_panels %p {panel = 8 : i64, tail = 0 : i64, group = 1 : i64} : (tensor<128xf32>) -> tensor<1x1x16x8xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64}
      : (tensor<1x2x5x16xf32>, tensor<1x1x16x8xf32>) -> tensor<1x2x5x8xf32>
  kernel.return %y : tensor<1x2x5x8xf32>
}

// An image whose channels become the last axis is read by columns: three
// vectors hold the nine columns that the windows of four outputs read in a
// channel, the last of them beginning at column 5. Each of the three kernel
// columns multiplies lanes of these vectors.
// CHECK-LABEL: @image(
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c3
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c3
// CHECK-COUNT-3: vector.load %arg0{{.*}} vector<4xf32>
// CHECK-NOT: memref.load
// CHECK-COUNT-12: vector.fma
// CHECK-NOT: vector.fma
// CHECK: return
kernel.func @image(%x: tensor<1x3x3x9xf32>, %p: tensor<108xf32>) -> tensor<1x1x4x4xf32>
    attributes {strategy = "convolution", plan = {columns = 4, order = "tiles", rows = 4, splits = 1}} {
  %w = graph.unpack_panels %p {panel = 4 : i64, tail = 0 : i64, group = 1 : i64} : (tensor<108xf32>) -> tensor<3x3x3x4xf32>
  %t = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x3x9xf32>) -> tensor<1x3x9x3xf32>
  %y = graph.conv %t, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64}
      : (tensor<1x3x9x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x1x4x4xf32>
  kernel.return %y : tensor<1x1x4x4xf32>
}
