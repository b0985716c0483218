// RUN: %ingot-opt %s -schedule-kernels=target=sm_80 | FileCheck %s
// REQUIRES: ingot-opt

// An elementwise operator has one thread for each element, in as many blocks as
// needed. Some threads of the last block do nothing.
// CHECK-LABEL: kernel.func @relu(
// CHECK-SAME: %[[X:.*]]: memref<1000xf32> {{.*}}, %[[Y:.*]]: memref<1000xf32>
// CHECK-SAME: extent = 8 : index
// CHECK-SAME: threads = 128 : i64
// CHECK-DAG: %[[BLOCK:.*]] = gpu.block_id  x
// CHECK-DAG: %[[IN_BLOCK:.*]] = gpu.thread_id  x
// CHECK-DAG: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c128
// CHECK: %[[THREAD:.*]] = arith.addi %[[FIRST]], %[[IN_BLOCK]]
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[THREAD]], %c1000
// CHECK: scf.if %[[INSIDE]] {
// CHECK: memref.load %[[X]][%[[THREAD]]]
// CHECK: memref.store %{{.*}}, %[[Y]][%[[THREAD]]]
kernel.func @relu(%x: tensor<1000xf32>) -> tensor<1000xf32> attributes {strategy = "elementwise"} {
  %y = graph.relu %x : (tensor<1000xf32>) -> tensor<1000xf32>
  kernel.return %y : tensor<1000xf32>
}

// A block is no larger than the work, in whole warps. If there are as many
// threads as elements, nothing is checked.
// CHECK-LABEL: kernel.func @few(
// CHECK-SAME: extent = 1 : index
// CHECK-SAME: threads = 32 : i64
// CHECK-NOT: scf.if
// CHECK: kernel.return
kernel.func @few(%x: tensor<32xf32>) -> tensor<32xf32> attributes {strategy = "elementwise"} {
  %y = graph.relu %x : (tensor<32xf32>) -> tensor<32xf32>
  kernel.return %y : tensor<32xf32>
}

// An operator that writes row by row has one thread for each row.
// CHECK-LABEL: kernel.func @rows(
// CHECK-SAME: extent = 2 : index
// CHECK-SAME: threads = 128 : i64
// CHECK: gpu.thread_id  x
// CHECK: scf.if
// CHECK: scf.for
kernel.func @rows(%x: tensor<200x10xf32>) -> tensor<200x10xf32> attributes {strategy = "body"} {
  %y = graph.softmax %x {axis = 1 : i64} : (tensor<200x10xf32>) -> tensor<200x10xf32>
  kernel.return %y : tensor<200x10xf32>
}

// A softmax with long rows has one warp for each row: a thread takes every 32nd
// group of 4 elements, and the threads exchange the maximum and the sum.
// CHECK-LABEL: kernel.func @long_rows(
// CHECK-SAME: extent = 50 : index
// CHECK-SAME: threads = 128 : i64
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %c4
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %c100{{.*}} step %c128
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %c100{{.*}} step %c128
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %c100{{.*}} step %c128
kernel.func @long_rows(%x: tensor<200x100xf32>) -> tensor<200x100xf32> attributes {strategy = "body"} {
  %y = graph.softmax %x {axis = 1 : i64} : (tensor<200x100xf32>) -> tensor<200x100xf32>
  kernel.return %y : tensor<200x100xf32>
}

// Softmax rows that fit into the registers of a warp's threads (16 elements per
// thread): each element is loaded once and stored once, and no intermediate
// value is stored.
// CHECK-LABEL: kernel.func @held_rows(
// CHECK-SAME: extent = 10000 : index
// CHECK-SAME: threads = 256 : i64
// CHECK-NOT: scf.for
// CHECK-COUNT-16: memref.load %arg0
// CHECK-NOT: memref.load %arg
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: gpu.barrier
// CHECK-NOT: memref.load %arg
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-COUNT-16: memref.store {{.*}}, %arg1
// CHECK-NOT: memref.store
// CHECK: kernel.return
kernel.func @held_rows(%x: tensor<10000x4096xbf16>) -> tensor<10000x4096xbf16> attributes {strategy = "body"} {
  %y = graph.softmax %x {axis = 1 : i64} : (tensor<10000x4096xbf16>) -> tensor<10000x4096xbf16>
  kernel.return %y : tensor<10000x4096xbf16>
}

