// Vectors of several widths: masks, selects, shuffles, slices, lanes, bits,
// conversions, reductions, and memory of bools and half floats.
// Inputs/vectors.cpp computes the same lane by lane.
//
// REQUIRES: cpu-avx2
// RUN: ingot-translate %s --target x86-64-v3 --name vectors -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: %cxx %warnings -O2 -fsanitize=undefined -fno-sanitize-recover -include %t.cpp %S/Inputs/vectors.cpp -o %t.g++ && %t.g++
// RUN: %clangxx %warnings -O2 -fsanitize=undefined -fno-sanitize-recover -include %t.cpp %S/Inputs/vectors.cpp -o %t.clang && %t.clang

// CHECK: typedef float f32x8 __attribute__((vector_size(32)));
// CHECK: typedef float f32x8_u __attribute__((vector_size(32), aligned(4), may_alias));

module {
  kernel.func @masks(%a0: memref<8xf32> {kernel.name = "a"}, %b0: memref<8xf32> {kernel.name = "b"}, %d0: memref<8xf64> {kernel.name = "d"}, %y0: memref<32xf32> {kernel.name = "y"}, %m0: memref<16xi1> {kernel.name = "m"}, %t0: memref<8xi1> {kernel.name = "t"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c24 = arith.constant 24 : index
    %c32 = arith.constant 32 : index

    %a = vector.load %a0[%c0] : memref<8xf32>, vector<8xf32>
    %b = vector.load %b0[%c0] : memref<8xf32>, vector<8xf32>
    %d = vector.load %d0[%c0] : memref<8xf64>, vector<8xf64>
    %zero = arith.constant dense<0.0> : vector<8xf32>
    %half = arith.constant dense<0.5> : vector<8xf32>
    %neg0 = arith.constant dense<-0.0> : vector<8xf32>
    %zero64 = arith.constant dense<0.0> : vector<8xf64>
    %lt = arith.cmpf olt, %a, %b : vector<8xf32>
    %gt = arith.cmpf ugt, %a, %half : vector<8xf32>
    %wide = arith.cmpf oge, %d, %zero64 : vector<8xf64>
    %both = arith.andi %lt, %wide : vector<8xi1>
    %any = arith.ori %both, %gt : vector<8xi1>
    %s0 = arith.select %any, %a, %b : vector<8xi1>, vector<8xf32>
    vector.store %s0, %y0[%c0] : memref<32xf32>, vector<8xf32>
    %tt = vector.load %t0[%c0] : memref<8xi1>, vector<8xi1>
    %s1 = arith.select %tt, %neg0, %a : vector<8xi1>, vector<8xf32>
    vector.store %s1, %y0[%c8] : memref<32xf32>, vector<8xf32>
    vector.store %any, %m0[%c0] : memref<16xi1>, vector<8xi1>
    %true = arith.constant dense<true> : vector<8xi1>
    %not = arith.xori %lt, %true : vector<8xi1>
    vector.store %not, %m0[%c8] : memref<16xi1>, vector<8xi1>
    %n = arith.uitofp %lt : vector<8xi1> to vector<8xf32>
    vector.store %n, %y0[%c16] : memref<32xf32>, vector<8xf32>
    %uno = arith.cmpf uno, %a, %b : vector<8xf32>
    %one = arith.cmpf one, %a, %b : vector<8xf32>
    %un = arith.select %uno, %one, %lt : vector<8xi1>, vector<8xi1>
    %s2 = arith.select %un, %half, %zero : vector<8xi1>, vector<8xf32>
    vector.store %s2, %y0[%c24] : memref<32xf32>, vector<8xf32>
    kernel.return
  }
  // A maximum with a constant becomes a single instruction.
  // CHECK-LABEL: void extrema(
  // CHECK: at_f32x8_u(&y[16]) = max_f32x8(f32x8{}, a0);
  // CHECK: f32x8(_mm256_sqrt_ps(
  kernel.func @extrema(%a0: memref<8xf32> {kernel.name = "a"}, %b0: memref<8xf32> {kernel.name = "b"}, %y0: memref<32xf32> {kernel.name = "y"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c24 = arith.constant 24 : index
    %c32 = arith.constant 32 : index

    %a = vector.load %a0[%c0] : memref<8xf32>, vector<8xf32>
    %b = vector.load %b0[%c0] : memref<8xf32>, vector<8xf32>
    %zero = arith.constant dense<0.0> : vector<8xf32>
    %mx = arith.maximumf %a, %b : vector<8xf32>
    vector.store %mx, %y0[%c0] : memref<32xf32>, vector<8xf32>
    %mn = arith.minnumf %a, %b : vector<8xf32>
    vector.store %mn, %y0[%c8] : memref<32xf32>, vector<8xf32>
    %relu = arith.maximumf %a, %zero : vector<8xf32>
    vector.store %relu, %y0[%c16] : memref<32xf32>, vector<8xf32>
    %abs = math.absf %a : vector<8xf32>
    %cs = math.copysign %abs, %b : vector<8xf32>
    %sq = math.sqrt %abs : vector<8xf32>
    %sum = arith.addf %cs, %sq : vector<8xf32>
    vector.store %sum, %y0[%c24] : memref<32xf32>, vector<8xf32>
    kernel.return
  }
  kernel.func @shuffles(%a0: memref<8xf32> {kernel.name = "a"}, %y0: memref<40xf32> {kernel.name = "y"}, %s0: memref<4xf32> {kernel.name = "s"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c24 = arith.constant 24 : index
    %c32 = arith.constant 32 : index

    %a = vector.load %a0[%c0] : memref<8xf32>, vector<8xf32>
    %hi = vector.extract_strided_slice %a {offsets = [4], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
    %rev = vector.shuffle %hi, %hi [3, 2, 1, 0] : vector<4xf32>, vector<4xf32>
    %ins = vector.insert_strided_slice %rev, %a {offsets = [0], strides = [1]} : vector<4xf32> into vector<8xf32>
    vector.store %ins, %y0[%c0] : memref<40xf32>, vector<8xf32>
    %mix = vector.shuffle %a, %ins [0, 8, 1, 9, 2, 10, 3, 11] : vector<8xf32>, vector<8xf32>
    vector.store %mix, %y0[%c8] : memref<40xf32>, vector<8xf32>
    %e = vector.extract %a[5] : f32 from vector<8xf32>
    %put = vector.insert %e, %a [2] : f32 into vector<8xf32>
    vector.store %put, %y0[%c16] : memref<40xf32>, vector<8xf32>
    %el = vector.from_elements %e, %e, %e, %e : vector<4xf32>
    vector.store %el, %y0[%c24] : memref<40xf32>, vector<4xf32>
    %one = vector.extract_strided_slice %a {offsets = [7], sizes = [1], strides = [1]} : vector<8xf32> to vector<1xf32>
    %one2 = arith.addf %one, %one : vector<1xf32>
    vector.store %one2, %y0[%c32] : memref<40xf32>, vector<1xf32>
    %dyn = vector.extract %a[%c3] : f32 from vector<8xf32>
    memref.store %dyn, %s0[%c0] : memref<4xf32>
    %sum = vector.reduction <add>, %a : vector<8xf32> into f32
    memref.store %sum, %s0[%c1] : memref<4xf32>
    %max = vector.reduction <maximumf>, %a, %sum : vector<8xf32> into f32
    memref.store %max, %s0[%c2] : memref<4xf32>
    %bc = vector.broadcast %e : f32 to vector<8xf32>
    %p = vector.reduction <mul>, %bc : vector<8xf32> into f32
    memref.store %p, %s0[%c3] : memref<4xf32>
    kernel.return
  }
  kernel.func @integers(%a0: memref<16xi8> {kernel.name = "a"}, %b0: memref<16xi8> {kernel.name = "b"}, %s0: memref<1xi8> {kernel.name = "s"}, %y0: memref<48xi8> {kernel.name = "y"}, %w0: memref<16xi32> {kernel.name = "w"}, %f0: memref<16xf32> {kernel.name = "f"}, %q0: memref<16xi8> {kernel.name = "q"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c24 = arith.constant 24 : index
    %c32 = arith.constant 32 : index

    %a = vector.load %a0[%c0] : memref<16xi8>, vector<16xi8>
    %b = vector.load %b0[%c0] : memref<16xi8>, vector<16xi8>
    %s = memref.load %s0[%c0] : memref<1xi8>
    %sv = vector.broadcast %s : i8 to vector<16xi8>
    %k = arith.constant dense<-3> : vector<16xi8>
    %ab = arith.addi %a, %b : vector<16xi8>
    %abk = arith.muli %ab, %k : vector<16xi8>
    %abs = arith.subi %abk, %sv : vector<16xi8>
    vector.store %abs, %y0[%c0] : memref<48xi8>, vector<16xi8>
    %mx = arith.maxsi %a, %b : vector<16xi8>
    vector.store %mx, %y0[%c16] : memref<48xi8>, vector<16xi8>
    %two = arith.constant dense<2> : vector<16xi8>
    %sh = arith.shrsi %a, %two : vector<16xi8>
    %x = arith.xori %sh, %b : vector<16xi8>
    vector.store %x, %y0[%c32] : memref<48xi8>, vector<16xi8>
    %aw = arith.extsi %a : vector<16xi8> to vector<16xi32>
    %bw = arith.extui %b : vector<16xi8> to vector<16xi32>
    %p = arith.muli %aw, %bw : vector<16xi32>
    vector.store %p, %w0[%c0] : memref<16xi32>, vector<16xi32>
    %fp = arith.sitofp %p : vector<16xi32> to vector<16xf32>
    vector.store %fp, %f0[%c0] : memref<16xf32>, vector<16xf32>
    %t = arith.trunci %p : vector<16xi32> to vector<16xi8>
    %lt = arith.cmpi slt, %a, %b : vector<16xi8>
    %ltw = arith.extui %lt : vector<16xi1> to vector<16xi8>
    %tt = arith.addi %t, %ltw : vector<16xi8>
    vector.store %tt, %q0[%c0] : memref<16xi8>, vector<16xi8>
    kernel.return
  }
  kernel.func @halves(%h0: memref<8xf16> {kernel.name = "h"}, %y0: memref<8xf32> {kernel.name = "y"}, %b0: memref<8xbf16> {kernel.name = "b"}, %d0: memref<4xf64> {kernel.name = "d"}, %g0: memref<4xf32> {kernel.name = "g"}, %i0: memref<8xi32> {kernel.name = "i"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c24 = arith.constant 24 : index
    %c32 = arith.constant 32 : index

    %h = vector.load %h0[%c0] : memref<8xf16>, vector<8xf16>
    %w = arith.extf %h : vector<8xf16> to vector<8xf32>
    vector.store %w, %y0[%c0] : memref<8xf32>, vector<8xf32>
    %b = arith.truncf %w : vector<8xf32> to vector<8xbf16>
    vector.store %b, %b0[%c0] : memref<8xbf16>, vector<8xbf16>
    %d = vector.load %d0[%c0] : memref<4xf64>, vector<4xf64>
    %g = arith.truncf %d : vector<4xf64> to vector<4xf32>
    vector.store %g, %g0[%c0] : memref<4xf32>, vector<4xf32>
    %i = arith.fptosi %w : vector<8xf32> to vector<8xi32>
    vector.store %i, %i0[%c0] : memref<8xi32>, vector<8xi32>
    kernel.return
  }
  kernel.program @main(%masks_a: memref<8xf32> {kernel.onnx_name = "masks_a"},
      %masks_b: memref<8xf32> {kernel.onnx_name = "masks_b"},
      %masks_d: memref<8xf64> {kernel.onnx_name = "masks_d"},
      %masks_y: memref<32xf32> {kernel.onnx_name = "masks_y", kernel.output},
      %masks_m: memref<16xi1> {kernel.onnx_name = "masks_m", kernel.output},
      %masks_t: memref<8xi1> {kernel.onnx_name = "masks_t"},
      %extrema_a: memref<8xf32> {kernel.onnx_name = "extrema_a"},
      %extrema_b: memref<8xf32> {kernel.onnx_name = "extrema_b"},
      %extrema_y: memref<32xf32> {kernel.onnx_name = "extrema_y", kernel.output},
      %shuffles_a: memref<8xf32> {kernel.onnx_name = "shuffles_a"},
      %shuffles_y: memref<40xf32> {kernel.onnx_name = "shuffles_y", kernel.output},
      %shuffles_s: memref<4xf32> {kernel.onnx_name = "shuffles_s", kernel.output},
      %integers_a: memref<16xi8> {kernel.onnx_name = "integers_a"},
      %integers_b: memref<16xi8> {kernel.onnx_name = "integers_b"},
      %integers_s: memref<1xi8> {kernel.onnx_name = "integers_s"},
      %integers_y: memref<48xi8> {kernel.onnx_name = "integers_y", kernel.output},
      %integers_w: memref<16xi32> {kernel.onnx_name = "integers_w", kernel.output},
      %integers_f: memref<16xf32> {kernel.onnx_name = "integers_f", kernel.output},
      %integers_q: memref<16xi8> {kernel.onnx_name = "integers_q", kernel.output},
      %halves_h: memref<8xf16> {kernel.onnx_name = "halves_h"},
      %halves_y: memref<8xf32> {kernel.onnx_name = "halves_y", kernel.output},
      %halves_b: memref<8xbf16> {kernel.onnx_name = "halves_b", kernel.output},
      %halves_d: memref<4xf64> {kernel.onnx_name = "halves_d"},
      %halves_g: memref<4xf32> {kernel.onnx_name = "halves_g", kernel.output},
      %halves_i: memref<8xi32> {kernel.onnx_name = "halves_i", kernel.output}) {
    kernel.launch @masks(%masks_a, %masks_b, %masks_d, %masks_y, %masks_m, %masks_t) : (memref<8xf32>, memref<8xf32>, memref<8xf64>, memref<32xf32>, memref<16xi1>, memref<8xi1>) -> ()
    kernel.launch @extrema(%extrema_a, %extrema_b, %extrema_y) : (memref<8xf32>, memref<8xf32>, memref<32xf32>) -> ()
    kernel.launch @shuffles(%shuffles_a, %shuffles_y, %shuffles_s) : (memref<8xf32>, memref<40xf32>, memref<4xf32>) -> ()
    kernel.launch @integers(%integers_a, %integers_b, %integers_s, %integers_y, %integers_w, %integers_f, %integers_q) : (memref<16xi8>, memref<16xi8>, memref<1xi8>, memref<48xi8>, memref<16xi32>, memref<16xf32>, memref<16xi8>) -> ()
    kernel.launch @halves(%halves_h, %halves_y, %halves_b, %halves_d, %halves_g, %halves_i) : (memref<8xf16>, memref<8xf32>, memref<8xbf16>, memref<4xf64>, memref<4xf32>, memref<8xi32>) -> ()
    kernel.return
  }
}
