// RUN: %ingot-opt %s -split-input-file -plan-order-launches | FileCheck %s
// REQUIRES: ingot-opt

// Two branches, each of which has a wide tensor in the middle, are ordered so
// that one ends before the other begins. Views stay before the operations that
// read them.
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

// The order of launches stays if no other order needs less memory.
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

// -----

// Launches are not moved across an operation that reads a data-dependent size.
// CHECK-LABEL: @made
// CHECK: kernel.program
// CHECK-NOT: kernel.launch @narrow
// CHECK: kernel.launch @count
// CHECK-NEXT: kernel.read_sizes
// CHECK: kernel.launch @narrow
// CHECK: kernel.launch @narrow
module @made {
kernel.func @widen(%x: memref<16xf32>, %y: memref<256xf32>) { kernel.return }
kernel.func @count(%x: memref<16xf32>, %y: memref<1xi64>) { kernel.return }
kernel.func @narrow(%x: memref<2x128xf32>, %y: memref<16xf32>) { kernel.return }
kernel.func @add(%x: memref<16xf32>, %y: memref<16xf32>, %z: memref<16xf32>) { kernel.return }
kernel.program @main(%i: tensor<16xf32>) -> tensor<16xf32> {
  %x = kernel.launch @add(%i, %i) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %a = kernel.launch @widen(%x) : (tensor<16xf32>) -> tensor<256xf32>
  %b = kernel.launch @widen(%x) : (tensor<16xf32>) -> tensor<256xf32>
  %n = kernel.launch @count(%x) : (tensor<16xf32>) -> tensor<1xsi64>
  kernel.read_sizes %n : tensor<1xsi64> as #kernel.sizes<"n" in 0 to 8 : s0>
  %v = graph.reshape %a : (tensor<256xf32>) -> tensor<2x128xf32>
  %w = graph.reshape %b : (tensor<256xf32>) -> tensor<2x128xf32>
  %c = kernel.launch @narrow(%v) : (tensor<2x128xf32>) -> tensor<16xf32>
  %d = kernel.launch @narrow(%w) : (tensor<2x128xf32>) -> tensor<16xf32>
  %y = kernel.launch @add(%c, %d) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  kernel.return %y : tensor<16xf32>
}
}
