// A matrix microkernel: loop-carried vectors are local variables that are
// updated in place, a broadcast is the scalar itself, and both compilers turn
// each multiply-add into one instruction.
//
// RUN: ingot-translate %s --target x86-64-v4 --name gemm -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: %cxx %warnings -O2 -S %t.cpp -o - | FileCheck %s --check-prefix=ASM
// RUN: %clangxx %warnings -O2 -S %t.cpp -o - | FileCheck %s --check-prefix=ASM

// CHECK: #include <immintrin.h>
// CHECK: #pragma clang attribute push
// CHECK: #pragma GCC target
// CHECK-LABEL: void gemm_2x32(
// CHECK-NEXT: float *__restrict y) {
// CHECK-NEXT: f32x16 acc0 = f32x16{};
// CHECK: for (ptrdiff_t i = 0; i < 64; ++i) {
// CHECK-NEXT: const f32x16 w0 = load_f32x16_u(&w[i * 32]);
// CHECK-NEXT: const f32x16 w1 = load_f32x16_u(&w[i * 32 + 16]);
// CHECK-NEXT: const float x0 = x[i];
// CHECK-NEXT: const float x1 = x[i + 64];
// CHECK-NEXT: acc0 += x0 * w0;
// CHECK-NEXT: acc1 += x0 * w1;
// CHECK-NEXT: acc2 += x1 * w0;
// CHECK-NEXT: acc3 += x1 * w1;
// CHECK-NEXT: }
// CHECK-NEXT: at_f32x16_u(y) = max_f32x16(f32x16{}, acc0);
// CHECK-NEXT: at_f32x16_u(&y[16]) = acc1;

// ASM-LABEL: gemm_2x32
// ASM-COUNT-4: vfmadd{{.*}}zmm
// ASM: vmaxps{{.*}}zmm

module {
  kernel.func @gemm_2x32(
      %x: memref<2x64xf32> {kernel.name = "x"}, %w: memref<64x32xf32> {kernel.name = "w"},
      %y: memref<2x32xf32> {kernel.name = "y"}) attributes {comment = "Gemm"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant dense<0.0> : vector<16xf32>
    %r:4 = scf.for %k = %c0 to %c64 step %c1 iter_args(%a0 = %z, %a1 = %z, %a2 = %z, %a3 = %z)
        -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
      %b0 = vector.load %w[%k, %c0] : memref<64x32xf32>, vector<16xf32>
      %b1 = vector.load %w[%k, %c16] : memref<64x32xf32>, vector<16xf32>
      %x0 = memref.load %x[%c0, %k] : memref<2x64xf32>
      %x1 = memref.load %x[%c1, %k] : memref<2x64xf32>
      %s0 = vector.broadcast %x0 : f32 to vector<16xf32>
      %s1 = vector.broadcast %x1 : f32 to vector<16xf32>
      %n0 = vector.fma %s0, %b0, %a0 : vector<16xf32>
      %n1 = vector.fma %s0, %b1, %a1 : vector<16xf32>
      %n2 = vector.fma %s1, %b0, %a2 : vector<16xf32>
      %n3 = vector.fma %s1, %b1, %a3 : vector<16xf32>
      scf.yield %n0, %n1, %n2, %n3 : vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>
    }
    %q = arith.maximumf %r#0, %z : vector<16xf32>
    vector.store %q, %y[%c0, %c0] : memref<2x32xf32>, vector<16xf32>
    vector.store %r#1, %y[%c0, %c16] : memref<2x32xf32>, vector<16xf32>
    vector.store %r#2, %y[%c1, %c0] : memref<2x32xf32>, vector<16xf32>
    vector.store %r#3, %y[%c1, %c16] : memref<2x32xf32>, vector<16xf32>
    kernel.return
  }
  kernel.program @main(%x: memref<2x64xf32>, %w: memref<64x32xf32>, %y: memref<2x32xf32> {kernel.output}) {
    kernel.launch @gemm_2x32(%x, %w, %y) : (memref<2x64xf32>, memref<64x32xf32>, memref<2x32xf32>) -> ()
    kernel.return
  }
}
