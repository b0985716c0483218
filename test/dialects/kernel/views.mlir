// A view of a view becomes one view of the outermost buffer, and a view that
// changes nothing is removed.
//
// REQUIRES: ingot-opt
// RUN: %ingot-opt %s -canonicalize | FileCheck %s

kernel.func @k(%x: memref<4xf32>, %y: memref<4xf32>, %begin: index, %end: index) attributes {extent = 4 : index}

// CHECK-LABEL: kernel.program @folds(
// CHECK-SAME: %[[X:.*]]: memref<64xf32>
// CHECK-NEXT: %[[V:.*]] = kernel.view %[[X]] at 48 : memref<64xf32> to memref<4xf32>
// CHECK-NEXT: %[[A:.*]] = kernel.arena 128 : memref<4xf32>
// CHECK-NEXT: kernel.launch @k(%[[V]], %[[A]])
kernel.program @folds(%x: memref<64xf32>) {
  %same = kernel.view %x : memref<64xf32> to memref<64xf32>
  %v = kernel.view %same at 32 : memref<64xf32> to memref<4x4xf32>
  %w = kernel.view %v at 16 : memref<4x4xf32> to memref<4xf32>
  %a = kernel.arena 128 : memref<4xf32>
  kernel.launch @k(%w, %a) : (memref<4xf32>, memref<4xf32>) -> ()
  kernel.return
}

// A launch on tensors only computes its results: if they are unused, the launch
// is removed.
kernel.func @t(%x: tensor<4xf32>) -> tensor<4xf32>
// CHECK-LABEL: kernel.program @unused(
// CHECK-NEXT: kernel.return
kernel.program @unused(%x: tensor<4xf32>) {
  %y = kernel.launch @t(%x) : (tensor<4xf32>) -> tensor<4xf32>
  kernel.return
}
