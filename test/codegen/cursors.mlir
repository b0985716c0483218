// Pointers that advance with each read, and loads of several scalars at once on
// targets that have them. Inputs/cursors.cpp computes the same results.
//
// RUN: split-file %s %t.d
// RUN: ingot-translate %t.d/single.mlir --name cursors -o %t.cpp
// RUN: FileCheck %t.d/single.mlir < %t.cpp
// RUN: %cxx %warnings -O1 -fsanitize=undefined,address -fno-sanitize-recover -include %t.cpp %S/Inputs/cursors.cpp -o %t.g++ && %t.g++
// RUN: %clangxx %warnings -O1 -fsanitize=undefined,address -fno-sanitize-recover -include %t.cpp %S/Inputs/cursors.cpp -o %t.clang && %t.clang
// RUN: ingot-translate %t.d/several.mlir --target cortex-m4 -o %t.m4.cpp
// RUN: FileCheck %t.d/several.mlir < %t.m4.cpp
// RUN: ingot-translate %t.d/words.mlir --target cortex-m4 -o %t.words.cpp
// RUN: FileCheck %t.d/words.mlir < %t.words.cpp
// RUN: not ingot-translate %t.d/words.mlir -o %t.refused.cpp 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not ingot-translate %t.d/several.mlir -o %t.refused.cpp 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: loads more at once than target generic can

//--- single.mlir
// A row of zeros, the two rows of x and another row of zeros are multiplied by
// weights whose pointer advances.
// CHECK-LABEL: void padded(
// CHECK: const float *next_w = w;
// CHECK: for (ptrdiff_t i =
// CHECK: const float *next_x = size_t(at0) < 2u ? &x[at0 * 2] : zeros;
// CHECK: for (ptrdiff_t i_2
// CHECK: = *next_x++;
// CHECK: = *next_w++;
kernel.func @padded(%x: memref<2x2xf32> {kernel.name = "x", kernel.read},
                          %w: memref<8xf32> {kernel.name = "w", kernel.read},
                          %zeros: memref<2xf32> {kernel.name = "zeros", kernel.read},
                          %y: memref<1xf32> {kernel.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %none = arith.constant 0.0 : f32
  %weights = kernel.cursor %w[%c0] : memref<8xf32> loc(fused<"next_w">["conv"])
  %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%outer = %none) -> f32 {
    %row = arith.subi %i, %c1 : index
    %inside = arith.cmpi ult, %row, %c2 : index
    %cursor = kernel.cursor %x[%row, %c0] if %inside else %zeros : memref<2x2xf32>, memref<2xf32> loc(fused<"next_x">["conv"])
    %r = scf.for %j = %c0 to %c2 step %c1 iter_args(%inner = %outer) -> f32 {
      %a = kernel.load_next %cursor : f32
      %b = kernel.load_next %weights : f32
      %n = math.fma %a, %b, %inner : f32
      scf.yield %n : f32
    }
    scf.yield %r : f32
  }
  memref.store %sum, %y[%c0] : memref<1xf32>
  kernel.return
}
kernel.program @main(%x: memref<2x2xf32> {kernel.onnx_name = "x"}, %w: memref<8xf32> {kernel.onnx_name = "w"},
                %zeros: memref<2xf32> {kernel.onnx_name = "zeros"},
                %y: memref<1xf32> {kernel.onnx_name = "y", kernel.output}) {
  kernel.launch @padded(%x, %w, %zeros, %y) : (memref<2x2xf32>, memref<8xf32>, memref<2xf32>, memref<1xf32>) -> ()
  kernel.return
}

