// A loop with kernel.unrolled = false is printed with a pragma that keeps the
// compiler from unrolling it, for loops whose body already needs all registers.
// kernel.unroll_count asks compilers to unroll a loop a number of times, and
// kernel.clang_unroll_count asks only clang.
//
// RUN: ingot-translate %s -o %t.cpp && FileCheck %s < %t.cpp
// RUN: %cxx %warnings -c %t.cpp -o %t.o
// RUN: %clangxx %warnings -c %t.cpp -o %t.o

// CHECK-LABEL: void rolled(
// CHECK: #pragma GCC unroll 1
// CHECK-NEXT: for (ptrdiff_t
kernel.func @rolled(%y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %one, %y[%i] : memref<8xf32>
  } {kernel.unrolled = false}
  kernel.return
}

// CHECK-LABEL: void unrolled(
// CHECK: #pragma GCC unroll 2
// CHECK-NEXT: for (ptrdiff_t
// CHECK: #if defined(__clang__)
// CHECK-NEXT: #pragma clang loop unroll_count(4)
// CHECK-NEXT: #endif
// CHECK-NEXT: for (ptrdiff_t
kernel.func @unrolled(%y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %one, %y[%i] : memref<8xf32>
  } {kernel.unroll_count = 2 : i64}
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %one, %y[%i] : memref<8xf32>
  } {kernel.clang_unroll_count = 4 : i64}
  kernel.return
}

kernel.program @main(%y: memref<8xf32> {kernel.output}) {
  kernel.launch @rolled(%y) : (memref<8xf32>) -> ()
  kernel.launch @unrolled(%y) : (memref<8xf32>) -> ()
  kernel.return
}
