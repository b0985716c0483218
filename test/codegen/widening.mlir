// Integers are widened and narrowed with the target's own instructions, because
// g++ 12 would split the vectors. Sums of products that become floats are
// signed from the start: with a cast after the loop, g++ 12 would copy every
// sum in every step. Inputs/widening.cpp computes the same lane by lane.
//
// REQUIRES: cpu-avx2
// RUN: ingot-translate %s --target x86-64-v3 --name widening -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: %cxx %warnings -O2 -include %t.cpp %S/Inputs/widening.cpp -o %t.g++ && %t.g++
// RUN: %clangxx %warnings -O2 -include %t.cpp %S/Inputs/widening.cpp -o %t.clang && %t.clang
// RUN: %cxx -O2 -c %t.cpp -o %t.o && llvm-objdump -d --no-show-raw-insn %t.o | FileCheck %s --check-prefix=CODE
// RUN: ingot-translate %s --target x86-64-v4 --name widening -o %t.v4.cpp
// RUN: %cxx %warnings -O2 -c %t.v4.cpp -o %t.v4.o
// RUN: %clangxx %warnings -O2 -c %t.v4.cpp -o %t.v4.o

// CHECK-NOT: __builtin_convertvector({{.*}}, u32x8)
// CODE-NOT: pinsr
// CODE-NOT: pextr

