// RUN: %ingot-opt %s -schedule-kernels=target=sm_80 | FileCheck %s
// REQUIRES: ingot-opt

// A thread computes several neighbouring elements, as many as the plan says: it
// loads the operands of all, then computes all, then stores all.
// CHECK-LABEL: kernel.func @sum(
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<64x1024xbf16> {{.*}}, %[[B:[a-z0-9]+]]: memref<64x1024xbf16> {{.*}}, %[[Y:[a-z0-9]+]]: memref<64x1024xbf16>
// CHECK-SAME: extent = 64 : index
// CHECK-SAME: threads = 128 : i64
// CHECK-NOT: vector<
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %c8
// CHECK: memref.load %{{.*}}[%[[FIRST]]]
// CHECK: %[[SECOND:.*]] = arith.addi %[[FIRST]], %c1
// CHECK: memref.load %{{.*}}[%[[SECOND]]]
// CHECK-COUNT-14: memref.load
// CHECK-COUNT-8: memref.store
// CHECK-NOT: memref.load
// CHECK: kernel.return
kernel.func @sum(%a: tensor<64x1024xbf16>, %b: tensor<64x1024xbf16>) -> tensor<64x1024xbf16> attributes {strategy = "elementwise", plan = {elements = 8}} {
  %s = graph.add %a, %b : (tensor<64x1024xbf16>, tensor<64x1024xbf16>) -> tensor<64x1024xbf16>
  %y = graph.relu %s : (tensor<64x1024xbf16>) -> tensor<64x1024xbf16>
  kernel.return %y : tensor<64x1024xbf16>
}

// An operand that is repeated along the last axis is loaded once.
// CHECK-LABEL: kernel.func @scaled(
// CHECK-COUNT-5: memref.load
// CHECK-NOT: memref.load
// CHECK-COUNT-4: memref.store
// CHECK: kernel.return
kernel.func @scaled(%x: tensor<64x256xf32>, %by: tensor<64x1xf32>) -> tensor<64x256xf32> attributes {strategy = "elementwise", plan = {elements = 4}} {
  %y = graph.mul %x, %by : (tensor<64x256xf32>, tensor<64x1xf32>) -> tensor<64x256xf32>
  kernel.return %y : tensor<64x256xf32>
}

// Neighbouring channels share the loops over a window.
// CHECK-LABEL: kernel.func @pool(
// CHECK-SAME: extent = 1 : index
// CHECK-SAME: threads = 64 : i64
// CHECK: %[[ROWS:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (f32, f32)
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-2: memref.load
// CHECK-NOT: memref.load
// CHECK-COUNT-2: memref.store
// CHECK: kernel.return
kernel.func @pool(%x: tensor<1x8x8x8xf32>) -> tensor<1x4x4x8xf32> attributes {strategy = "loop-nest", plan = {elements = 2}} {
  %y = graph.max_pool %x {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, kernel = array<i64: 2, 2>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x8x8x8xf32>) -> tensor<1x4x4x8xf32>
  kernel.return %y : tensor<1x4x4x8xf32>
}

// A thread computes whole rows of a short last axis (3 channels), so that it
// loads adjacent elements of the operand together.
// CHECK-LABEL: kernel.func @channels_last(
// CHECK-SAME: extent = 98 : index
// CHECK-COUNT-12: memref.load
// CHECK-NOT: memref.load
// CHECK-COUNT-12: memref.store
// CHECK: kernel.return
kernel.func @channels_last(%x: tensor<1x3x224x224xf32>) -> tensor<1x224x224x3xf32> attributes {strategy = "loop-nest", plan = {elements = 12}} {
  %y = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x224x224xf32>) -> tensor<1x224x224x3xf32>
  kernel.return %y : tensor<1x224x224x3xf32>
}

// The neighbouring elements of a thread belong to one operand of the
// concatenation.
// CHECK-LABEL: kernel.func @joined(
// CHECK: scf.if
// CHECK-COUNT-4: memref.load
// CHECK: } else {
// CHECK-COUNT-4: memref.load
// CHECK: }
// CHECK-COUNT-4: memref.store
// CHECK: kernel.return
kernel.func @joined(%a: tensor<64x12xf32>, %b: tensor<64x20xf32>) -> tensor<64x32xf32> attributes {strategy = "loop-nest", plan = {elements = 8}} {
  %y = graph.concat %a, %b {axis = 1 : i64} : (tensor<64x12xf32>, tensor<64x20xf32>) -> tensor<64x32xf32>
  kernel.return %y : tensor<64x32xf32>
}
