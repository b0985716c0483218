// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v4 | FileCheck %s
// RUN: %ingot-opt %s -schedule-kernels=target=generic | FileCheck %s --check-prefix=NONE
// REQUIRES: ingot-opt
// NONE-NOT: kernel.prefetch

// The second cache does not keep these weights (2 MiB of 1 MiB): while the 16 tiles of rows
// multiply a panel, in strips of 16 steps, each strip fetches a step of the next one, but
// none behind the last.
// CHECK-LABEL: @large(
// CHECK: scf.for %[[PANEL:.*]] = %arg3 to %arg4
// CHECK: scf.for %[[ROW:.*]] =
// CHECK: %[[TILE:.*]] = arith.divsi %[[ROW]], %c8
// CHECK: %[[BEFORE:.*]] = arith.muli %[[TILE]], %c32
// CHECK: %[[FIRST:.*]] = arith.addi %[[BEFORE]], %c512
// CHECK: %[[PANELS:.*]] = arith.subi %c21, %[[PANEL]]
// CHECK: %[[STEPS:.*]] = arith.muli %[[PANELS]], %c512
// CHECK: %[[LAST:.*]] = arith.subi %[[STEPS]], %c1
// CHECK: scf.for %[[STRIP:.*]] = %c0 to %c32
// CHECK: %[[AHEAD:.*]] = arith.addi %[[FIRST]], %[[STRIP]]
// CHECK: arith.minsi %[[AHEAD]], %[[LAST]]
// CHECK-COUNT-3: kernel.prefetch {{.*}}, 64
// CHECK: %[[BEGIN:.*]] = arith.muli %[[STRIP]], %c16
// CHECK: %[[END:.*]] = arith.addi %[[BEGIN]], %c16
// CHECK: scf.for {{.*}} = %[[BEGIN]] to %[[END]]
// The rows left fetch nothing, nor do weights of which it keeps several kernels' (252 KiB).
// CHECK-NOT: kernel.prefetch
// CHECK-LABEL: @small(
// CHECK-NOT: kernel.prefetch
kernel.func @large(%x: tensor<133x512xf32>, %w: tensor<516096xf32>) -> tensor<133x1008xf32>
    attributes {strategy = "matrix-product", plan = {columns = 48, rows = 8, splits = 1}} {
  %p = graph.unpack_panels %w {panel = 48 : i64, tail = 0 : i64} : (tensor<516096xf32>) -> tensor<512x1008xf32>
  %y = graph.matmul %x, %p : (tensor<133x512xf32>, tensor<512x1008xf32>) -> tensor<133x1008xf32>
  kernel.return %y : tensor<133x1008xf32>
}
kernel.func @small(%x: tensor<133x64xf32>, %w: tensor<64512xf32>) -> tensor<133x1008xf32>
    attributes {strategy = "matrix-product", plan = {columns = 48, rows = 8, splits = 1}} {
  %p = graph.unpack_panels %w {panel = 48 : i64, tail = 0 : i64} : (tensor<64512xf32>) -> tensor<64x1008xf32>
  %y = graph.matmul %x, %p : (tensor<133x64xf32>, tensor<64x1008xf32>) -> tensor<133x1008xf32>
  kernel.return %y : tensor<133x1008xf32>
}
