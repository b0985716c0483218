// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v4 | FileCheck %s --check-prefix=PLAN
// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v4 -decide-pack-weights=target=x86-64-v4 -lower-outline-groups -schedule-kernels=target=x86-64-v4 | FileCheck %s
// REQUIRES: ingot-opt

// A weight panel has the 24 output channels of one group of a grouped
// convolution, in a vector of 16 and one of 8. The panel's tiles read the 8
// input channels of the group, which begin at panel * 24 / 24 * 8.
// PLAN-LABEL: @of_one_group(
// PLAN: graph.group "grouped-convolution"
// PLAN-SAME: columns = 24
// CHECK-LABEL: kernel.func @conv_1x6x6x96(
// CHECK: scf.for %[[PANEL:.*]] = %c0{{.*}} to %c4
// CHECK: %[[COLUMN:.*]] = arith.muli %[[PANEL]], %c24
// CHECK: scf.for %[[CHANNEL:.*]] = %c0{{.*}} to %c8
// CHECK: vector.load {{.*}} vector<16xf32>
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK: %[[GROUP:.*]] = arith.divsi %[[COLUMN]], %c24
// CHECK: %[[FIRST:.*]] = arith.muli %[[GROUP]], %c8
// CHECK: %[[AT:.*]] = arith.addi %[[FIRST]], %[[CHANNEL]]
// CHECK: memref.load %arg1[{{.*}}, %[[AT]]]
func.func @of_one_group(%x: tensor<1x6x6x32xf32>) -> tensor<1x6x6x96xf32> {
  %w = graph.constant dense<1.0> : tensor<3x3x8x96xf32> : tensor<3x3x8x96xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 4 : i64} : (tensor<1x6x6x32xf32>, tensor<3x3x8x96xf32>) -> tensor<1x6x6x96xf32>
  return %y : tensor<1x6x6x96xf32>
}

// If the output channels of a group do not fill whole vectors, the convolution
// becomes a loop nest.
// PLAN-LABEL: @not_whole(
// PLAN: graph.group "loop-nest"
func.func @not_whole(%x: tensor<1x6x6x20xf32>) -> tensor<1x6x6x20xf32> {
  %w = graph.constant dense<1.0> : tensor<3x3x5x20xf32> : tensor<3x3x5x20xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 4 : i64} : (tensor<1x6x6x20xf32>, tensor<3x3x5x20xf32>) -> tensor<1x6x6x20xf32>
  return %y : tensor<1x6x6x20xf32>
}
