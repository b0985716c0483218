// RUN: split-file %s %t
// RUN: %ingot-opt %t/shared.mlir -lower-outline-groups | FileCheck %s --check-prefix=SHARED
// RUN: %ingot-opt %t/places.mlir -lower-outline-groups | FileCheck %s --check-prefix=PLACES
// REQUIRES: ingot-opt

// Groups that compute the same become one kernel, whose comment has the names
// of the ONNX nodes of all groups. Groups with other shapes or strategies
// become other kernels, each with a name of its own. Kernels are ordered by
// their first launch.
// SHARED: kernel.func @neg_8(%arg0: tensor<8xf32>) -> tensor<8xf32>
// SHARED-SAME: comment = "/first, /second: exp + neg by elementwise, f32[8] -> f32[8]"
// SHARED-SAME: strategy = "elementwise"
// SHARED-NEXT: graph.exp
// SHARED-NEXT: graph.neg
// SHARED-NEXT: kernel.return
// SHARED: kernel.func @neg_4({{.*}}{comment = "/third: {{[^"]*}}", strategy = "elementwise"
// SHARED: kernel.func @neg_8_2({{.*}}{comment = "/fourth: {{[^"]*}}", strategy = "loop-nest"
// SHARED: kernel.program @main
// SHARED-NEXT: %[[A:.*]] = kernel.launch @neg_8(%arg0)
// SHARED-NEXT: %[[B:.*]] = kernel.launch @neg_8(%arg1)
// SHARED-NEXT: %[[C:.*]] = kernel.launch @neg_4(%arg2)
// SHARED-NEXT: %[[D:.*]] = kernel.launch @neg_8_2(%[[A]])
// SHARED-NEXT: kernel.return %[[A]], %[[B]], %[[C]], %[[D]]

// A result that is part of a larger tensor is written with the strides of that
// tensor, by a kernel other than the one for a separate tensor. The kernel is
// named after the matrix multiplication, not after its epilogue.
// PLACES: kernel.func @matmul_4x8({{.*}} output_strides = array<i64: 16, 1>
// PLACES: kernel.func @matmul_4x8_2(
// PLACES-NOT: output_strides
// PLACES: kernel.program @main
// PLACES-NEXT: kernel.launch @matmul_4x8(
// PLACES-NEXT: kernel.launch @matmul_4x8_2(
// PLACES-NEXT: graph.concat

//--- shared.mlir
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>, %z: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<8xf32>) {
  %0 = graph.group "elementwise"(%x) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %b = graph.exp %a : (tensor<8xf32>) -> tensor<8xf32>
    %c = graph.neg %b : (tensor<8xf32>) -> tensor<8xf32>
    graph.yield %c : tensor<8xf32>
  } loc("/first")
  %1 = graph.group "elementwise"(%y) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %b = graph.exp %a : (tensor<8xf32>) -> tensor<8xf32>
    %c = graph.neg %b : (tensor<8xf32>) -> tensor<8xf32>
    graph.yield %c : tensor<8xf32>
  } loc("/second")
  %2 = graph.group "elementwise"(%z) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %b = graph.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    %c = graph.neg %b : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %c : tensor<4xf32>
  } loc("/third")
  %3 = graph.group "loop-nest"(%0) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %b = graph.exp %a : (tensor<8xf32>) -> tensor<8xf32>
    %c = graph.neg %b : (tensor<8xf32>) -> tensor<8xf32>
    graph.yield %c : tensor<8xf32>
  } loc("/fourth")
  return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<8xf32>
}

//--- places.mlir
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x16xf32> {
  %0 = graph.group "matrix-product"(%x, %w) {output_strides = array<i64: 16, 1>} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>):
    %c = graph.matmul %a, %b : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %d = graph.relu %c : (tensor<4x8xf32>) -> tensor<4x8xf32>
    graph.yield %d : tensor<4x8xf32>
  }
  %1 = graph.group "matrix-product"(%0, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>):
    %c = graph.matmul %a, %b : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %d = graph.relu %c : (tensor<4x8xf32>) -> tensor<4x8xf32>
    graph.yield %d : tensor<4x8xf32>
  }
  %y = graph.concat %0, %1 {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}
