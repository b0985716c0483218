// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v3 | FileCheck %s
// RUN: %ingot-opt %s -schedule-kernels=target=armv8-a | FileCheck %s --check-prefix=NEON
// REQUIRES: ingot-opt

// A matrix is transposed in tiles of 8 x 8, whose halves are interleaved three
// times, with 24 shuffles in all. The last tile of the 20 columns starts
// earlier, and so does the last tile of the 9 rows.
// CHECK-LABEL: kernel.func @tiles(
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c20{{.*}} step %c8
// CHECK: arith.select
// CHECK-COUNT-8: vector.load %{{.*}} : memref<9x20xf32>, vector<8xf32>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 8, 1, 9, 2, 10, 3, 11]
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [4, 12, 5, 13, 6, 14, 7, 15]
// CHECK-COUNT-22: vector.shuffle
// CHECK-NOT: vector.shuffle
// CHECK: vector.store %{{.*}} : memref<20x9xf32>, vector<8xf32>
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c20{{.*}} step %c8
// CHECK: vector.load
// NEON-LABEL: kernel.func @tiles(
// NEON-COUNT-4: vector.load %{{.*}} : memref<9x20xf32>, vector<4xf32>
// NEON-COUNT-8: vector.shuffle
// NEON-NOT: vector.shuffle
// NEON: vector.store
kernel.func @tiles(%x: tensor<9x20xf32>) -> tensor<20x9xf32> attributes {strategy = "transpose", comment = ""} {
  %y = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<9x20xf32>) -> tensor<20x9xf32>
  kernel.return %y : tensor<20x9xf32>
}

// The outer loop is over panels of 16 columns (a cache line) with all rows:
// input rows of 192 bytes use more sets of the L1 cache than result rows of 128
// bytes.
// CHECK-LABEL: kernel.func @lines_of_input(
// CHECK-SAME: memref<32x48xf32>
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c3{{.*}} step
// CHECK: scf.for %[[ROW:.*]] = %c0{{.*}} to %c32{{.*}} step %c8
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c16{{.*}} step %c8
// CHECK: vector.load %{{.*}}[%[[ROW]], %{{.*}}] : memref<32x48xf32>
kernel.func @lines_of_input(%x: tensor<32x48xf32>) -> tensor<48x32xf32> attributes {strategy = "transpose", comment = ""} {
  %y = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<32x48xf32>) -> tensor<48x32xf32>
  kernel.return %y : tensor<48x32xf32>
}

// The outer loop is over panels of 16 rows with all columns if the rows of the
// result use more sets of the L1 cache than those of the input.
// CHECK-LABEL: kernel.func @lines_of_result(
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c3{{.*}} step
// CHECK: scf.for %[[COLUMN:.*]] = %c0{{.*}} to %c32{{.*}} step %c8
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c16{{.*}} step %c8
// CHECK: vector.load %{{.*}}[%{{.*}}, %[[COLUMN]]] : memref<48x32xf32>
kernel.func @lines_of_result(%x: tensor<48x32xf32>) -> tensor<32x48xf32> attributes {strategy = "transpose", comment = ""} {
  %y = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<48x32xf32>) -> tensor<32x48xf32>
  kernel.return %y : tensor<32x48xf32>
}

// Rows that are 4096 bytes apart are all in one set of the L1 cache, so a panel
// has only one tile (8) of such rows.
// CHECK-LABEL: kernel.func @one_set(
// CHECK-SAME: extent = 4 : index
// CHECK: scf.for
// CHECK: scf.for %[[COLUMN:.*]] = %c0{{.*}} to %c1024{{.*}} step %c8
// CHECK-NOT: scf.for
// CHECK: vector.load %{{.*}}[%{{.*}}, %[[COLUMN]]] : memref<32x1024xf32>
kernel.func @one_set(%x: tensor<32x1024xf32>) -> tensor<1024x32xf32> attributes {strategy = "transpose", comment = ""} {
  %y = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<32x1024xf32>) -> tensor<1024x32xf32>
  kernel.return %y : tensor<1024x32xf32>
}

// Operators before the transpose are computed along the rows of the input, and
// operators after it along the rows of the result. f16 elements are shuffled as
// f16, and widened only for the arithmetic.
// CHECK-LABEL: kernel.func @between(
// CHECK-COUNT-8: vector.load %{{.*}} : memref<4x16x8xf16>, vector<8xf16>
// CHECK-COUNT-24: vector.shuffle {{.*}} : vector<8xf16>, vector<8xf16>
// CHECK: arith.extf %{{.*}} : vector<8xf16> to vector<8xf32>
// CHECK: arith.negf
kernel.func @between(%x: tensor<4x16x8xf16>) -> tensor<4x8x16xf16> attributes {strategy = "transpose", comment = ""} {
  %t = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<4x16x8xf16>) -> tensor<4x8x16xf16>
  %y = graph.neg %t : (tensor<4x8x16xf16>) -> tensor<4x8x16xf16>
  kernel.return %y : tensor<4x8x16xf16>
}

