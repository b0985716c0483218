// RUN: %ingot-opt %s -split-input-file -legalize-expand-math=target=sm_80 | FileCheck %s
// REQUIRES: ingot-opt

// Device kernels compute an exponential that need not be exact (fastmath<afn>)
// with the device's instruction for 2^x.
// CHECK-LABEL: kernel.func @of_threads
// CHECK: %[[POWERS:.*]] = arith.mulf %{{.*}}, %cst
// CHECK-NEXT: %[[Y:.*]] = kernel.exp2 %[[POWERS]] : f32
// CHECK-NEXT: memref.store %[[Y]]
kernel.func @of_threads(%x: memref<32xf32>) attributes {extent = 1 : index, threads = 32 : i64} {
  %i = gpu.thread_id x
  %0 = memref.load %x[%i] : memref<32xf32>
  %1 = math.exp %0 fastmath<afn> : f32
  memref.store %1, %x[%i] : memref<32xf32>
  kernel.return
}

// Device kernels compute an error function that need not be exact from a
// quotient and the device's instruction for 2^x.
// CHECK-LABEL: kernel.func @erf_of_threads
// CHECK: arith.divf %{{.*}}, %{{.*}} fastmath<arcp>
// CHECK: kernel.exp2
kernel.func @erf_of_threads(%x: memref<32xf32>) attributes {extent = 1 : index, threads = 32 : i64} {
  %i = gpu.thread_id x
  %0 = memref.load %x[%i] : memref<32xf32>
  %1 = math.erf %0 fastmath<afn> : f32
  memref.store %1, %x[%i] : memref<32xf32>
  kernel.return
}
// CHECK-LABEL: kernel.func @erf_alone
// CHECK-NOT: kernel.exp2
// CHECK: kernel.return
kernel.func @erf_alone(%x: memref<32xf32>) attributes {extent = 1 : index, threads = 32 : i64} {
  %i = gpu.thread_id x
  %0 = memref.load %x[%i] : memref<32xf32>
  %1 = math.erf %0 : f32
  memref.store %1, %x[%i] : memref<32xf32>
  kernel.return
}

// An exponential without fastmath<afn>, and any exponential in a host kernel,
// is computed as on other targets.
// CHECK-LABEL: kernel.func @accurate
// CHECK-NOT: kernel.exp2
// CHECK: kernel.return
kernel.func @accurate(%x: memref<32xf32>) attributes {extent = 1 : index, threads = 32 : i64} {
  %i = gpu.thread_id x
  %0 = memref.load %x[%i] : memref<32xf32>
  %1 = math.exp %0 : f32
  memref.store %1, %x[%i] : memref<32xf32>
  kernel.return
}
// CHECK-LABEL: kernel.func @on_host
// CHECK-NOT: kernel.exp2
// CHECK: kernel.return
kernel.func @on_host(%x: memref<32xf32>) {
  %i = arith.constant 0 : index
  %0 = memref.load %x[%i] : memref<32xf32>
  %1 = math.exp %0 fastmath<afn> : f32
  memref.store %1, %x[%i] : memref<32xf32>
  kernel.return
}

// -----

// With --strict, exponentials are computed as on other targets.
// CHECK-LABEL: kernel.func @strict
// CHECK-NOT: kernel.exp2
// CHECK: kernel.return
module attributes {kernel.strict} {
  kernel.func @strict(%x: memref<32xf32>) attributes {extent = 1 : index, threads = 32 : i64} {
    %i = gpu.thread_id x
    %0 = memref.load %x[%i] : memref<32xf32>
    %1 = math.exp %0 fastmath<afn> : f32
    memref.store %1, %x[%i] : memref<32xf32>
    kernel.return
  }
}

// -----

// A quotient within the expansion of a function may be off by two units in the
// last place (fastmath<arcp>).
// CHECK-LABEL: kernel.func @quotient
// CHECK: arith.divf %{{.*}}, %{{.*}} fastmath<arcp>
kernel.func @quotient(%x: memref<32xf32>) attributes {extent = 1 : index, threads = 32 : i64} {
  %i = gpu.thread_id x
  %0 = memref.load %x[%i] : memref<32xf32>
  %1 = math.erf %0 : f32
  memref.store %1, %x[%i] : memref<32xf32>
  kernel.return
}

// -----

// The quotient of a sigmoid, whose divisor is 1 + e^x, may be off by two units
// in the last place; other quotients of the model may not.
// CHECK-LABEL: kernel.func @sigmoid
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %cst
// CHECK: arith.divf %{{.*}}, %[[SUM]] fastmath<arcp> : f32
// CHECK: arith.divf %{{.*}}, %{{.*}} : f32
kernel.func @sigmoid(%x: memref<32xf32>) attributes {extent = 1 : index, threads = 32 : i64} {
  %i = gpu.thread_id x
  %one = arith.constant 1.0 : f32
  %0 = memref.load %x[%i] : memref<32xf32>
  %1 = math.exp %0 fastmath<afn> : f32
  %2 = arith.addf %1, %one : f32
  %3 = arith.divf %0, %2 : f32
  %4 = arith.divf %2, %3 : f32
  memref.store %4, %x[%i] : memref<32xf32>
  kernel.return
}

// -----

// CHECK-LABEL: kernel.func @strict_quotient
// CHECK-NOT: arcp
// CHECK: kernel.return
module attributes {kernel.strict} {
  kernel.func @strict_quotient(%x: memref<32xf32>) attributes {extent = 1 : index, threads = 32 : i64} {
    %i = gpu.thread_id x
    %0 = memref.load %x[%i] : memref<32xf32>
    %1 = math.erf %0 : f32
    memref.store %1, %x[%i] : memref<32xf32>
    kernel.return
  }
}
