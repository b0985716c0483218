// RUN: %ingot-opt %s -split-input-file -plan-copy-to-host | FileCheck %s
// RUN: %ingot-opt %s -split-input-file -plan-copy-to-host -plan-memory | FileCheck %s --check-prefix=PLANNED
// REQUIRES: ingot-opt

// A tensor that the host kernel (the one without threads) reads is copied to
// the host once, as a whole, and views of the tensor become views of the copy.
// The result of the host kernel is copied back for the device. Operators that
// read sizes, and other host kernels, read the result in place.
// CHECK-LABEL: kernel.program @main(
// CHECK-SAME: %[[X:.*]]: tensor<8x8xf32>
// CHECK: %[[A:.*]] = kernel.launch @wide(%[[X]]) :
// CHECK: %[[H:.*]] = kernel.copy %[[A]] {second_memory} :
// CHECK: %[[V:.*]] = graph.reshape %[[H]]
// CHECK: %[[S:.*]]:2 = kernel.launch @serial(%[[V]]) {second_memory} :
// CHECK: %[[B:.*]] = kernel.copy %[[S]]#0 : (tensor<64xf32>) -> tensor<64xf32>
// CHECK: kernel.read_sizes %[[S]]#1
// CHECK: %[[T:.*]]:2 = kernel.launch @serial(%[[S]]#0) {second_memory} :
// CHECK: %[[C:.*]] = kernel.copy %[[T]]#0 : (tensor<64xf32>) -> tensor<64xf32>
// CHECK: kernel.launch @last(%[[B]], %[[C]], %[[A]]) :

// Host memory is planned separately from the arena.
// PLANNED-LABEL: kernel.program @main(
// PLANNED-SAME: second_bytes = 576 : i64
// PLANNED: %[[A:.*]] = kernel.arena 0 : memref<8x8xf32>
// PLANNED: kernel.launch @wide(%{{.*}}, %[[A]]) :
// PLANNED: %[[H:.*]] = kernel.arena {{[0-9]+}} second_memory : memref<8x8xf32>
// PLANNED: kernel.copy %[[A]] to %[[H]] {second_memory} : (memref<8x8xf32>, memref<8x8xf32>) -> ()
// PLANNED: %[[V:.*]] = kernel.arena {{[0-9]+}} second_memory : memref<64xf32>
// PLANNED: %[[S:.*]] = kernel.arena {{[0-9]+}} second_memory : memref<64xf32>
// PLANNED: %[[N:.*]] = kernel.arena {{[0-9]+}} second_memory : memref<1xi64>
// PLANNED: kernel.launch @serial(%[[V]], %[[S]], %[[N]]) {second_memory} :
// PLANNED: %[[B:.*]] = kernel.arena {{[0-9]+}} : memref<64xf32>
// PLANNED: kernel.copy %[[S]] to %[[B]] : (memref<64xf32>, memref<64xf32>) -> ()
// PLANNED: kernel.read_sizes %[[N]]
module attributes {kernel.target = "sm_80"} {
kernel.func @wide(%x: memref<8x8xf32> {kernel.read}, %y: memref<8x8xf32>) attributes {extent = 2 : index, threads = 32 : i64} { kernel.return }
kernel.func @serial(%x: memref<64xf32> {kernel.read}, %y: memref<64xf32>, %n: memref<1xi64>) { kernel.return }
kernel.func @last(%a: memref<64xf32> {kernel.read}, %b: memref<64xf32> {kernel.read}, %c: memref<8x8xf32> {kernel.read}, %y: memref<64xf32>) attributes {extent = 2 : index, threads = 32 : i64} { kernel.return }
kernel.program @main(%x: tensor<8x8xf32>) -> tensor<64xf32> {
  %a = kernel.launch @wide(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %v = graph.reshape %a : (tensor<8x8xf32>) -> tensor<64xf32>
  %s:2 = kernel.launch @serial(%v) : (tensor<64xf32>) -> (tensor<64xf32>, tensor<1xsi64>)
  kernel.read_sizes %s#1 : tensor<1xsi64> as #kernel.sizes<"n" in 0 to 64 : s0>
  %t:2 = kernel.launch @serial(%s#0) : (tensor<64xf32>) -> (tensor<64xf32>, tensor<1xsi64>)
  %y = kernel.launch @last(%s#0, %t#0, %a) : (tensor<64xf32>, tensor<64xf32>, tensor<8x8xf32>) -> tensor<64xf32>
  kernel.return %y : tensor<64xf32>
}
}

// -----

// For a tensor with a dynamic size, the actual number of elements is copied, or
// the maximum if the tensor has gaps in memory. The same holds in the body of a
// loop, which has its own host memory.
// CHECK-LABEL: kernel.program private @body(
// CHECK: kernel.copy %{{.*}} {second_memory} : (tensor<64x8xf32, #{{.*}}>) -> tensor<64x8xf32, #{{.*}}>
// PLANNED-LABEL: kernel.program private @body(
// PLANNED-SAME: second_bytes = 6144 : i64
// PLANNED: kernel.copy %{{.*}} to %{{.*}} {elements = #kernel.sizes<"n" in 1 to 64 : s0 * 8>, second_memory} :
// PLANNED: kernel.copy %{{.*}} to %{{.*}} {second_memory} : (memref<8x64xf32>, memref<8x64xf32>) -> ()
// PLANNED: kernel.launch @serial(%{{.*}}, %{{.*}}, %{{.*}}) {second_memory} :
// PLANNED: kernel.copy %{{.*}} to %{{.*}} {elements = #kernel.sizes<"n" in 1 to 64 : s0 * 8>} :
module attributes {kernel.target = "sm_80"} {
kernel.func @serial(%x: memref<64x8xf32> {kernel.read}, %t: memref<8x64xf32> {kernel.read}, %y: memref<64x8xf32>) { kernel.return }
kernel.program private @body(%x: tensor<64x8xf32, #kernel.sizes<"n" in 1 to 64 : s0, 8>>, %t: tensor<8x64xf32, #kernel.sizes<"n" in 1 to 64 : 8, s0>>) -> tensor<64x8xf32, #kernel.sizes<"n" in 1 to 64 : s0, 8>> {
  %y = kernel.launch @serial(%x, %t) : (tensor<64x8xf32, #kernel.sizes<"n" in 1 to 64 : s0, 8>>, tensor<8x64xf32, #kernel.sizes<"n" in 1 to 64 : 8, s0>>) -> tensor<64x8xf32, #kernel.sizes<"n" in 1 to 64 : s0, 8>>
  kernel.return %y : tensor<64x8xf32, #kernel.sizes<"n" in 1 to 64 : s0, 8>>
}
}
