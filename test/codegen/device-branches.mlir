// Branches of a fork may write slices of one tensor whose rows interleave, at
// any start address: here the rows are 80 bytes apart, and the tensor starts at
// byte 64. Slices that overlap are rejected.
//
// REQUIRES: ingot
// RUN: split-file %s %t
// RUN: %ingot %t/beside.mlir --start-from=legalize --target sm_80 --name net -o %t.cu
// RUN: FileCheck %s --check-prefix=BESIDE < %t.cu
// RUN: sed 's/kernel.arena 128 :/kernel.arena 124 :/' %t/beside.mlir > %t/over.mlir
// RUN: not %ingot %t/over.mlir --start-from=legalize --target sm_80 --name net -o %t/over.cu 2> %t/over.txt
// RUN: FileCheck %s --check-prefix=OVER < %t/over.txt

// BESIDE: device::start(wide,
// BESIDE: device::start(narrow,

// OVER: is in branch 1 of a fork, and branch 0 may use the same bytes at the same time: of 'wide' and 'narrow' one writes them

//--- beside.mlir
module attributes {kernel.target = "sm_80"} {
  kernel.func @wide(%x: memref<8xf32> {kernel.name = "x", kernel.read}, %y: memref<4x16xf32, strided<[20, 1]>> {kernel.name = "y"}) attributes {extent = 1 : index, threads = 32 : i64} {
    %at = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %v = memref.load %x[%c0] : memref<8xf32>
    memref.store %v, %y[%c0, %at] : memref<4x16xf32, strided<[20, 1]>>
    kernel.return
  }
  kernel.func @narrow(%x: memref<8xf32> {kernel.name = "x", kernel.read}, %y: memref<4x4xf32, strided<[20, 1]>> {kernel.name = "y"}) attributes {extent = 1 : index, threads = 32 : i64} {
    %at = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %v = memref.load %x[%c0] : memref<8xf32>
    memref.store %v, %y[%c0, %at] : memref<4x4xf32, strided<[20, 1]>>
    kernel.return
  }
  kernel.func @whole(%x: memref<4x20xf32> {kernel.name = "x", kernel.read}, %y: memref<8xf32> {kernel.name = "y"}) attributes {extent = 1 : index, threads = 32 : i64} {
    %at = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %v = memref.load %x[%c0, %at] : memref<4x20xf32>
    memref.store %v, %y[%at] : memref<8xf32>
    kernel.return
  }
  kernel.program @main(%x: memref<8xf32> {kernel.onnx_name = "x"}, %y: memref<8xf32> {kernel.onnx_name = "y", kernel.output})
      attributes {arena_bytes = 384 : i64, arena_align = 64 : i64} {
    %a = kernel.arena 64 : memref<4x16xf32, strided<[20, 1]>>
    kernel.launch @wide(%x, %a) {fork = 0 : i64, branch = 0 : i64} : (memref<8xf32>, memref<4x16xf32, strided<[20, 1]>>) -> ()
    %b = kernel.arena 128 : memref<4x4xf32, strided<[20, 1]>>
    kernel.launch @narrow(%x, %b) {fork = 0 : i64, branch = 1 : i64} : (memref<8xf32>, memref<4x4xf32, strided<[20, 1]>>) -> ()
    %c = kernel.arena 64 : memref<4x20xf32>
    kernel.launch @whole(%c, %y) : (memref<4x20xf32>, memref<8xf32>) -> ()
    kernel.return
  }
}
