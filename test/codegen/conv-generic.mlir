// A whole model for the scalar target: loops, a window with padding, weights in
// the source, a buffer in the arena, and the checks in run().
//
// RUN: ingot-translate %s --name mnist | FileCheck %s
// RUN: ingot-translate %s --name mnist --header | FileCheck %s --check-prefix=HEADER

// CHECK: // mnist, compiled by ingot-translate for generic.
// CHECK: #include "model.h"
// CHECK-NOT: #include <immintrin.h>
// CHECK: alignas(64) const float conv1_weight[9] = {
// CHECK-NEXT: 0.0f, 0.1f, -0.0f, 1.0f, 16777216.0f, INGOT_INFINITY, -2.5f, 3.4028235e+38f, 1e-45f
// CHECK: // Convolution28 + ReLU32: f32[1,1,4,4] -> f32[1,1,4,4]
// CHECK-NEXT: // direct, 3x3
// CHECK-NEXT: void conv_4x4(const float *__restrict x, const float *__restrict w,
// CHECK-NEXT: const float *__restrict bias, float *__restrict y, ptrdiff_t begin, ptrdiff_t end) {
// CHECK-NEXT: for (ptrdiff_t i = begin; i < end; ++i) {
// CHECK-NEXT: for (ptrdiff_t i_2 = 0; i_2 < 4; ++i_2) {
// CHECK-NEXT: float acc0 = bias[0];
// CHECK-NEXT: for (ptrdiff_t i_3 = 0; i_3 < 3; ++i_3) {
// CHECK-NEXT: for (ptrdiff_t i_4 = 0; i_4 < 3; ++i_4) {
// CHECK-NEXT: const ptrdiff_t at0 = i + i_3 - 1;
// CHECK-NEXT: const ptrdiff_t at1 = i_2 + i_4 - 1;
// CHECK-NEXT: acc0 += ((size_t(at0) < 4u && size_t(at1) < 4u) ? x[at0 * 4 + at1] : 0.0f) *
// CHECK-NEXT: w[i_3 * 3 + i_4];
// CHECK: y[i * 4 + i_2] = max_f32(0.0f, acc0);
// CHECK-LABEL: ingot_status run(
// CHECK: if (!io || !io->Input3 || !io->head_out_0 || !arena) return INGOT_ERROR_NULL;
// CHECK: if (reinterpret_cast<uintptr_t>(arena) % MNIST_ARENA_ALIGN != 0) return INGOT_ERROR_ALIGNMENT;
// CHECK: float *const Convolution28 = buffer_at<float>(memory, 64); // float32 [4,4]
// CHECK-NEXT: // Convolution28
// CHECK-NEXT: parallel(context, 4, 0, [=](ptrdiff_t begin, ptrdiff_t end) {
// CHECK-NEXT: conv_4x4(io->Input3, conv1_weight, bias, Convolution28, begin, end);
// CHECK: conv_4x4(Convolution28, conv1_weight, bias, io->head_out_0, begin, end);

// HEADER: #define MNIST_ARENA_BYTES 128u
// HEADER: #define MNIST_ARENA_ALIGN 64u
// HEADER: #define MNIST_HEAD_OUT_0_ELEMENTS 16u
// HEADER: const float *Input3; /* in: float32 [1,1,4,4] */
// HEADER: float *head_out_0; /* out: float32 [1,16], "head/out:0" */

module {
  memref.global "private" constant @conv1_weight : memref<3x3xf32> =
    dense<[[0.0, 0.1, -0.0], [1.0, 16777216.0, 0x7F800000], [-2.5, 3.40282347e+38, 1.4e-45]]>
  memref.global "private" constant @bias : memref<1xf32> = dense<0.5>
  kernel.func @conv_4x4(
      %x: memref<4x4xf32> {kernel.name = "x"},
      %w: memref<3x3xf32> {kernel.name = "w"},
      %b: memref<1xf32> {kernel.name = "bias"},
      %y: memref<4x4xf32> {kernel.name = "y"}, %begin: index, %end: index)
      attributes {extent = 4 : index,
                  comment = "Convolution28 + ReLU32: f32[1,1,4,4] -> f32[1,1,4,4]\ndirect, 3x3"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    scf.for %i = %begin to %end step %c1 {
      scf.for %j = %c0 to %c4 step %c1 {
        %init = memref.load %b[%c0] : memref<1xf32>
        %sum = scf.for %k = %c0 to %c3 step %c1 iter_args(%a = %init) -> f32 {
          %sum1 = scf.for %l = %c0 to %c3 step %c1 iter_args(%a1 = %a) -> f32 {
            %p = arith.addi %i, %k : index
            %ih = arith.subi %p, %c1 : index
            %q = arith.addi %j, %l : index
            %iw = arith.subi %q, %c1 : index
            %in0 = arith.cmpi ult, %ih, %c4 : index
            %in1 = arith.cmpi ult, %iw, %c4 : index
            %in = arith.andi %in0, %in1 : i1
            %v = scf.if %in -> f32 {
              %e = memref.load %x[%ih, %iw] : memref<4x4xf32>
              scf.yield %e : f32
            } else {
              scf.yield %zero : f32
            }
            %f = memref.load %w[%k, %l] : memref<3x3xf32>
            %m = arith.mulf %v, %f : f32
            %n = arith.addf %a1, %m : f32
            scf.yield %n : f32
          }
          scf.yield %sum1 : f32
        }
        %r = arith.maximumf %sum, %zero : f32
        memref.store %r, %y[%i, %j] : memref<4x4xf32>
      }
    }
    kernel.return
  }
  kernel.program @main(%arg0: memref<1x1x4x4xf32> {kernel.onnx_name = "Input3", kernel.onnx_type = "float32"},
                  %arg1: memref<1x16xf32> {kernel.onnx_name = "head/out:0", kernel.onnx_type = "float32", kernel.output})
      attributes {arena_bytes = 128 : i64, arena_align = 64 : i64} {
    %w = memref.get_global @conv1_weight : memref<3x3xf32>
    %b = memref.get_global @bias : memref<1xf32>
    %x = kernel.view %arg0 : memref<1x1x4x4xf32> to memref<4x4xf32>
    %a = kernel.arena 64 : memref<4x4xf32> loc(fused<"Convolution28">["Convolution28"])
    kernel.launch @conv_4x4(%x, %w, %b, %a) : (memref<4x4xf32>, memref<3x3xf32>, memref<1xf32>, memref<4x4xf32>) -> () loc("Convolution28")
    %y = kernel.view %arg1 : memref<1x16xf32> to memref<4x4xf32>
    kernel.launch @conv_4x4(%a, %w, %b, %y) : (memref<4x4xf32>, memref<3x3xf32>, memref<1xf32>, memref<4x4xf32>) -> ()
    kernel.return
  }
}
