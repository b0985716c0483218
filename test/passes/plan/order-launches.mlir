// RUN: %ingot-opt %s -split-input-file -plan-order-launches | FileCheck %s
// REQUIRES: ingot-opt

// Two branches that widen and narrow: the one is done before the other begins. Views stay in
// front of who reads them.
// CHECK-LABEL: @branches
// CHECK: %[[A:.*]] = kernel.launch @widen(%[[X:.*]]) :
// CHECK-NEXT: %[[V:.*]] = graph.reshape %[[A]]
// CHECK-NEXT: %[[C:.*]] = kernel.launch @narrow(%[[V]])
// CHECK-NEXT: %[[B:.*]] = kernel.launch @widen(%[[X]])
// CHECK-NEXT: %[[W:.*]] = graph.reshape %[[B]]
// CHECK-NEXT: %[[D:.*]] = kernel.launch @narrow(%[[W]])
// CHECK-NEXT: kernel.launch @add(%[[C]], %[[D]])
module @branches {
kernel.func @widen(%x: memref<16xf32>, %y: memref<256xf32>) { kernel.return }
kernel.func @narrow(%x: memref<2x128xf32>, %y: memref<16xf32>) { kernel.return }
kernel.func @add(%x: memref<16xf32>, %y: memref<16xf32>, %z: memref<16xf32>) { kernel.return }
kernel.program @main(%i: tensor<16xf32>) -> tensor<16xf32> {
  %x = kernel.launch @add(%i, %i) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %a = kernel.launch @widen(%x) : (tensor<16xf32>) -> tensor<256xf32>
  %b = kernel.launch @widen(%x) : (tensor<16xf32>) -> tensor<256xf32>
  %v = graph.reshape %a : (tensor<256xf32>) -> tensor<2x128xf32>
  %w = graph.reshape %b : (tensor<256xf32>) -> tensor<2x128xf32>
  %c = kernel.launch @narrow(%v) : (tensor<2x128xf32>) -> tensor<16xf32>
  %d = kernel.launch @narrow(%w) : (tensor<2x128xf32>) -> tensor<16xf32>
  %y = kernel.launch @add(%c, %d) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  kernel.return %y : tensor<16xf32>
}
}

// -----

// An order that is good enough stays.
// CHECK-LABEL: @equal
// CHECK: kernel.launch @step
// CHECK-NEXT: kernel.launch @other
// CHECK-NEXT: kernel.launch @add
module @equal {
kernel.func @step(%x: memref<16xf32>, %y: memref<16xf32>) { kernel.return }
kernel.func @other(%x: memref<16xf32>, %y: memref<16xf32>) { kernel.return }
kernel.func @add(%x: memref<16xf32>, %y: memref<16xf32>, %z: memref<16xf32>) { kernel.return }
kernel.program @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %a = kernel.launch @step(%x) : (tensor<16xf32>) -> tensor<16xf32>
  %b = kernel.launch @other(%x) : (tensor<16xf32>) -> tensor<16xf32>
  %y = kernel.launch @add(%b, %a) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  kernel.return %y : tensor<16xf32>
}
}
