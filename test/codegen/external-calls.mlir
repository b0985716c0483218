// Calls of functions of the user: their declarations, the C types of buffers,
// sizes, and constants of each kind. Inputs/external-calls.cpp defines them.
//
// RUN: ingot-translate %s --name external -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: %cxx %warnings -O1 -fsanitize=undefined,address -fno-sanitize-recover -include %t.cpp %S/Inputs/external-calls.cpp -o %t.g++ && %t.g++
// RUN: %clangxx %warnings -O1 -fsanitize=undefined,address -fno-sanitize-recover -include %t.cpp %S/Inputs/external-calls.cpp -o %t.clang && %t.clang

// CHECK: // Functions of custom operators: the program that contains this file defines them.
// CHECK-NEXT: extern "C" {
// CHECK-NEXT: void mix(const uint8_t *__restrict x, const float *__restrict w, uint8_t *__restrict y, int64_t n,
// CHECK-NEXT: int64_t shift, float scale, const char *__restrict mode, const int64_t *__restrict pads,
// CHECK-NEXT: const float *__restrict taps);
// CHECK-NEXT: }
module {
  // CHECK: void call(
  // CHECK: const int64_t pads[2] = {1, -2};
  // CHECK-NEXT: const float taps[3] = {0.5f, 1.0f, 2.0f};
  // CHECK-NEXT: ::mix(static_cast<const uint8_t *>(static_cast<const void *>(x)), w,
  // CHECK: 8, -3, 0.25f, "a\042\134b", pads, taps);
  kernel.func @call(%x: memref<8xi8> {kernel.name = "x", kernel.read}, %w: memref<2xf32> {kernel.name = "w", kernel.read},
      %y: memref<8xi8> {kernel.name = "y"}) {
    %n = arith.constant 8 : index
    kernel.call_external "mix"(%x, %w) to (%y) sizes(%n)
        [-3 : i64, 2.500000e-01 : f32, "a\22\\b", array<i64: 1, -2>, array<f32: 5.0e-01, 1.0, 2.0>]
        names ["x", "w", "y", "n", "shift", "scale", "mode", "pads", "taps"] elements [ui8, f32, ui8]
        : (memref<8xi8>, memref<2xf32>) to (memref<8xi8>)
    kernel.return
  }

  kernel.program @main(%x: memref<8xi8> {kernel.onnx_name = "x"}, %w: memref<2xf32> {kernel.onnx_name = "w"},
      %y: memref<8xi8> {kernel.onnx_name = "y", kernel.output}) {
    kernel.launch @call(%x, %w, %y) : (memref<8xi8>, memref<2xf32>, memref<8xi8>) -> ()
    kernel.return
  }
}
