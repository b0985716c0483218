// RUN: split-file %s %t
// RUN: %ingot-opt %t/chain.mlir -plan-memory | FileCheck %s --check-prefix=CHAIN
// RUN: %ingot-opt %t/inplace.mlir -plan-memory | FileCheck %s --check-prefix=INPLACE
// RUN: %ingot-opt %t/views.mlir -plan-memory | FileCheck %s --check-prefix=VIEWS
// RUN: %ingot-opt %t/concat.mlir -plan-memory | FileCheck %s --check-prefix=CONCAT
// RUN: %ingot-opt %t/joined-views.mlir -plan-memory | FileCheck %s --check-prefix=JOINED
// RUN: %ingot-opt %t/bound.mlir -plan-memory | FileCheck %s --check-prefix=BOUND
// RUN: %ingot-opt %t/slices.mlir -plan-memory | FileCheck %s --check-prefix=SLICES
// RUN: %ingot-opt %t/creep.mlir -plan-memory=alignment=16 | FileCheck %s --check-prefix=CREEP
// RUN: %ingot-opt %t/second.mlir -plan-memory | FileCheck %s --check-prefix=SECOND
// RUN: %ingot-opt %t/fork.mlir -plan-memory | FileCheck %s --check-prefix=FORK
// REQUIRES: ingot-opt