// Three rows are interleaved: 8 columns of three rows become three vectors of
// the result. The last vectors of columns start earlier.
// CHECK-LABEL: kernel.func @few(
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c20{{.*}} step %c8
// CHECK-COUNT-3: vector.load %{{.*}} : memref<3x5x20xf32>, vector<8xf32>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 8, 2, 1, 9, 5, 2, 10]
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 8, 3, 4, 9, 6, 7]
// CHECK: vector.store %{{.*}} : memref<5x60xf32>, vector<8xf32>
// CHECK-COUNT-2: vector.shuffle
// CHECK: vector.store
// CHECK-COUNT-2: vector.shuffle
// CHECK: vector.store
// CHECK-NOT: vector.shuffle
// NEON-LABEL: kernel.func @few(
// NEON-COUNT-3: vector.load %{{.*}} : memref<3x5x20xf32>, vector<4xf32>
// NEON-COUNT-6: vector.shuffle
kernel.func @few(%x: tensor<3x5x20xf32>) -> tensor<5x20x3xf32> attributes {strategy = "transpose", comment = ""} {
  %y = graph.transpose %x {perm = array<i64: 1, 2, 0>} : (tensor<3x5x20xf32>) -> tensor<5x20x3xf32>
  kernel.return %y : tensor<5x20x3xf32>
}

// Three rows are not interleaved in vectors if the result is part of a larger
// tensor (5 elements per column), in which their elements are not contiguous.
// CHECK-LABEL: kernel.func @few_of_more(
// CHECK: scf.for %[[COLUMN:.*]] = %c0{{.*}} to %c20{{.*}} step %c1
// CHECK: memref.load %arg0[%c0{{.*}}, %[[PART:.*]], %[[COLUMN]]]
// CHECK: memref.store %{{.*}}, %arg1[%[[PART]], %[[COLUMN]], %c0{{.*}}] : memref<5x20x3xf32, strided<[100, 5, 1]>>
// CHECK: memref.load %arg0[%c1{{.*}}, %[[PART]], %[[COLUMN]]]
// CHECK: memref.store
// CHECK: memref.load %arg0[%c2{{.*}}, %[[PART]], %[[COLUMN]]]
// CHECK: memref.store
// CHECK-NOT: vector.shuffle
kernel.func @few_of_more(%x: tensor<3x5x20xf32>) -> tensor<5x20x3xf32> attributes {strategy = "transpose", comment = "", output_strides = array<i64: 100, 5, 1>} {
  %y = graph.transpose %x {perm = array<i64: 1, 2, 0>} : (tensor<3x5x20xf32>) -> tensor<5x20x3xf32>
  kernel.return %y : tensor<5x20x3xf32>
}

// With a dynamic number of rows, panels divide the columns. Fewer rows than
// lanes are moved element by element.
// CHECK-LABEL: kernel.func @dynamic_rows(
// CHECK: scf.if
// CHECK: vector.shuffle
// CHECK: } else {
// CHECK-NOT: vector.shuffle
// CHECK: memref.load
// CHECK: memref.store
kernel.func @dynamic_rows(%x: tensor<2x40x32xf32, #kernel.sizes<"n" in 1 to 40 : 2, s0, 32>>) -> tensor<2x32x40xf32, #kernel.sizes<"n" in 1 to 40 : 2, 32, s0>> attributes {strategy = "transpose", comment = ""} {
  %y = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<2x40x32xf32, #kernel.sizes<"n" in 1 to 40 : 2, s0, 32>>) -> tensor<2x32x40xf32, #kernel.sizes<"n" in 1 to 40 : 2, 32, s0>>
  kernel.return %y : tensor<2x32x40xf32, #kernel.sizes<"n" in 1 to 40 : 2, 32, s0>>
}

// A conversion to int8 before the interleaving of three rows is computed on the
// interleaved vectors of f32: vectors of four int8 would not fill a register.
// CHECK-LABEL: @quantized_image(
// CHECK-COUNT-3: vector.load %{{.*}} : memref<1x3x2x8xf32>, vector<
// CHECK: vector.shuffle %{{.*}} : vector<8xf32>, vector<8xf32>
// CHECK: arith.divf
// CHECK: vector.store %{{.*}} : memref<{{.*}}xi8>
// CHECK: return
kernel.func @quantized_image(%x: tensor<1x3x2x8xf32>) -> tensor<1x2x8x3xsi8> attributes {strategy = "transpose", comment = ""} {
  %scale = graph.constant dense<0.5> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<0> : tensor<si8> : tensor<si8>
  %q = graph.quantize %x, %scale, %zero : (tensor<1x3x2x8xf32>, tensor<f32>, tensor<si8>) -> tensor<1x3x2x8xsi8>
  %y = graph.transpose %q {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x2x8xsi8>) -> tensor<1x2x8x3xsi8>
  kernel.return %y : tensor<1x2x8x3xsi8>
}
