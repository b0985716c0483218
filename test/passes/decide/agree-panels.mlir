// RUN: %ingot-opt %s -decide-form-groups=target=generic | FileCheck %s --check-prefix=ALONE
// RUN: %ingot-opt %s -decide-form-groups=target=generic -decide-agree-panels=target=generic | FileCheck %s
// RUN: %ingot-opt %s -decide-form-groups=target=generic -decide-agree-panels=target=generic -decide-pack-weights=target=generic | FileCheck %s --check-prefix=PACKED
// REQUIRES: ingot-opt

// Alone, matrix multiplications with one row and with many rows are fastest
// with different panel widths. If both functions multiply by equal weights, the
// weights are packed once, in panels of one width.
// ALONE: func.func @prompt
// ALONE: columns = [[WIDE:[0-9]+]] : i64
// ALONE: func.func @token
// ALONE-NOT: columns = [[WIDE]] : i64
// CHECK: func.func @prompt
// CHECK: columns = [[COLUMNS:[0-9]+]] : i64
// CHECK: func.func @token
// CHECK: columns = [[COLUMNS]] : i64
// PACKED: func.func @prompt
// PACKED: graph.pack_panels %{{.*}} {[[PANELS:panel = [0-9]+ : i64, tail = [0-9]+]] : i64}
// PACKED: func.func @token
// PACKED: graph.pack_panels %{{.*}} {[[PANELS]] : i64}
func.func @prompt(%x: tensor<16x8xf32>) -> tensor<16x16xf32> {
  %w = graph.constant dense<0.5> : tensor<8x16xf32> : tensor<8x16xf32>
  %y = graph.matmul %x, %w : (tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}
func.func @token(%x: tensor<1x8xf32>) -> tensor<1x16xf32> {
  %w = graph.constant dense<0.5> : tensor<8x16xf32> : tensor<8x16xf32>
  %y = graph.matmul %x, %w : (tensor<1x8xf32>, tensor<8x16xf32>) -> tensor<1x16xf32>
  return %y : tensor<1x16xf32>
}
