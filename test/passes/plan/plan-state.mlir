// RUN: split-file %s %t
// RUN: %ingot-opt %t/swap.mlir -plan-state | FileCheck %s --check-prefix=SWAP
// RUN: %ingot-opt %t/behind.mlir -plan-state | FileCheck %s --check-prefix=BEHIND
// RUN: %ingot-opt %t/behind.mlir -plan-state=one-place=false | FileCheck %s --check-prefix=APART
// RUN: %ingot-opt %t/refused.mlir -plan-state | FileCheck %s --check-prefix=REFUSED
// RUN: %ingot-opt %t/entries.mlir -plan-state=alignment=16 | FileCheck %s --check-prefix=ENTRIES
// REQUIRES: ingot-opt

// A state that is written while its old value is read has two slots of memory,
// and a byte (kernel.phase) says which slot holds the current value.
// SWAP: module attributes {kernel.state_bytes = 576 : i64}
// SWAP: %arg0: memref<64xf32> {kernel.phase = 0 : i64, kernel.slots = array<i64: 64, 320>, kernel.state = "h"}
// SWAP-SAME: %arg1: memref<64xf32> {kernel.output, kernel.phase = 0 : i64, kernel.slots = array<i64: 320, 64>, kernel.state = "h"}
//--- swap.mlir
kernel.func @step(%x: memref<64xf32> {kernel.read}, %y: memref<64xf32>) { kernel.return }
kernel.program @main(%h: memref<64xf32> {kernel.state = "h"}, %next: memref<64xf32> {kernel.state = "h", kernel.output}) {
  kernel.launch @step(%h, %next) : (memref<64xf32>, memref<64xf32>) -> ()
  kernel.return
}

// A state whose old value is read completely before the new one is written
// needs only one slot, unless the option one-place=false forbids it.
// BEHIND: module attributes {kernel.state_bytes = 256 : i64}
// BEHIND: %arg0: memref<64xf32> {kernel.slots = array<i64: 0, 0>, kernel.state = "h"}
// BEHIND-SAME: %arg1: memref<64xf32> {kernel.output, kernel.slots = array<i64: 0, 0>, kernel.state = "h"}
// APART: kernel.slots = array<i64: 64, 320>
//--- behind.mlir
kernel.func @step(%x: memref<64xf32> {kernel.read}, %y: memref<64xf32>) { kernel.return }
kernel.program @main(%h: memref<64xf32> {kernel.state = "h"}, %next: memref<64xf32> {kernel.state = "h", kernel.output})
    attributes {arena_bytes = 256 : i64, arena_align = 64 : i64} {
  %a = kernel.arena 0 : memref<64xf32>
  %v = kernel.view %h : memref<64xf32> to memref<64xf32>
  kernel.launch @step(%v, %a) : (memref<64xf32>, memref<64xf32>) -> ()
  kernel.launch @step(%a, %next) : (memref<64xf32>, memref<64xf32>) -> ()
  kernel.return
}

// A state has two slots if a run may be rejected after it has begun to write
// the new value: the old value must stay.
// REFUSED: kernel.slots = array<i64: 64, 320>
//--- refused.mlir
kernel.func @step(%x: memref<64xf32> {kernel.read}, %y: memref<64xf32>) { kernel.return }
kernel.program @main(%x: memref<64xf32>, %h: memref<64xf32> {kernel.state = "h"}, %next: memref<64xf32> {kernel.state = "h", kernel.output})
    attributes {arena_bytes = 256 : i64, arena_align = 64 : i64} {
  %a = kernel.arena 0 : memref<64xf32>
  kernel.launch @step(%h, %a) : (memref<64xf32>, memref<64xf32>) -> ()
  kernel.launch @step(%a, %next) : (memref<64xf32>, memref<64xf32>) -> ()
  kernel.require_equal %x, dense<1.0> : tensor<64xf32>, "x" : memref<64xf32>
  kernel.return
}

// Entry functions share the memory of a state, which is as large as the largest
// tensor that any of them has for the state. One entry function may only write
// a state, and another only read it.
// ENTRIES: module attributes {kernel.state_bytes = 64 : i64}
// ENTRIES: @encode(%arg0: memref<4xf32>, %arg1: memref<16xf32> {kernel.output, kernel.slots = array<i64: 0, 0>, kernel.state = "memory"})
// ENTRIES: @decode(%arg0: memref<8xf32> {kernel.slots = array<i64: 0, 0>, kernel.state = "memory"}, %arg1: memref<4xf32> {kernel.output})
//--- entries.mlir
kernel.func @widen(%x: memref<4xf32> {kernel.read}, %y: memref<16xf32>) { kernel.return }
kernel.func @narrow(%x: memref<8xf32> {kernel.read}, %y: memref<4xf32>) { kernel.return }
kernel.program @encode(%x: memref<4xf32>, %m: memref<16xf32> {kernel.state = "memory", kernel.output}) {
  kernel.launch @widen(%x, %m) : (memref<4xf32>, memref<16xf32>) -> ()
  kernel.return
}
kernel.program @decode(%m: memref<8xf32> {kernel.state = "memory"}, %y: memref<4xf32> {kernel.output}) {
  kernel.launch @narrow(%m, %y) : (memref<8xf32>, memref<4xf32>) -> ()
  kernel.return
}
