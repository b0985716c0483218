// RUN: %ingot-opt %s -split-input-file -legalize-expand-math=target=sm_80 | FileCheck %s
// REQUIRES: ingot-opt

// A device has an instruction for 2^x, which threads use where an exponential
// may be 0.
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

// An error function next to 1 uses it as well, as an exponential and a
// quotient.
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

// As accurate as on other targets where accuracy is asked for, and in host
// kernels.
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

// With --strict the results are those of all targets.
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

// Quotients inside a function may be off by two units in the last place.
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

// So may those of a sigmoid, but no others.
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
