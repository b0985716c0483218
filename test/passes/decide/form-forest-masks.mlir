// Decision trees are evaluated for vectors of rows: each node clears the bits
// of the leaves that it excludes.
//
// REQUIRES: ingot-opt
// RUN: %ingot-opt %s --decide-form-forest-masks=target=x86-64-v4 | FileCheck %s
// RUN: %ingot-opt %s --decide-form-forest-masks=target=generic | FileCheck %s --check-prefix=WALK

// x[0] <= 0.5 ? 1 : x[1] <= 1.5 ? 2 : 4: the first node removes leaf 0 (~1),
// the second one leaf 1 (~2).
// WALK-NOT: graph.forest_masks
// CHECK-LABEL: @rows_fill_a_vector
// CHECK: %[[T:.*]] = graph.transpose %{{.*}} -> tensor<2x16xf32>
// CHECK-DAG: %[[FEATURE:.*]] = graph.constant dense<[0, 1]> : tensor<2xsi32>
// CHECK-DAG: %[[KEPT:.*]] = graph.constant dense<[-2, -3]> : tensor<2xsi32>
// CHECK-DAG: %[[WEIGHTS:.*]] = graph.constant dense<[1.000000e+00, 2.000000e+00, 4.000000e+00]>
// CHECK: graph.forest_masks %[[T]], %[[FEATURE]], %{{.*}}, %{{.*}}, %[[KEPT]], %{{.*}}, %{{.*}}, %{{.*}}, %[[WEIGHTS]],
func.func @rows_fill_a_vector(%x: tensor<16x2xf32>) -> tensor<16x1xf32> {
  %feature = graph.constant dense<[0, 0, 1, 0, 0]> : tensor<5xsi32> : tensor<5xsi32>
  %threshold = graph.constant dense<[0.5, 0.0, 1.5, 0.0, 0.0]> : tensor<5xf32> : tensor<5xf32>
  %missing = graph.constant dense<0> : tensor<5xsi8> : tensor<5xsi8>
  %next = graph.constant dense<[[1, 2], [1, 1], [3, 4], [3, 3], [4, 4]]> : tensor<5x2xsi32> : tensor<5x2xsi32>
  %roots = graph.constant dense<0> : tensor<1xsi32> : tensor<1xsi32>
  %depths = graph.constant dense<2> : tensor<1xsi32> : tensor<1xsi32>
  %first = graph.constant dense<[0, 0, 1, 1, 2, 3]> : tensor<6xsi32> : tensor<6xsi32>
  %weights = graph.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32> : tensor<3xf32>
  %targets = graph.constant dense<0> : tensor<3xsi32> : tensor<3xsi32>
  %base = graph.constant dense<0.0> : tensor<1xf32> : tensor<1xf32>
  %y = graph.forest %x, %feature, %threshold, %missing, %next, %roots, %depths, %first, %weights, %targets, %base {aggregate = "SUM"}
      : (tensor<16x2xf32>, tensor<5xsi32>, tensor<5xf32>, tensor<5xsi8>, tensor<5x2xsi32>, tensor<1xsi32>, tensor<1xsi32>, tensor<6xsi32>, tensor<3xf32>, tensor<3xsi32>, tensor<1xf32>) -> tensor<16x1xf32>
  return %y : tensor<16x1xf32>
}

// With a single row, the trees are traversed node by node.
// CHECK-LABEL: @one_row
// CHECK-NOT: graph.forest_masks
func.func @one_row(%x: tensor<1x2xf32>) -> tensor<1x1xf32> {
  %feature = graph.constant dense<[0, 0, 0]> : tensor<3xsi32> : tensor<3xsi32>
  %threshold = graph.constant dense<[0.5, 0.0, 1.5]> : tensor<3xf32> : tensor<3xf32>
  %missing = graph.constant dense<0> : tensor<3xsi8> : tensor<3xsi8>
  %next = graph.constant dense<[[1, 2], [1, 1], [2, 2]]> : tensor<3x2xsi32> : tensor<3x2xsi32>
  %one = graph.constant dense<0> : tensor<1xsi32> : tensor<1xsi32>
  %depths = graph.constant dense<1> : tensor<1xsi32> : tensor<1xsi32>
  %first = graph.constant dense<[0, 0, 1, 2]> : tensor<4xsi32> : tensor<4xsi32>
  %weights = graph.constant dense<[1.0, 2.0]> : tensor<2xf32> : tensor<2xf32>
  %targets = graph.constant dense<0> : tensor<2xsi32> : tensor<2xsi32>
  %base = graph.constant dense<0.0> : tensor<1xf32> : tensor<1xf32>
  %y = graph.forest %x, %feature, %threshold, %missing, %next, %one, %depths, %first, %weights, %targets, %base {aggregate = "SUM"}
      : (tensor<1x2xf32>, tensor<3xsi32>, tensor<3xf32>, tensor<3xsi8>, tensor<3x2xsi32>, tensor<1xsi32>, tensor<1xsi32>, tensor<4xsi32>, tensor<2xf32>, tensor<2xsi32>, tensor<1xf32>) -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}
