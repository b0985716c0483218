// A host kernel in a program for a device: a host function that is called once
// its inputs have arrived. The size that it computes is read directly, without
// another wait.
//
// REQUIRES: ingot
// RUN: %ingot %s --start-from=legalize --target sm_90a --name net -o %t.cu
// RUN: FileCheck %s < %t.cu
// RUN: FileCheck %s --check-prefix=HEADER < %t.h

// HEADER: #define NET_DEVICE_BYTES 1280u
// HEADER: #define NET_STAGING_BYTES 1024u

// CHECK: {{^}}__host__ __device__ __forceinline__ float twice(
// CHECK: {{^}}INGOT_NOINLINE void serial(
// CHECK-NOT: device::begin
// CHECK: {{^}}__global__ __launch_bounds__(32) void wide(
// CHECK-NEXT: device::begin();
// CHECK: device::await_inputs();
// CHECK: ingot_status launch(
// CHECK: float *const [[H:.*]] = buffer_at<float>(decisions + 256, 0);
// CHECK: status = device::copy([[H]], io->x, 32, stream);
// CHECK: int64_t *const [[N:.*]] = buffer_at<int64_t>(decisions + 256, 128);
// CHECK: status = device::wait(stream);
// CHECK: serial([[H]], [[N]]);
// CHECK-NEXT: float *const [[D:.*]] = buffer_at<float>(memory, 0);
// CHECK-NEXT: status = device::copy([[D]], [[H]], 32, stream);
// CHECK-NOT: wait
// CHECK: made.kept = ptrdiff_t(([[N]])[0]);
// CHECK: status = device::start(wide, 1, 32, stream, [[D]], io->y);
module attributes {kernel.target = "sm_90a"} {
  func.func private @twice(%x: f32) -> f32 {
    %y = arith.addf %x, %x : f32
    return %y : f32
  }
  kernel.func @serial(%x: memref<8xf32> {kernel.name = "x"}, %n: memref<1xi64> {kernel.name = "n"}) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    %v = memref.load %x[%c0] : memref<8xf32>
    %w = func.call @twice(%v) : (f32) -> f32
    memref.store %w, %x[%c0] : memref<8xf32>
    memref.store %one, %n[%c0] : memref<1xi64>
    kernel.return
  }
  kernel.func @wide(%x: memref<8xf32> {kernel.name = "x"}, %y: memref<8xf32> {kernel.name = "y"}) attributes {extent = 1 : index, threads = 32 : i64} {
    %at = gpu.thread_id x
    kernel.await_inputs
    %v = memref.load %x[%at] : memref<8xf32>
    memref.store %v, %y[%at] : memref<8xf32>
    kernel.return
  }
  kernel.program @main(%x: memref<8xf32> {kernel.onnx_name = "x"}, %y: memref<8xf32> {kernel.onnx_name = "y", kernel.output})
      attributes {arena_bytes = 256 : i64, arena_align = 64 : i64, second_bytes = 256 : i64} {
    %h = kernel.arena 0 second_memory : memref<8xf32>
    kernel.copy %x to %h {second_memory} : (memref<8xf32>, memref<8xf32>) -> ()
    %n = kernel.arena 128 second_memory : memref<1xi64>
    kernel.launch @serial(%h, %n) {second_memory} : (memref<8xf32>, memref<1xi64>) -> ()
    %d = kernel.arena 0 : memref<8xf32>
    kernel.copy %h to %d : (memref<8xf32>, memref<8xf32>) -> ()
    kernel.read_sizes %n : memref<1xi64> as #kernel.sizes<"kept" in 0 to 8 : s0>
    kernel.launch @wide(%d, %y) : (memref<8xf32>, memref<8xf32>) -> ()
    kernel.return
  }
}
