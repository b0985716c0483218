// A matrix multiplication computes whole register tiles of rows, then the
// remaining rows. If the number of remaining rows is dynamic, they are split
// into tiles of powers of two.
//
// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v4 | FileCheck %s
// REQUIRES: ingot-opt

// CHECK-LABEL: @rows_left(
// CHECK-SAME: %[[N:[a-z0-9]+]]: index {kernel.name = "n"})
// CHECK: %[[TILES:.*]] = arith.divsi %[[N]], %c6
// CHECK: %[[END:.*]] = arith.muli %[[TILES]], %c6
// CHECK: scf.for %{{.*}} = %c0 to %[[END]] step %c6
// CHECK: scf.for %{{.*}} = %c0 to %c20
// CHECK-COUNT-6: vector.fma
// CHECK: %[[LEFT:.*]] = arith.remsi %[[N]], %c6
// CHECK: arith.cmpi sge, %[[LEFT]], %c4
// CHECK-NEXT: scf.if
// CHECK: arith.subi %[[N]], %[[LEFT]]
// CHECK-COUNT-4: vector.fma
// CHECK: %[[LESS:.*]] = arith.remsi %[[LEFT]], %c4
// CHECK: arith.cmpi sge, %[[LESS]], %c2
// CHECK-NEXT: scf.if
// CHECK-COUNT-2: vector.fma
// CHECK: %[[ONE:.*]] = arith.remsi %[[LESS]], %c2
// CHECK: arith.cmpi sge, %[[ONE]], %c1
// CHECK-NEXT: scf.if
// CHECK-COUNT-1: vector.fma
// CHECK-NOT: vector.fma
// CHECK: return
kernel.func @rows_left(%x: tensor<64x20xf32, #kernel.sizes<"n" in 1 to 64 : s0, 20>>, %w: tensor<20x16xf32>)
    -> tensor<64x16xf32, #kernel.sizes<"n" in 1 to 64 : s0, 16>>
    attributes {strategy = "matrix-product", plan = {columns = 16, rows = 6, splits = 1}} {
  %y = graph.matmul %x, %w : (tensor<64x20xf32, #kernel.sizes<"n" in 1 to 64 : s0, 20>>, tensor<20x16xf32>)
      -> tensor<64x16xf32, #kernel.sizes<"n" in 1 to 64 : s0, 16>>
  kernel.return %y : tensor<64x16xf32, #kernel.sizes<"n" in 1 to 64 : s0, 16>>
}

// With n images of 49 rows each, tiles of 7 rows leave no remaining rows, and
// tiles of 14 leave 7 for an odd n.
// CHECK-LABEL: @none_left(
// CHECK: scf.for {{.*}} step %c7
// CHECK-COUNT-7: vector.fma
// CHECK-NOT: vector.fma
// CHECK-LABEL: @seven_left(
// CHECK: scf.for {{.*}} step %c14
// CHECK-COUNT-14: vector.fma
// CHECK: scf.if
// CHECK-COUNT-7: vector.fma
// CHECK-NOT: vector.fma
!rows = tensor<64x49x20xf32, #kernel.sizes<"n" in 1 to 64 : s0, 49, 20>>
!product = tensor<64x49x16xf32, #kernel.sizes<"n" in 1 to 64 : s0, 49, 16>>
kernel.func @none_left(%x: !rows, %w: tensor<20x16xf32>) -> !product
    attributes {strategy = "matrix-product", plan = {columns = 16, rows = 7, splits = 1}} {
  %y = graph.matmul %x, %w : (!rows, tensor<20x16xf32>) -> !product
  kernel.return %y : !product
}
kernel.func @seven_left(%x: !rows, %w: tensor<20x16xf32>) -> !product
    attributes {strategy = "matrix-product", plan = {columns = 16, rows = 14, splits = 1}} {
  %y = graph.matmul %x, %w : (!rows, tensor<20x16xf32>) -> !product
  kernel.return %y : !product
}

// Two rows that remain after tiles of 6 are combined with the last tile: 20
// rows are 12 + 4 + 4. One row after a single tile: 7 rows are 4 + 3. Three
// remaining rows are a tile of their own.
// CHECK-LABEL: @two_share(
// CHECK: scf.for {{.*}} = %c0 to %c12 step %c6
// CHECK-COUNT-6: vector.fma
// CHECK: scf.for {{.*}} = %c12{{.*}} to %c20{{.*}} step %c4
// CHECK-COUNT-4: vector.fma
// CHECK-NOT: vector.fma
// CHECK-LABEL: @one_shares(
// CHECK-COUNT-7: vector.fma
// CHECK-NOT: vector.fma
// CHECK-LABEL: @three_do_not(
// CHECK-COUNT-9: vector.fma
// CHECK-NOT: vector.fma
kernel.func @two_share(%x: tensor<20x5xf32>, %w: tensor<5x16xf32>) -> tensor<20x16xf32>
    attributes {strategy = "matrix-product", plan = {columns = 16, rows = 6, splits = 1}} {
  %y = graph.matmul %x, %w : (tensor<20x5xf32>, tensor<5x16xf32>) -> tensor<20x16xf32>
  kernel.return %y : tensor<20x16xf32>
}
kernel.func @one_shares(%x: tensor<7x5xf32>, %w: tensor<5x16xf32>) -> tensor<7x16xf32>
    attributes {strategy = "matrix-product", plan = {columns = 16, rows = 6, splits = 1}} {
  %y = graph.matmul %x, %w : (tensor<7x5xf32>, tensor<5x16xf32>) -> tensor<7x16xf32>
  kernel.return %y : tensor<7x16xf32>
}
kernel.func @three_do_not(%x: tensor<9x5xf32>, %w: tensor<5x16xf32>) -> tensor<9x16xf32>
    attributes {strategy = "matrix-product", plan = {columns = 16, rows = 6, splits = 1}} {
  %y = graph.matmul %x, %w : (tensor<9x5xf32>, tensor<5x16xf32>) -> tensor<9x16xf32>
  kernel.return %y : tensor<9x16xf32>
}
