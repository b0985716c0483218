// A program that another program runs (a loop body, a branch) has a frame in
// the arena of its caller, which is live while the program runs. Loop-carried
// values have a second buffer. Constants of all programs are stored once.
//
// RUN: %ingot-opt %s -plan-memory | FileCheck %s
// REQUIRES: ingot-opt

kernel.func @twice(%x: memref<64xf32> {kernel.read}, %y: memref<64xf32>) { kernel.return }
kernel.func @add(%x: memref<64xf32> {kernel.read}, %b: memref<64xf32> {kernel.read}, %y: memref<64xf32>) { kernel.return }

// Equal constants of two programs become one global.
// CHECK: memref.global "private" constant @constant
// CHECK-NOT: memref.global

// CHECK: kernel.program @main
// CHECK-SAME: arena_bytes = 1024
// CHECK: %[[H:.*]] = kernel.arena [[AT:[0-9]+]] : memref<64xf32>
// CHECK: kernel.launch @twice(%arg2, %[[H]])
// CHECK: %[[LAST:.*]] = kernel.arena {{[0-9]+}} : memref<64xf32>
// CHECK: %[[OTHER:.*]] = kernel.arena {{[0-9]+}} : memref<64xf32>
// CHECK: %[[FRAME:.*]] = kernel.arena {{[0-9]+}} : memref<256xi8>
// CHECK: kernel.loop @step limit(%arg0) carried(%[[H]]) shared(%arg2) to(%[[LAST]], %[[OTHER]], %[[FRAME]])
// CHECK: kernel.if %arg1 then @first else @second(%[[LAST]]) to(%arg3)
kernel.program @main(%n: tensor<si64>, %c: tensor<i1>, %x: tensor<64xf32>) -> tensor<64xf32> {
  %h = kernel.launch @twice(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %y = kernel.loop @step limit(%n) carried(%h) shared(%x) : (tensor<si64>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %z = kernel.if %c then @first else @second (%y) : (tensor<i1>, tensor<64xf32>) -> tensor<64xf32>
  kernel.return %z : tensor<64xf32>
}

// CHECK: kernel.program private @step(%arg0: memref<64xf32>, %arg1: memref<64xf32>, %arg2: memref<64xf32> {kernel.output})
// CHECK-SAME: arena_bytes = 256
kernel.program private @step(%h: tensor<64xf32>, %x: tensor<64xf32>) -> tensor<64xf32> {
  %a = kernel.launch @add(%h, %x) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %b = kernel.launch @twice(%a) : (tensor<64xf32>) -> tensor<64xf32>
  kernel.return %b : tensor<64xf32>
}

// CHECK: kernel.program private @first
// CHECK-SAME: arena_bytes = 0
kernel.program private @first(%x: tensor<64xf32>) -> tensor<64xf32> {
  %w = graph.constant dense<2.0> : tensor<64xf32> : tensor<64xf32>
  %y = kernel.launch @add(%x, %w) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  kernel.return %y : tensor<64xf32>
}
kernel.program private @second(%x: tensor<64xf32>) -> tensor<64xf32> {
  %w = graph.constant dense<2.0> : tensor<64xf32> : tensor<64xf32>
  %y = kernel.launch @add(%w, %x) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  kernel.return %y : tensor<64xf32>
}