//--- several.mlir
// CHECK-LABEL: void several(
// CHECK: register float x_0 __asm__("s4"), x_1 __asm__("s5");
// CHECK: INGOT_LOAD_2(next_x, x_0, x_1);
// CHECK: y[0] = x_0 * x_1;
kernel.func @several(%x: memref<2xf32> {kernel.name = "x", kernel.read}, %y: memref<1xf32> {kernel.name = "y"}) {
  %c0 = arith.constant 0 : index
  %cursor = kernel.cursor %x[%c0] : memref<2xf32> loc(fused<"next_x">["conv"])
  %v:2 = kernel.load_next %cursor to 4 : f32, f32
  %p = arith.mulf %v#0, %v#1 : f32
  memref.store %p, %y[%c0] : memref<1xf32>
  kernel.return
}
// Values that come from a register are computed before the next load into that
// register.
// CHECK-LABEL: void again(
// CHECK: INGOT_LOAD_2(next_x, x_0, x_1);
// CHECK: const float t0 = x_0 * x_1;
// CHECK: INGOT_LOAD_2(next_x_2, x_0, x_1);
// CHECK: y[0] = x_0 * t0;
kernel.func @again(%x: memref<2xf32> {kernel.name = "x", kernel.read}, %y: memref<1xf32> {kernel.name = "y"}) {
  %c0 = arith.constant 0 : index
  %cursor = kernel.cursor %x[%c0] : memref<2xf32> loc(fused<"next_x">["conv"])
  %v:2 = kernel.load_next %cursor to 4 : f32, f32
  %p = arith.mulf %v#0, %v#1 : f32
  %other = kernel.cursor %x[%c0] : memref<2xf32> loc(fused<"next_x">["conv"])
  %w:2 = kernel.load_next %other to 4 : f32, f32
  %q = arith.mulf %w#0, %p : f32
  memref.store %q, %y[%c0] : memref<1xf32>
  kernel.return
}
kernel.program @main(%x: memref<2xf32> {kernel.onnx_name = "x"}, %y: memref<1xf32> {kernel.onnx_name = "y", kernel.output}) {
  kernel.launch @again(%x, %y) : (memref<2xf32>, memref<1xf32>) -> ()
  kernel.launch @several(%x, %y) : (memref<2xf32>, memref<1xf32>) -> ()
  kernel.return
}

//--- words.mlir
// Groups of bytes are words. The target loads one or two of them with an
// address that advances.
// CHECK-LABEL: void words(
// CHECK: const u8x4 x_0 = u8x4(INGOT_NEXT_WORD(next_x));
// CHECK: u8x4 w_0, w_1;
// CHECK: INGOT_NEXT_WORDS(next_w, w_0, w_1);
// CHECK: INGOT_DOT(uxtb16, x_0, sxtb16, w_0,
// CHECK: INGOT_DOT(uxtb16, x_0, sxtb16, w_1,
kernel.func @words(%x: memref<4xi8> {kernel.name = "x", kernel.read}, %w: memref<8xi8> {kernel.name = "w", kernel.read}, %y: memref<2xi32> {kernel.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %rows = kernel.cursor %x[%c0] : memref<4xi8> loc(fused<"next_x">["conv"])
  %weights = kernel.cursor %w[%c0] : memref<8xi8> loc(fused<"next_w">["conv"])
  %a = kernel.load_next %rows : vector<4xi8> loc(fused<"x_0">["conv"])
  %b:2 = kernel.load_next %weights : vector<4xi8>, vector<4xi8> loc(fused<"w">["conv"])
  %s = kernel.dot unsigned %a, %b#0, %zero : vector<4xi8>, i32
  %t = kernel.dot unsigned %a, %b#1, %zero : vector<4xi8>, i32
  memref.store %s, %y[%c0] : memref<2xi32>
  memref.store %t, %y[%c1] : memref<2xi32>
  kernel.return
}
kernel.program @main(%x: memref<4xi8> {kernel.onnx_name = "x"}, %w: memref<8xi8> {kernel.onnx_name = "w"}, %y: memref<2xi32> {kernel.onnx_name = "y", kernel.output}) {
  kernel.launch @words(%x, %w, %y) : (memref<4xi8>, memref<8xi8>, memref<2xi32>) -> ()
  kernel.return
}
