// An argument that a kernel only accesses through a tensor map has no name, so
// that no compiler warns about an unused argument.
//
// REQUIRES: ingot
// RUN: %ingot %s --start-from=legalize --target sm_90a --name net -o %t.cu
// RUN: FileCheck %s < %t.cu

// CHECK: void mapped(const uint16_t *__restrict /*x*/, float *__restrict y,
// CHECK: const __grid_constant__ CUtensorMap
module attributes {kernel.target = "sm_90a"} {
  kernel.func @mapped(%x: memref<64x64xf16> {kernel.name = "x", kernel.read}, %y: memref<32xf32> {kernel.name = "y"}) attributes {extent = 1 : index, threads = 32 : i64} {
    %map = kernel.tiles %x sizes <64, 64> strides [64, 1] box [64, 64] : memref<64x64xf16>
    %at = gpu.thread_id x
    %one = arith.constant 1.0 : f32
    kernel.await_inputs
    memref.store %one, %y[%at] : memref<32xf32>
    kernel.return
  }
  kernel.program @main(%x: memref<64x64xf16> {kernel.onnx_name = "x"}, %y: memref<32xf32> {kernel.onnx_name = "y", kernel.output}) attributes {arena_bytes = 0 : i64, arena_align = 64 : i64} {
    kernel.launch @mapped(%x, %y) : (memref<64x64xf16>, memref<32xf32>) -> ()
    kernel.return
  }
}
