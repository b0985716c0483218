// RUN: %ingot-opt %s -legalize-await-inputs=target=sm_90a | FileCheck %s
// RUN: %ingot-opt %s -legalize-await-inputs=target=sm_80 | FileCheck %s --check-prefix=LATE
// REQUIRES: ingot-opt

// LATE-NOT: await_inputs

memref.global "private" constant @bias : memref<64xf32> = dense<1.0>

// Constants are read before the kernel waits for the previous kernel. Values
// that another kernel may have written are read after the wait;
// kernel.may_alias keeps the compiler of the generated code from moving these
// reads before it.
// CHECK-LABEL: kernel.func @sum(
// CHECK-SAME: memref<64xf32> {kernel.may_alias, kernel.read}, %{{.*}}: memref<64xf32> {kernel.read}, %{{.*}}: memref<64xf32>)
// CHECK: memref.load %{{.*}}[%{{.*}}] : memref<64xf32>
// CHECK-NEXT: kernel.await_inputs
// CHECK-NEXT: memref.load
kernel.func @sum(%x: memref<64xf32> {kernel.read}, %bias: memref<64xf32> {kernel.read}, %y: memref<64xf32>) attributes {extent = 1 : index, threads = 64 : i64} {
  %at = gpu.thread_id x
  %b = memref.load %bias[%at] : memref<64xf32>
  %v = memref.load %x[%at] : memref<64xf32>
  %s = arith.addf %b, %v : f32
  memref.store %s, %y[%at] : memref<64xf32>
  kernel.return
}

// Reads of constants that come after the first read of another operand are
// moved before kernel.await_inputs as well, together with the computation of
// their addresses.
// CHECK-LABEL: kernel.func @behind(
// CHECK: memref.load %{{.*}}[%{{.*}}] : memref<64xf32>
// CHECK-NEXT: arith.addi
// CHECK-NEXT: memref.load
// CHECK-NEXT: kernel.await_inputs
// CHECK-NEXT: memref.load
// CHECK-NEXT: arith.addf
kernel.func @behind(%x: memref<64xf32> {kernel.read}, %bias: memref<64xf32> {kernel.read}, %y: memref<64xf32>) attributes {extent = 1 : index, threads = 32 : i64} {
  %c32 = arith.constant 32 : index
  %at = gpu.thread_id x
  %v = memref.load %x[%at] : memref<64xf32>
  %b = memref.load %bias[%at] : memref<64xf32>
  %s = arith.addf %b, %v : f32
  %next = arith.addi %at, %c32 : index
  %b1 = memref.load %bias[%next] : memref<64xf32>
  %s1 = arith.addf %b1, %s : f32
  memref.store %s1, %y[%at] : memref<64xf32>
  kernel.return
}

// Shared memory is not constant: its reads stay after the barrier.
// CHECK-LABEL: kernel.func @shared(
// CHECK: kernel.await_inputs
// CHECK-NEXT: memref.load %arg0
// CHECK-NEXT: memref.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: memref.load %alloca
kernel.func @shared(%x: memref<64xf32> {kernel.read}, %y: memref<64xf32>) attributes {extent = 1 : index, threads = 64 : i64} {
  %c63 = arith.constant 63 : index
  %at = gpu.thread_id x
  %other = arith.subi %c63, %at : index
  %parts = memref.alloca() : memref<64xf32, #gpu.address_space<workgroup>>
  %v = memref.load %x[%at] : memref<64xf32>
  memref.store %v, %parts[%at] : memref<64xf32, #gpu.address_space<workgroup>>
  gpu.barrier
  %w = memref.load %parts[%other] : memref<64xf32, #gpu.address_space<workgroup>>
  memref.store %w, %y[%at] : memref<64xf32>
  kernel.return
}

// An argument that is a constant in only one of two launches is read after the
// wait. The wait is outside of the condition, so that threads without work
// wait, too.
// CHECK-LABEL: kernel.func @some(
// CHECK: arith.cmpi
// CHECK-NEXT: kernel.await_inputs
// CHECK-NEXT: scf.if
// CHECK-NOT: kernel.await_inputs
kernel.func @some(%x: memref<64xf32>, %y: memref<64xf32>) attributes {extent = 1 : index, threads = 64 : i64} {
  %c40 = arith.constant 40 : index
  %at = gpu.thread_id x
  %isInside = arith.cmpi slt, %at, %c40 : index
  scf.if %isInside {
    %v = memref.load %x[%at] : memref<64xf32>
    memref.store %v, %y[%at] : memref<64xf32>
  }
  kernel.return
}

// Each side of a conditional has a wait of its own.
// CHECK-LABEL: kernel.func @sides(
// CHECK: scf.if
// CHECK: memref.load
// CHECK-NEXT: kernel.await_inputs
// CHECK-NEXT: memref.store
// CHECK: } else {
// CHECK: scf.if
// CHECK-NEXT: kernel.await_inputs
// CHECK-NEXT: memref.load
// CHECK: } else {
// CHECK-NEXT: kernel.await_inputs
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: kernel.return
kernel.func @sides(%x: memref<64xf32>, %bias: memref<64xf32>, %y: memref<64xf32>) attributes {extent = 1 : index, threads = 64 : i64} {
  %c32 = arith.constant 32 : index
  %c40 = arith.constant 40 : index
  %at = gpu.thread_id x
  %isFirst = arith.cmpi slt, %at, %c32 : index
  scf.if %isFirst {
    %b = memref.load %bias[%at] : memref<64xf32>
    memref.store %b, %y[%at] : memref<64xf32>
  } else {
    %isInside = arith.cmpi slt, %at, %c40 : index
    scf.if %isInside {
      %v = memref.load %x[%at] : memref<64xf32>
      memref.store %v, %y[%at] : memref<64xf32>
    }
  }
  kernel.return
}

kernel.program @main(%x: memref<64xf32>, %y: memref<64xf32> {kernel.output}) attributes {arena_bytes = 256 : i64, arena_align = 64 : i64} {
  %bias = memref.get_global @bias : memref<64xf32>
  %h = kernel.arena 0 : memref<64xf32>
  kernel.launch @shared(%x, %h) : (memref<64xf32>, memref<64xf32>) -> ()
  kernel.launch @behind(%x, %bias, %h) : (memref<64xf32>, memref<64xf32>, memref<64xf32>) -> ()
  kernel.launch @sum(%x, %bias, %h) : (memref<64xf32>, memref<64xf32>, memref<64xf32>) -> ()
  kernel.launch @sides(%h, %bias, %y) : (memref<64xf32>, memref<64xf32>, memref<64xf32>) -> ()
  kernel.launch @some(%bias, %h) : (memref<64xf32>, memref<64xf32>) -> ()
  kernel.launch @some(%h, %y) : (memref<64xf32>, memref<64xf32>) -> ()
  kernel.return
}
