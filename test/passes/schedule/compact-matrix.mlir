// RUN: %ingot-opt %s -schedule-kernels=target=cortex-m4 | FileCheck %s
// REQUIRES: ingot-opt

// The rows of both batches are computed as one matrix. If the result is part of
// a larger tensor, so that they are not contiguous, results are stored at the
// indices of their batch and row, and operands of the epilogue are read there.
// CHECK-LABEL: @part_of_larger(
// CHECK-SAME: %[[Y:[^:]*]]: memref<2x4x8xf32, strided<[80, 8, 1]>> {kernel.name = "y"
// CHECK: %[[X:.*]] = kernel.view %{{.*}} : memref<2x4x6xf32> to memref<8x6xf32>
// CHECK: kernel.cursor %[[X]]
// CHECK: %[[ROW:.*]] = arith.remsi %{{.*}}, %c4
// CHECK: %[[BATCH:.*]] = arith.divsi %{{.*}}, %c4
// CHECK: memref.load %{{.*}}[%[[BATCH]], %[[ROW]], %{{.*}}] : memref<2x4x8xf32>
// CHECK: memref.store %{{.*}}, %[[Y]][%[[BATCH]], %[[ROW]], %{{.*}}]
kernel.func @part_of_larger(%x: tensor<2x4x6xf32>, %p: tensor<48xf32>, %z: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> attributes {output_strides = array<i64: 80, 8, 1>, strategy = "compact-product", plan = {columns = 4, groups = 1, rows = 2, together = 1}, comment = ""} {
  %w = graph.unpack_panels %p {panel = 4 : i64, tail = 0 : i64} : (tensor<48xf32>) -> tensor<6x8xf32>
  %m = graph.matmul %x, %w : (tensor<2x4x6xf32>, tensor<6x8xf32>) -> tensor<2x4x8xf32>
  %y = graph.add %m, %z : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  kernel.return %y : tensor<2x4x8xf32>
}

// The same for an operand that is part of a larger tensor, in a convolution.
// CHECK-LABEL: @reads_part(
// CHECK: kernel.cursor %{{.*}} : memref<2x2x2x6xf32, strided<[48, 12, 6, 1]>>
kernel.func @reads_part(%x: tensor<2x2x2x6xf32>, %p: tensor<48xf32>) -> tensor<2x2x2x8xf32> attributes {input_strides = [array<i64: 48, 12, 6, 1>, array<i64>], strategy = "compact-convolution", plan = {columns = 4, groups = 1, rows = 2, together = 1}, comment = ""} {
  %w = graph.unpack_panels %p {panel = 4 : i64, tail = 0 : i64} : (tensor<48xf32>) -> tensor<1x1x6x8xf32>
  %y = graph.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<2x2x2x6xf32>, tensor<1x1x6x8xf32>) -> tensor<2x2x2x8xf32>
  kernel.return %y : tensor<2x2x2x8xf32>
}
