// RUN: %ingot-opt %s -split-input-file -plan-fork-branches=target=sm_80 | FileCheck %s
// RUN: %ingot-opt %s -split-input-file -plan-fork-branches=target=sm_90a | FileCheck %s --check-prefix=HOPPER
// REQUIRES: ingot-opt

// On Hopper, a launch begins before the previous one ends, so no launch is put
// in a branch of a fork.
// HOPPER: module
// HOPPER-NOT: branch =

// Launches of four blocks leave most of 108 multiprocessors idle, so
// independent launches become branches of a fork. The launch that reads the
// results of both branches comes after the fork.
// CHECK-LABEL: @two_branches
// CHECK: %[[X:.*]] = kernel.launch @small(%{{.*}}) :
// CHECK: %[[A:.*]] = kernel.launch @small(%[[X]]) :
// CHECK: %[[B:.*]] = kernel.launch @small(%[[A]]) {branch = 0 : i64, fork = 0 : i64}
// CHECK: %[[C:.*]] = kernel.launch @small(%[[X]]) {branch = 1 : i64, fork = 0 : i64}
// CHECK: kernel.launch @add(%[[B]], %[[C]]) :
module @two_branches {
kernel.func @small(%x: memref<64x64xf32> {kernel.read}, %y: memref<64x64xf32>) attributes {extent = 4 : index, threads = 128 : i64, multiply_adds = 1000000 : i64} { kernel.return }
kernel.func @add(%x: memref<64x64xf32> {kernel.read}, %y: memref<64x64xf32> {kernel.read}, %z: memref<64x64xf32>) attributes {extent = 32 : index, threads = 128 : i64, multiply_adds = 0 : i64} { kernel.return }
kernel.program @main(%i: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %x = kernel.launch @small(%i) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = kernel.launch @small(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = kernel.launch @small(%a) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = kernel.launch @small(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = kernel.launch @add(%b, %c) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  kernel.return %y : tensor<64x64xf32>
}
}

// -----

// No fork is formed for launches that fill the device, or for launches that end
// before another branch has started.
// CHECK-LABEL: @no_gain
// CHECK-NOT: branch =
module @no_gain {
kernel.func @full(%x: memref<64x64xf32> {kernel.read}, %y: memref<64x64xf32>) attributes {extent = 1000 : index, threads = 512 : i64, multiply_adds = 100000000 : i64} { kernel.return }
kernel.func @tiny(%x: memref<64x64xf32> {kernel.read}, %y: memref<64x64xf32>) attributes {extent = 32 : index, threads = 128 : i64, multiply_adds = 0 : i64} { kernel.return }
kernel.func @add(%x: memref<64x64xf32> {kernel.read}, %y: memref<64x64xf32> {kernel.read}, %z: memref<64x64xf32>) attributes {extent = 32 : index, threads = 128 : i64, multiply_adds = 0 : i64} { kernel.return }
kernel.program @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a = kernel.launch @full(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = kernel.launch @full(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = kernel.launch @add(%a, %b) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = kernel.launch @tiny(%y) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = kernel.launch @tiny(%y) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = kernel.launch @add(%c, %d) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  kernel.return %z : tensor<64x64xf32>
}
}

// -----

// Six independent launches use at most four branches. Two consecutive forks
// have different numbers. A concatenation joins the branches that write its
// operands.
// CHECK-LABEL: @many
// CHECK-COUNT-6: kernel.launch @small({{.*}}) {branch = {{[0-3]}} : i64, fork = 0 : i64}
// CHECK: graph.concat
// CHECK: kernel.launch @part({{.*}}) :
// CHECK: kernel.launch @small({{.*}}) {branch = 0 : i64, fork = 1 : i64}
// CHECK: kernel.launch @small({{.*}}) {branch = 1 : i64, fork = 1 : i64}
module @many {
kernel.func @small(%x: memref<64x64xf32> {kernel.read}, %y: memref<64x64xf32>) attributes {extent = 4 : index, threads = 128 : i64, multiply_adds = 1000000 : i64} { kernel.return }
kernel.func @part(%x: memref<384x64xf32> {kernel.read}, %y: memref<64x64xf32>) attributes {extent = 4 : index, threads = 128 : i64, multiply_adds = 1000000 : i64} { kernel.return }
kernel.program @main(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %a = kernel.launch @small(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = kernel.launch @small(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = kernel.launch @small(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = kernel.launch @small(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %e = kernel.launch @small(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %f = kernel.launch @small(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %all = graph.concat %a, %b, %c, %d, %e, %f {axis = 0 : i64} : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<384x64xf32>
  %y = kernel.launch @part(%all) : (tensor<384x64xf32>) -> tensor<64x64xf32>
  %g = kernel.launch @small(%y) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %h = kernel.launch @small(%y) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  kernel.return %g, %h : tensor<64x64xf32>, tensor<64x64xf32>
}
}
