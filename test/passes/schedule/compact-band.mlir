// RUN: %ingot-opt %s -schedule-kernels=target=cortex-m4 | FileCheck %s
// REQUIRES: ingot-opt

// A convolution of few channels copies the input rows for a row of results to
// scratch memory. With a padding of -1, the copy leaves out the first column of
// the input: columns 1 to 5 become columns 0 to 4.
// CHECK-LABEL: @cropped(
// CHECK: scf.if
// CHECK-NEXT: scf.for %[[C:[a-z0-9]+]] = %c0 to %c3
// CHECK: scf.for %[[J:[a-z0-9]+]] = %c0 to %c5
// CHECK: %[[COLUMN:.*]] = arith.addi %[[J]], %c1
// CHECK: memref.load %{{.*}}[%{{.*}}, %{{.*}}, %[[COLUMN]], %[[C]]] : memref<1x6x6x3xf32>
// CHECK: %[[FIRST:.*]] = arith.addi %[[COLUMN]], %c-1
// CHECK: arith.muli %[[FIRST]], %c3
// CHECK: memref.store %{{.*}} : memref<3x15xf32>
kernel.func @cropped(%x: tensor<1x6x6x3xf32>, %p: tensor<216xf32>) -> tensor<1x4x3x8xf32> attributes {strategy = "compact-convolution", plan = {columns = 2, groups = 1, rows = 3, together = 1}, comment = ""} {
  %w = graph.unpack_panels %p {panel = 2 : i64, tail = 0 : i64} : (tensor<216xf32>) -> tensor<3x3x3x8xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, -1>, groups = 1 : i64} : (tensor<1x6x6x3xf32>, tensor<3x3x3x8xf32>) -> tensor<1x4x3x8xf32>
  kernel.return %y : tensor<1x4x3x8xf32>
}