// Buffers with disjoint live ranges share memory: three buffers take the space
// of two, since at most two are live at the same time. Arguments and results
// are the caller's memory, and results become arguments after the inputs.
// CHAIN: @main(%[[X:.*]]: memref<64xf32> {kernel.onnx_name = "X"}, %[[Y:.*]]: memref<64xf32> {kernel.onnx_name = "Y", kernel.output})
// CHAIN-SAME: arena_align = 64 : i64, arena_bytes = 512 : i64, arena_lower_bound = 512 : i64, arena_use = array<i64: 256, 512, 512, 256>
// CHAIN-NEXT: %[[A:.*]] = kernel.arena 0
// CHAIN-NEXT: kernel.launch @step(%[[X]], %[[A]])
// CHAIN-NEXT: %[[B:.*]] = kernel.arena 256
// CHAIN-NEXT: kernel.launch @step(%[[A]], %[[B]])
// CHAIN-NEXT: %[[C:.*]] = kernel.arena 0
// CHAIN-NEXT: kernel.launch @step(%[[B]], %[[C]])
// CHAIN-NEXT: kernel.launch @add(%[[C]], %[[X]], %[[Y]])
//--- chain.mlir
kernel.func @step(%x: memref<64xf32> {kernel.read}, %y: memref<64xf32>) { kernel.return }
kernel.func @add(%x: memref<64xf32> {kernel.read}, %b: memref<64xf32> {kernel.read}, %y: memref<64xf32>) { kernel.return }
kernel.program @main(%x: tensor<64xf32> {kernel.onnx_name = "X"}) -> (tensor<64xf32> {kernel.onnx_name = "Y"}) {
  %a = kernel.launch @step(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %b = kernel.launch @step(%a) : (tensor<64xf32>) -> tensor<64xf32>
  %c = kernel.launch @step(%b) : (tensor<64xf32>) -> tensor<64xf32>
  %d = kernel.launch @add(%c, %x) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  kernel.return %d : tensor<64xf32>
}

// A result reuses the memory of an operand that is read for the last time, but
// not that of an operand that is read again later, nor if both operands are one
// buffer.
// INPLACE: arena_bytes = 512
// INPLACE: kernel.launch @step(%arg0, %[[A:.*]]) :
// INPLACE-NEXT: kernel.launch @step(%[[A]], %[[A]])
// INPLACE-NEXT: %[[C:.*]] = kernel.arena 256
// INPLACE-NEXT: kernel.launch @step(%[[A]], %[[C]])
// INPLACE-NEXT: kernel.launch @add(%[[A]], %[[C]], %[[C]])
// INPLACE-NEXT: %[[E:.*]] = kernel.arena 0
// INPLACE-NEXT: kernel.launch @add(%[[C]], %[[C]], %[[E]])
// INPLACE-NEXT: kernel.launch @step(%[[E]], %arg1)
//--- inplace.mlir
kernel.func @step(%x: memref<64xf32> {kernel.read}, %y: memref<64xf32>) { kernel.return }
kernel.func @add(%x: memref<64xf32> {kernel.read}, %b: memref<64xf32> {kernel.read}, %y: memref<64xf32>) { kernel.return }
kernel.program @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %a = kernel.launch @step(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %b = kernel.launch @step(%a) {inplace = array<i64: 0, 0>} : (tensor<64xf32>) -> tensor<64xf32>
  %c = kernel.launch @step(%b) {inplace = array<i64: 0, 0>} : (tensor<64xf32>) -> tensor<64xf32>
  %d = kernel.launch @add(%b, %c) {inplace = array<i64: 0, 1>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e = kernel.launch @add(%d, %d) {inplace = array<i64: 0, 0>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %f = kernel.launch @step(%e) : (tensor<64xf32>) -> tensor<64xf32>
  kernel.return %f : tensor<64xf32>
}

// A reshape of a buffer, a constant or a result is a view of the same memory
// with another type. A constant is one global, however often it is read.
// VIEWS: memref.global "private" constant @constant : memref<64xf32> {{.*}}alignment = 64
// VIEWS-NOT: memref.global
// VIEWS: %[[W:.*]] = memref.get_global @constant
// VIEWS-NEXT: %[[M:.*]] = kernel.view %[[W]] : memref<64xf32> to memref<8x8xf32>
// VIEWS-NEXT: %[[R:.*]] = kernel.arena [[AT:.*]] : memref<8x8xf32>
// VIEWS-NEXT: kernel.launch @rows(%arg0, %[[M]], %[[R]])
// VIEWS-NEXT: %[[V:.*]] = kernel.arena [[AT]] : memref<64xf32>
// VIEWS-NEXT: %[[S:.*]] = kernel.arena
// VIEWS-NEXT: kernel.launch @step(%[[V]], %[[S]])
// VIEWS: %[[Z:.*]] = kernel.view %arg1 : memref<64xf32> to memref<8x8xf32>
// VIEWS-NEXT: kernel.launch @rows(%{{.*}}, %[[M]], %[[Z]])
//--- views.mlir
kernel.func @step(%x: memref<64xf32> {kernel.read}, %y: memref<64xf32>) { kernel.return }
kernel.func @rows(%x: memref<8x8xf32> {kernel.read}, %w: memref<8x8xf32> {kernel.read}, %y: memref<8x8xf32>) { kernel.return }
kernel.program @main(%x: tensor<8x8xf32>) -> tensor<64xf32> {
  %w = graph.constant dense<1.0> : tensor<64xf32> : tensor<64xf32>
  %m = graph.reshape %w : (tensor<64xf32>) -> tensor<8x8xf32>
  %r = kernel.launch @rows(%x, %m) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %v = graph.reshape %r : (tensor<8x8xf32>) -> tensor<64xf32>
  %s = kernel.launch @step(%v) : (tensor<64xf32>) -> tensor<64xf32>
  %u = graph.reshape %s : (tensor<64xf32>) -> tensor<8x8xf32>
  %y = kernel.launch @rows(%u, %m) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %z = graph.reshape %y : (tensor<8x8xf32>) -> tensor<64xf32>
  kernel.return %z : tensor<64xf32>
}

// The operands of a concatenation are stored directly in it, in the arena or in
// a result. Nothing is copied, and an operand of a concatenation does not
// overlap its own inputs.
// CONCAT: arena_bytes = 384
// CONCAT: %[[A:.*]] = kernel.arena 0 : memref<4x8xf32, strided<[16, 1]>>
// CONCAT-NEXT: kernel.launch @part(%arg0, %[[A]])
// CONCAT-NEXT: %[[T:.*]] = kernel.arena 256
// CONCAT-NEXT: kernel.launch @step(%arg0, %[[T]])
// CONCAT-NEXT: %[[B:.*]] = kernel.arena 32 : memref<4x8xf32, strided<[16, 1]>>
// CONCAT-NEXT: kernel.launch @part(%[[T]], %[[B]])
// CONCAT-NEXT: %[[C:.*]] = kernel.arena 0 : memref<4x16xf32>
// CONCAT-NEXT: kernel.launch @whole(%[[C]], %arg1)
// CONCAT-NEXT: %[[D:.*]] = kernel.view %arg2 : memref<4x16xf32> to memref<4x8xf32, strided<[16, 1]>>
// CONCAT-NEXT: kernel.launch @part(%arg0, %[[D]])
// CONCAT-NEXT: %[[E:.*]] = kernel.view %arg2 at 32 : memref<4x16xf32> to memref<4x8xf32, strided<[16, 1]>>
// CONCAT-NEXT: kernel.launch @part(%arg0, %[[E]])
//--- concat.mlir
kernel.func @part(%x: memref<4x8xf32> {kernel.read}, %y: memref<4x8xf32, strided<[16, 1]>>) { kernel.return }
kernel.func @whole(%x: memref<4x16xf32> {kernel.read}, %y: memref<4x16xf32>) { kernel.return }
kernel.func @step(%x: memref<4x8xf32> {kernel.read}, %y: memref<4x8xf32>) { kernel.return }
kernel.program @main(%x: tensor<4x8xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %a = kernel.launch @part(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %t = kernel.launch @step(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = kernel.launch @part(%t) {inplace = array<i64: 0, 0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = graph.concat %a, %b {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  %y = kernel.launch @whole(%c) : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %d = kernel.launch @part(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = kernel.launch @part(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %z = graph.concat %d, %e {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  kernel.return %y, %z : tensor<4x16xf32>, tensor<4x16xf32>
}

// If the operand of a concatenation is a view of a kernel's result, the result
// is stored directly in the concatenation.
// JOINED: arena_bytes = 384
// JOINED: %[[A:.*]] = kernel.arena 0 : memref<4x8xf32>
// JOINED-NEXT: kernel.launch @image(%arg0, %[[A]])
// JOINED-NEXT: %[[B:.*]] = kernel.arena 128 : memref<64xf32>
// JOINED-NEXT: kernel.launch @row(%arg1, %[[B]])
// JOINED-NEXT: %[[C:.*]] = kernel.arena 0 : memref<96xf32>
// JOINED-NEXT: kernel.launch @whole(%[[C]], %arg2)
//--- joined-views.mlir
kernel.func @image(%x: memref<4x8xf32> {kernel.read}, %y: memref<4x8xf32>) { kernel.return }
kernel.func @row(%x: memref<64xf32> {kernel.read}, %y: memref<64xf32>) { kernel.return }
kernel.func @whole(%x: memref<96xf32> {kernel.read}, %y: memref<96xf32>) { kernel.return }
kernel.program @main(%x: tensor<4x8xf32>, %y: tensor<64xf32>) -> tensor<96xf32> {
  %a = kernel.launch @image(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = graph.reshape %a : (tensor<4x8xf32>) -> tensor<32xf32>
  %b = kernel.launch @row(%y) : (tensor<64xf32>) -> tensor<64xf32>
  %c = graph.concat %v, %b {axis = 0 : i64} : (tensor<32xf32>, tensor<64xf32>) -> tensor<96xf32>
  %z = kernel.launch @whole(%c) : (tensor<96xf32>) -> tensor<96xf32>
  kernel.return %z : tensor<96xf32>
}

// A specialized input, whose value was fixed by the compiler, is checked before
// the first launch.
// BOUND: @main
// BOUND-NEXT: kernel.require_equal %arg1, dense<8> : tensor<2xi64>, "shape"
// BOUND-NEXT: kernel.launch
//--- bound.mlir
kernel.func @step(%x: memref<64xf32> {kernel.read}, %y: memref<64xf32>) { kernel.return }
kernel.program @main(%x: tensor<64xf32>, %n: tensor<2xsi64> {kernel.onnx_name = "shape", kernel.bound = dense<[8, 8]> : tensor<2xsi64>}) -> tensor<64xf32> {
  %y = kernel.launch @step(%x) : (tensor<64xf32>) -> tensor<64xf32>
  kernel.return %y : tensor<64xf32>
}

// A slice is a view of an argument or of a buffer; if it is not contiguous, the
// view has the strides of the sliced tensor.
// SLICES: kernel.view %arg0 at 32 : memref<4x8xf32> to memref<2x8xf32>
// SLICES: kernel.launch @rows
// SLICES: %[[A:.*]] = kernel.arena [[AT:[0-9]+]] : memref<4x8xf32>
// SLICES-NEXT: kernel.launch @step(%arg0, %[[A]])
// SLICES: kernel.arena {{[0-9]+}} : memref<2x8xf32>
// SLICES: kernel.launch @rows
// SLICES: kernel.view %arg0 at 16 : memref<4x8xf32> to memref<4x2xf32, strided<[8, 1]>>
// SLICES: kernel.launch @columns
//--- slices.mlir
kernel.func @rows(%x: memref<2x8xf32> {kernel.read}, %y: memref<2x8xf32>) { kernel.return }
kernel.func @step(%x: memref<4x8xf32> {kernel.read}, %y: memref<4x8xf32>) { kernel.return }
kernel.func @columns(%x: memref<4x2xf32, strided<[8, 1]>> {kernel.read}, %y: memref<4x2xf32>) { kernel.return }
kernel.program @main(%x: tensor<4x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>, tensor<4x2xf32>) {
  %a = graph.slice %x {starts = array<i64: 1, 0>, steps = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<2x8xf32>
  %y = kernel.launch @rows(%a) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %b = kernel.launch @step(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = graph.slice %b {starts = array<i64: 2, 0>, steps = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<2x8xf32>
  %z = kernel.launch @rows(%c) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %d = graph.slice %x {starts = array<i64: 0, 4>, steps = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4x2xf32>
  %v = kernel.launch @columns(%d) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  kernel.return %y, %z, %v : tensor<2x8xf32>, tensor<2x8xf32>, tensor<4x2xf32>
}

// A result that is written slice by slice may overlap an operand that is read
// slice by slice: four rows of 32 bytes and one more, instead of eight. The
// first row of the result is before all rows of the operand.
// CREEP: arena_bytes = 160 : i64
// CREEP: arena_lower_bound = 160 : i64
// CREEP: kernel.arena 32 : memref<4x8xf32>
// CREEP: kernel.arena 0 : memref<1x8xf32>
// CREEP: kernel.arena 96 : memref<1x8xf32>
//--- creep.mlir
kernel.func @step(%x: memref<4x8xf32> {kernel.read}, %y: memref<4x8xf32>) { kernel.return }
kernel.func @row(%x: memref<1x8xf32> {kernel.read}, %y: memref<1x8xf32>) { kernel.return }
kernel.program @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %a = kernel.launch @step(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = graph.slice %a {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %p = kernel.launch @row(%0) : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %1 = graph.slice %a {starts = array<i64: 1, 0>, steps = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %q = kernel.launch @row(%1) : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %2 = graph.slice %a {starts = array<i64: 2, 0>, steps = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %r = kernel.launch @row(%2) : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %3 = graph.slice %a {starts = array<i64: 3, 0>, steps = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %s = kernel.launch @row(%3) : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %b = graph.concat %p, %q, %r, %s {axis = 0 : i64} : (tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %y = kernel.launch @step(%b) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  kernel.return %y : tensor<4x8xf32>
}

// Tensors in VTCM (second_memory) have offsets of their own. A result in the arena does
// not reuse the memory of an operand in VTCM, nor the other way round.
// SECOND: @main
// SECOND-SAME: arena_bytes = 256 : i64
// SECOND-SAME: second_bytes = 512 : i64
// SECOND: %[[A:.*]] = kernel.arena 0 second_memory : memref<64xf32>
// SECOND-NEXT: kernel.launch @step(%arg0, %[[A]])
// SECOND: %[[B:.*]] = kernel.arena 256 second_memory : memref<64xf32>
// SECOND-NEXT: kernel.launch @step(%arg0, %[[B]])
// SECOND: %[[C:.*]] = kernel.arena 0 : memref<64xf32>
// SECOND-NEXT: kernel.launch @add(%[[A]], %[[B]], %[[C]])
//--- second.mlir
kernel.func @step(%x: memref<64xf32> {kernel.read}, %y: memref<64xf32>) { kernel.return }
kernel.func @add(%x: memref<64xf32> {kernel.read}, %b: memref<64xf32> {kernel.read}, %y: memref<64xf32>) { kernel.return }
kernel.program @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %a = kernel.launch @step(%x) {second_memory} : (tensor<64xf32>) -> tensor<64xf32>
  %b = kernel.launch @step(%x) {second_memory} : (tensor<64xf32>) -> tensor<64xf32>
  %c = kernel.launch @add(%a, %b) {inplace = array<i64: 0, 0>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %d = kernel.launch @step(%c) : (tensor<64xf32>) -> tensor<64xf32>
  kernel.return %d : tensor<64xf32>
}

// All memory that the launches of a fork use is reserved during the whole fork.
// Nothing reuses the memory of a tensor that a branch has read for the last
// time, even if its kernel allows it. After the fork, memory is reused again.
// FORK: arena_bytes = 1024 : i64
// FORK: kernel.launch @step(%{{.*}}, %[[A:.*]]) {branch = 0 : i64, fork = 0 : i64}
// FORK: kernel.launch @step(%[[A]], %[[B:.*]]) {branch = 0 : i64, fork = 0 : i64}
// FORK: kernel.launch @step(%{{.*}}, %[[C:.*]]) {branch = 1 : i64, fork = 0 : i64}
// FORK: kernel.launch @add(%[[B]], %[[C]], %{{.*}}) :
//--- fork.mlir
kernel.func @step(%x: memref<64xf32> {kernel.read}, %y: memref<64xf32>) { kernel.return }
kernel.func @add(%x: memref<64xf32> {kernel.read}, %b: memref<64xf32> {kernel.read}, %y: memref<64xf32>) { kernel.return }
kernel.program @main(%i: tensor<64xf32>) -> tensor<64xf32> {
  %x = kernel.launch @step(%i) : (tensor<64xf32>) -> tensor<64xf32>
  %a = kernel.launch @step(%x) {inplace = array<i64: 0, 0>, fork = 0 : i64, branch = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  %b = kernel.launch @step(%a) {inplace = array<i64: 0, 0>, fork = 0 : i64, branch = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  %c = kernel.launch @step(%x) {inplace = array<i64: 0, 0>, fork = 0 : i64, branch = 1 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  %d = kernel.launch @add(%b, %c) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %y = kernel.launch @step(%d) : (tensor<64xf32>) -> tensor<64xf32>
  kernel.return %y : tensor<64xf32>
}
