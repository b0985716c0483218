// Before the host decides something during a run, it copies the value (a
// condition, a loop limit, a size) from the device. Such a run is no CUDA
// graph, and the header says that it waits. A loop passes the iteration number
// to its body, and gets the body's condition back, through device memory.
//
// REQUIRES: ingot
// RUN: %ingot %s --start-from=legalize --target sm_80 --name net -o %t.cu
// RUN: FileCheck %s < %t.cu
// RUN: FileCheck %s --check-prefix=HEADER < %t.h

// HEADER: #define NET_STAGING_BYTES 1536u
// HEADER: ptrdiff_t *kept; {{.*}}out, on the host, size: 0 to 8
// HEADER-NOT: graph
// HEADER: Waits wherever

// CHECK: struct made_sizes {
// CHECK: ingot_status step(const int64_t *i, const float *h, uint8_t *goes_on, float *next_h,
// CHECK-NEXT: struct CUstream_st *stream) {
// CHECK: status = device::start(add, 1, 8, stream, i, h, next_h, goes_on);
// CHECK: ingot_status launch(
// CHECK: made_sizes &made, unsigned char *decisions, unsigned char *cells, struct CUstream_st *stream) {

// The loop limit is copied to the host, which then counts the iterations.
// CHECK: status = device::copy(decisions, io->most, 8, stream);
// CHECK: status = device::wait(stream);
// CHECK: const int64_t limit = *(const int64_t *)decisions;
// CHECK: for (int64_t iteration = 0; iteration < limit && goes_on; ++iteration) {
// CHECK: status = device::copy((int64_t *)(cells + 0), &iteration, sizeof iteration, stream);
// CHECK: status = step((int64_t *)(cells + 0), h, (uint8_t *)(cells + 8), next_h,
// CHECK: status = device::copy(decisions, (uint8_t *)(cells + 8), 1, stream);
// CHECK: status = device::wait(stream);
// CHECK: goes_on = *decisions;
// CHECK: status = device::copy({{.*}}, h, (size_t)(8) * 4, stream);

// The data-dependent size is copied to the host, which checks its bounds.
// CHECK: status = device::copy(decisions, io->n, 8, stream);
// CHECK: status = device::wait(stream);
// CHECK: if (((const int64_t *)decisions)[0] < 0 || ((const int64_t *)decisions)[0] > 8) {
// CHECK: made.kept = ptrdiff_t(((const int64_t *)decisions)[0]);
// CHECK: *io->kept = made.kept;
// CHECK: status = device::start(fill, {{.*}}, 8, stream, io->y, made.kept);

// The entry function enqueues on the caller's stream and records no CUDA graph.
// CHECK: extern "C" ingot_status net_run(
// CHECK-NOT: record
module attributes {kernel.target = "sm_80"} {
  kernel.func @add(%i: memref<i64> {kernel.name = "i", kernel.read}, %h: memref<8xf32> {kernel.name = "h", kernel.read}, %y: memref<8xf32> {kernel.name = "y"}, %more: memref<i1> {kernel.name = "more"})
      attributes {extent = 1 : index, threads = 8 : i64} {
    %at = gpu.thread_id x
    %x = memref.load %h[%at] : memref<8xf32>
    %s = arith.addf %x, %x : f32
    memref.store %s, %y[%at] : memref<8xf32>
    kernel.return
  }
  kernel.func @fill(%y: memref<8xf32> {kernel.name = "y"}, %n: index)
      attributes {extent = 1 : index, threads = 8 : i64, sizes = #kernel.sizes<"kept" in 0 to 8 : s0>} {
    %at = gpu.thread_id x
    %one = arith.constant 1.0 : f32
    memref.store %one, %y[%at] : memref<8xf32>
    kernel.return
  }
  kernel.program private @step(%i: memref<i64> {kernel.onnx_name = "i"}, %h: memref<8xf32> {kernel.onnx_name = "h"},
                               %goes_on: memref<i1> {kernel.onnx_name = "goes_on", kernel.output}, %next: memref<8xf32> {kernel.onnx_name = "next_h", kernel.output}) {
    kernel.launch @add(%i, %h, %next, %goes_on) : (memref<i64>, memref<8xf32>, memref<8xf32>, memref<i1>) -> ()
    kernel.return
  }
  kernel.program @main(%x: memref<8xf32> {kernel.onnx_name = "x"}, %most: memref<i64> {kernel.onnx_name = "most"}, %n: memref<1xi64> {kernel.onnx_name = "n"},
                       %z: memref<8xf32> {kernel.onnx_name = "z", kernel.output},
                       %y: memref<8xf32> {kernel.onnx_name = "y", kernel.output, kernel.sizes = #kernel.sizes<"kept" in 0 to 8 : s0>})
      attributes {arena_bytes = 64 : i64, arena_align = 64 : i64} {
    %other = kernel.arena 0 : memref<8xf32>
    kernel.loop @step counted conditional limit(%most) carried(%x) to (%z, %other)
        : (memref<i64>, memref<8xf32>, memref<8xf32>, memref<8xf32>) -> ()
    kernel.read_sizes %n : memref<1xi64> as #kernel.sizes<"kept" in 0 to 8 : s0>
    kernel.launch @fill(%y) : (memref<8xf32>) -> ()
    kernel.return
  }
}