// If a normalization has few rows, each row has more threads. The scale is
// loaded before the first exchange between threads.
// CHECK-LABEL: kernel.func @normalized(
// CHECK-SAME: extent = 128 : index
// CHECK-SAME: threads = 192 : i64
// CHECK-COUNT-8: memref.load %arg
// CHECK-NOT: memref.load %arg
// CHECK-COUNT-4: memref.store {{.*}}, %arg2
// CHECK-NOT: memref.store
// CHECK: kernel.return
kernel.func @normalized(%x: tensor<128x768xf32>, %scale: tensor<768xf32>) -> tensor<128x768xf32> attributes {strategy = "body"} {
  %y = graph.layer_norm %x, %scale {center = true, epsilon = 1.0e-05 : f32} : (tensor<128x768xf32>, tensor<768xf32>) -> tensor<128x768xf32>
  kernel.return %y : tensor<128x768xf32>
}

// An operator that cannot be divided runs on one device thread.
// CHECK-LABEL: kernel.func @whole(
// CHECK-SAME: extent = 1 : index
// CHECK-SAME: threads = 1 : i64
// CHECK-NOT: gpu.
// CHECK: kernel.return
kernel.func @whole(%x: tensor<0x4xf32>) -> tensor<0x4xf32> attributes {strategy = "elementwise"} {
  %y = graph.relu %x : (tensor<0x4xf32>) -> tensor<0x4xf32>
  kernel.return %y : tensor<0x4xf32>
}

// For a tensor with a dynamic size after axes of size 1, the number of launched
// threads follows from the actual size, not from the upper bound.
// CHECK-LABEL: kernel.func @open_row(
// CHECK-SAME: extent = #kernel.sizes<"n" in 0 to 100000 : (s0 + 127) floordiv 128>
// CHECK: arith.cmpi slt
// CHECK: scf.if
// CHECK-NOT: scf.if
// CHECK: kernel.return
kernel.func @open_row(%x: tensor<1x100000xf32, #kernel.sizes<"n" in 0 to 100000 : 1, s0>>) -> tensor<1x100000xf32, #kernel.sizes<"n" in 0 to 100000 : 1, s0>> attributes {strategy = "elementwise"} {
  %y = graph.relu %x : (tensor<1x100000xf32, #kernel.sizes<"n" in 0 to 100000 : 1, s0>>) -> tensor<1x100000xf32, #kernel.sizes<"n" in 0 to 100000 : 1, s0>>
  kernel.return %y : tensor<1x100000xf32, #kernel.sizes<"n" in 0 to 100000 : 1, s0>>
}

// With several dynamic sizes, only threads for the actual number of elements
// are launched, and an element's index is divided by the actual sizes.
// CHECK-LABEL: kernel.func @open_axes(
// CHECK-SAME: %[[M:[a-z0-9]+]]: index {kernel.name = "m"}, %[[N:[a-z0-9]+]]: index
// CHECK-SAME: extent = #kernel.sizes<"m" in 0 to 2000, "n" in 0 to 3000 : (s0 * s1 + 127) floordiv 128>
// CHECK: %[[COUNT:.*]] = arith.muli %[[M]], %[[N]]
// CHECK: arith.cmpi slt, %{{.*}}, %[[COUNT]]
// CHECK: scf.if
// CHECK-NEXT: arith.remsi {{.*}}, %[[N]]
// CHECK-NEXT: arith.divsi {{.*}}, %[[N]]
// CHECK-NEXT: memref.load
// CHECK: kernel.return
kernel.func @open_axes(%x: tensor<3000x2000xf32, #kernel.sizes<"m" in 0 to 2000, "n" in 0 to 3000 : s1, s0>>) -> tensor<2000x3000xf32, #kernel.sizes<"m" in 0 to 2000, "n" in 0 to 3000 : s0, s1>> attributes {strategy = "loop-nest"} {
  %y = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<3000x2000xf32, #kernel.sizes<"m" in 0 to 2000, "n" in 0 to 3000 : s1, s0>>) -> tensor<2000x3000xf32, #kernel.sizes<"m" in 0 to 2000, "n" in 0 to 3000 : s0, s1>>
  kernel.return %y : tensor<2000x3000xf32, #kernel.sizes<"m" in 0 to 2000, "n" in 0 to 3000 : s0, s1>>
}