module {
  // CHECK-LABEL: void bytes(
  kernel.func @bytes(%a: memref<48xi8> {kernel.name = "a"}, %y: memref<48xi32> {kernel.name = "y"}) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c20 = arith.constant 20 : index
    %x0 = vector.load %a[%c0] : memref<48xi8>, vector<8xi8>
    %x1 = vector.load %a[%c8] : memref<48xi8>, vector<8xi8>
    %x2 = vector.load %a[%c16] : memref<48xi8>, vector<4xi8>
    %x3 = vector.load %a[%c20] : memref<48xi8>, vector<4xi8>
    // CHECK: _mm256_cvtepu8_epi32(
    %y0 = arith.extui %x0 : vector<8xi8> to vector<8xi32>
    // CHECK: _mm256_cvtepi8_epi32(
    %y1 = arith.extsi %x1 : vector<8xi8> to vector<8xi32>
    // CHECK: _mm_cvtepu8_epi32(
    %y2 = arith.extui %x2 : vector<4xi8> to vector<4xi32>
    // CHECK: _mm_cvtepi8_epi32(
    %y3 = arith.extsi %x3 : vector<4xi8> to vector<4xi32>
    vector.store %y0, %y[%c0] : memref<48xi32>, vector<8xi32>
    vector.store %y1, %y[%c8] : memref<48xi32>, vector<8xi32>
    vector.store %y2, %y[%c16] : memref<48xi32>, vector<4xi32>
    vector.store %y3, %y[%c20] : memref<48xi32>, vector<4xi32>
    kernel.return
  }

  // CHECK-LABEL: void words(
  kernel.func @words(%a: memref<48xi16> {kernel.name = "a"}, %y: memref<48xi32> {kernel.name = "y"}) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c20 = arith.constant 20 : index
    %x0 = vector.load %a[%c0] : memref<48xi16>, vector<8xi16>
    %x1 = vector.load %a[%c8] : memref<48xi16>, vector<8xi16>
    %x2 = vector.load %a[%c16] : memref<48xi16>, vector<4xi16>
    %x3 = vector.load %a[%c20] : memref<48xi16>, vector<4xi16>
    // CHECK: _mm256_cvtepu16_epi32(
    %y0 = arith.extui %x0 : vector<8xi16> to vector<8xi32>
    // CHECK: _mm256_cvtepi16_epi32(
    %y1 = arith.extsi %x1 : vector<8xi16> to vector<8xi32>
    // CHECK: _mm_cvtepu16_epi32(
    %y2 = arith.extui %x2 : vector<4xi16> to vector<4xi32>
    // CHECK: _mm_cvtepi16_epi32(
    %y3 = arith.extsi %x3 : vector<4xi16> to vector<4xi32>
    vector.store %y0, %y[%c0] : memref<48xi32>, vector<8xi32>
    vector.store %y1, %y[%c8] : memref<48xi32>, vector<8xi32>
    vector.store %y2, %y[%c16] : memref<48xi32>, vector<4xi32>
    vector.store %y3, %y[%c20] : memref<48xi32>, vector<4xi32>
    kernel.return
  }

  // CHECK-LABEL: void bytes_as_words(
  kernel.func @bytes_as_words(%a: memref<48xi8> {kernel.name = "a"}, %y: memref<48xi16> {kernel.name = "y"}) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c40 = arith.constant 40 : index
    %x0 = vector.load %a[%c0] : memref<48xi8>, vector<16xi8>
    %x1 = vector.load %a[%c16] : memref<48xi8>, vector<16xi8>
    %x2 = vector.load %a[%c32] : memref<48xi8>, vector<8xi8>
    %x3 = vector.load %a[%c40] : memref<48xi8>, vector<8xi8>
    // CHECK: _mm256_cvtepu8_epi16(
    %y0 = arith.extui %x0 : vector<16xi8> to vector<16xi16>
    // CHECK: _mm256_cvtepi8_epi16(
    %y1 = arith.extsi %x1 : vector<16xi8> to vector<16xi16>
    // CHECK: _mm_cvtepu8_epi16(
    %y2 = arith.extui %x2 : vector<8xi8> to vector<8xi16>
    // CHECK: _mm_cvtepi8_epi16(
    %y3 = arith.extsi %x3 : vector<8xi8> to vector<8xi16>
    vector.store %y0, %y[%c0] : memref<48xi16>, vector<16xi16>
    vector.store %y1, %y[%c16] : memref<48xi16>, vector<16xi16>
    vector.store %y2, %y[%c32] : memref<48xi16>, vector<8xi16>
    vector.store %y3, %y[%c40] : memref<48xi16>, vector<8xi16>
    kernel.return
  }

  // CHECK-LABEL: void sums(
  kernel.func @sums(%w: memref<48xi16> {kernel.name = "w"}, %y: memref<16xf32> {kernel.name = "y"}, %z: memref<16xi32> {kernel.name = "z"}) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c48 = arith.constant 48 : index
    %zero = arith.constant dense<0> : vector<8xi32>
    // CHECK: i32x8 [[SUM:.*]] = i32x8(u32x8{});
    // CHECK: u32x8 [[WORDS:.*]] = u32x8{};
    %sum, %words = scf.for %i = %c0 to %c48 step %c16 iter_args(%s = %zero, %t = %zero) -> (vector<8xi32>, vector<8xi32>) {
      %x = vector.load %w[%i] : memref<48xi16>, vector<16xi16>
      // CHECK: [[SUM]] = i32x8(_mm256_add_epi32(__m256i([[SUM]]), _mm256_madd_epi16(
      %next = kernel.dot %x, %x, %s : vector<16xi16>, vector<8xi32>
      // CHECK: [[WORDS]] = u32x8(_mm256_add_epi32(__m256i([[WORDS]]), _mm256_madd_epi16(
      %same = kernel.dot %x, %x, %t : vector<16xi16>, vector<8xi32>
      scf.yield %next, %same : vector<8xi32>, vector<8xi32>
    }
    // CHECK: __builtin_convertvector([[SUM]], f32x8)
    %f = arith.sitofp %sum : vector<8xi32> to vector<8xf32>
    vector.store %f, %y[%c0] : memref<16xf32>, vector<8xf32>
    vector.store %words, %z[%c0] : memref<16xi32>, vector<8xi32>
    kernel.return
  }

  kernel.program @main(%a: memref<48xi8> {kernel.onnx_name = "a"},
      %w: memref<48xi16> {kernel.onnx_name = "w"},
      %bytes: memref<48xi32> {kernel.onnx_name = "bytes", kernel.output},
      %words: memref<48xi32> {kernel.onnx_name = "words", kernel.output},
      %both: memref<48xi16> {kernel.onnx_name = "both", kernel.output},
      %floats: memref<16xf32> {kernel.onnx_name = "floats", kernel.output},
      %sums: memref<16xi32> {kernel.onnx_name = "sums", kernel.output}) {
    kernel.launch @bytes(%a, %bytes) : (memref<48xi8>, memref<48xi32>) -> ()
    kernel.launch @words(%w, %words) : (memref<48xi16>, memref<48xi32>) -> ()
    kernel.launch @bytes_as_words(%a, %both) : (memref<48xi8>, memref<48xi16>) -> ()
    kernel.launch @sums(%w, %floats, %sums) : (memref<48xi16>, memref<16xf32>, memref<16xi32>) -> ()
    kernel.return
  }
}
