// Conversions of small floats: every code of a format is widened, and many f32
// values are narrowed. Inputs/small-floats.cpp compares the results with the
// definition of the formats.
//
// RUN: ingot-translate %s --name small -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: %cxx %warnings -O1 -fsanitize=undefined -fno-sanitize-recover -include %t.cpp %S/Inputs/small-floats.cpp -o %t.g++ && %t.g++
// RUN: %clangxx %warnings -O1 -fsanitize=undefined -fno-sanitize-recover -include %t.cpp %S/Inputs/small-floats.cpp -o %t.clang && %t.clang

// CHECK-NOT: immintrin
// CHECK-LABEL: void widen_f16(const uint16_t *__restrict
// CHECK: f32_of_bits(
module {
  kernel.func @widen_f16(%x: memref<65536xf16>, %y: memref<65536xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 65536 : index
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %x[%i] : memref<65536xf16>
      %b = arith.extf %a : f16 to f32
      memref.store %b, %y[%i] : memref<65536xf32>
    }
    kernel.return
  }
  kernel.func @narrow_f16(%x: memref<65536xf32>, %y: memref<65536xf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 65536 : index
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %x[%i] : memref<65536xf32>
      %b = arith.truncf %a : f32 to f16
      memref.store %b, %y[%i] : memref<65536xf16>
    }
    kernel.return
  }
  kernel.func @narrow64_f16(%x: memref<65536xf64>, %y: memref<65536xf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 65536 : index
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %x[%i] : memref<65536xf64>
      %b = arith.truncf %a : f64 to f16
      memref.store %b, %y[%i] : memref<65536xf16>
    }
    kernel.return
  }
  kernel.func @widen_bf16(%x: memref<65536xbf16>, %y: memref<65536xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 65536 : index
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %x[%i] : memref<65536xbf16>
      %b = arith.extf %a : bf16 to f32
      memref.store %b, %y[%i] : memref<65536xf32>
    }
    kernel.return
  }
  kernel.func @narrow_bf16(%x: memref<65536xf32>, %y: memref<65536xbf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 65536 : index
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %x[%i] : memref<65536xf32>
      %b = arith.truncf %a : f32 to bf16
      memref.store %b, %y[%i] : memref<65536xbf16>
    }
    kernel.return
  }
  kernel.func @narrow64_bf16(%x: memref<65536xf64>, %y: memref<65536xbf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 65536 : index
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %x[%i] : memref<65536xf64>
      %b = arith.truncf %a : f64 to bf16
      memref.store %b, %y[%i] : memref<65536xbf16>
    }
    kernel.return
  }
  kernel.func @widen_f8E5M2(%x: memref<256xf8E5M2>, %y: memref<256xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 256 : index
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %x[%i] : memref<256xf8E5M2>
      %b = arith.extf %a : f8E5M2 to f32
      memref.store %b, %y[%i] : memref<256xf32>
    }
    kernel.return
  }
  kernel.func @narrow_f8E5M2(%x: memref<65536xf32>, %y: memref<65536xf8E5M2>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 65536 : index
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %x[%i] : memref<65536xf32>
      %b = arith.truncf %a : f32 to f8E5M2
      memref.store %b, %y[%i] : memref<65536xf8E5M2>
    }
    kernel.return
  }
  kernel.func @widen_f8E4M3FN(%x: memref<256xf8E4M3FN>, %y: memref<256xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 256 : index
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %x[%i] : memref<256xf8E4M3FN>
      %b = arith.extf %a : f8E4M3FN to f32
      memref.store %b, %y[%i] : memref<256xf32>
    }
    kernel.return
  }
  kernel.func @narrow_f8E4M3FN(%x: memref<65536xf32>, %y: memref<65536xf8E4M3FN>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 65536 : index
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %x[%i] : memref<65536xf32>
      %b = arith.truncf %a : f32 to f8E4M3FN
      memref.store %b, %y[%i] : memref<65536xf8E4M3FN>
    }
    kernel.return
  }
  kernel.func @widen_f8E4M3FNUZ(%x: memref<256xf8E4M3FNUZ>, %y: memref<256xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 256 : index
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %x[%i] : memref<256xf8E4M3FNUZ>
      %b = arith.extf %a : f8E4M3FNUZ to f32
      memref.store %b, %y[%i] : memref<256xf32>
    }
    kernel.return
  }
  kernel.func @narrow_f8E4M3FNUZ(%x: memref<65536xf32>, %y: memref<65536xf8E4M3FNUZ>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 65536 : index
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %x[%i] : memref<65536xf32>
      %b = arith.truncf %a : f32 to f8E4M3FNUZ
      memref.store %b, %y[%i] : memref<65536xf8E4M3FNUZ>
    }
    kernel.return
  }
  kernel.func @widen_f8E5M2FNUZ(%x: memref<256xf8E5M2FNUZ>, %y: memref<256xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 256 : index
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %x[%i] : memref<256xf8E5M2FNUZ>
      %b = arith.extf %a : f8E5M2FNUZ to f32
      memref.store %b, %y[%i] : memref<256xf32>
    }
    kernel.return
  }
  kernel.func @narrow_f8E5M2FNUZ(%x: memref<65536xf32>, %y: memref<65536xf8E5M2FNUZ>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 65536 : index
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %x[%i] : memref<65536xf32>
      %b = arith.truncf %a : f32 to f8E5M2FNUZ
      memref.store %b, %y[%i] : memref<65536xf8E5M2FNUZ>
    }
    kernel.return
  }
  kernel.func @widen_f4E2M1FN(%x: memref<16xf4E2M1FN>, %y: memref<16xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 16 : index
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %x[%i] : memref<16xf4E2M1FN>
      %b = arith.extf %a : f4E2M1FN to f32
      memref.store %b, %y[%i] : memref<16xf32>
    }
    kernel.return
  }
  kernel.func @narrow_f4E2M1FN(%x: memref<65536xf32>, %y: memref<65536xf4E2M1FN>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 65536 : index
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %x[%i] : memref<65536xf32>
      %b = arith.truncf %a : f32 to f4E2M1FN
      memref.store %b, %y[%i] : memref<65536xf4E2M1FN>
    }
    kernel.return
  }
  kernel.func @widen_f8E8M0FNU(%x: memref<256xf8E8M0FNU>, %y: memref<256xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 256 : index
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %x[%i] : memref<256xf8E8M0FNU>
      %b = arith.extf %a : f8E8M0FNU to f32
      memref.store %b, %y[%i] : memref<256xf32>
    }
    kernel.return
  }
  kernel.func @narrow_f8E8M0FNU(%x: memref<65536xf32>, %y: memref<65536xf8E8M0FNU>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 65536 : index
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %x[%i] : memref<65536xf32>
      %b = arith.truncf %a : f32 to f8E8M0FNU
      memref.store %b, %y[%i] : memref<65536xf8E8M0FNU>
    }
    kernel.return
  }
  // Arithmetic is done in f32 and rounded once.
  // CHECK-LABEL: void add_f16(
  kernel.func @add_f16(%x: memref<2xf16>, %y: memref<4xf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %a = memref.load %x[%c0] : memref<2xf16>
    %b = memref.load %x[%c1] : memref<2xf16>
    %s = arith.addf %a, %b : f16
    memref.store %s, %y[%c0] : memref<4xf16>
    %lt = arith.cmpf olt, %a, %b : f16
    %m = arith.select %lt, %a, %b : f16
    memref.store %m, %y[%c1] : memref<4xf16>
    %k = arith.constant 1.5 : f16
    memref.store %k, %y[%c2] : memref<4xf16>
    %mx = arith.maximumf %a, %k : f16
    memref.store %mx, %y[%c3] : memref<4xf16>
    kernel.return
  }
  kernel.program @main(%i0: memref<65536xf16> {kernel.onnx_name = "widen_f16_in"}, %o0: memref<65536xf32> {kernel.onnx_name = "widen_f16_out", kernel.output},
      %i1: memref<65536xf32> {kernel.onnx_name = "narrow_f16_in"}, %o1: memref<65536xf16> {kernel.onnx_name = "narrow_f16_out", kernel.output},
      %i2: memref<65536xf64> {kernel.onnx_name = "narrow64_f16_in"}, %o2: memref<65536xf16> {kernel.onnx_name = "narrow64_f16_out", kernel.output},
      %i3: memref<65536xbf16> {kernel.onnx_name = "widen_bf16_in"}, %o3: memref<65536xf32> {kernel.onnx_name = "widen_bf16_out", kernel.output},
      %i4: memref<65536xf32> {kernel.onnx_name = "narrow_bf16_in"}, %o4: memref<65536xbf16> {kernel.onnx_name = "narrow_bf16_out", kernel.output},
      %i5: memref<65536xf64> {kernel.onnx_name = "narrow64_bf16_in"}, %o5: memref<65536xbf16> {kernel.onnx_name = "narrow64_bf16_out", kernel.output},
      %i6: memref<256xf8E5M2> {kernel.onnx_name = "widen_f8E5M2_in"}, %o6: memref<256xf32> {kernel.onnx_name = "widen_f8E5M2_out", kernel.output},
      %i7: memref<65536xf32> {kernel.onnx_name = "narrow_f8E5M2_in"}, %o7: memref<65536xf8E5M2> {kernel.onnx_name = "narrow_f8E5M2_out", kernel.output},
      %i8: memref<256xf8E4M3FN> {kernel.onnx_name = "widen_f8E4M3FN_in"}, %o8: memref<256xf32> {kernel.onnx_name = "widen_f8E4M3FN_out", kernel.output},
      %i9: memref<65536xf32> {kernel.onnx_name = "narrow_f8E4M3FN_in"}, %o9: memref<65536xf8E4M3FN> {kernel.onnx_name = "narrow_f8E4M3FN_out", kernel.output},
      %i10: memref<256xf8E4M3FNUZ> {kernel.onnx_name = "widen_f8E4M3FNUZ_in"}, %o10: memref<256xf32> {kernel.onnx_name = "widen_f8E4M3FNUZ_out", kernel.output},
      %i11: memref<65536xf32> {kernel.onnx_name = "narrow_f8E4M3FNUZ_in"}, %o11: memref<65536xf8E4M3FNUZ> {kernel.onnx_name = "narrow_f8E4M3FNUZ_out", kernel.output},
      %i12: memref<256xf8E5M2FNUZ> {kernel.onnx_name = "widen_f8E5M2FNUZ_in"}, %o12: memref<256xf32> {kernel.onnx_name = "widen_f8E5M2FNUZ_out", kernel.output},
      %i13: memref<65536xf32> {kernel.onnx_name = "narrow_f8E5M2FNUZ_in"}, %o13: memref<65536xf8E5M2FNUZ> {kernel.onnx_name = "narrow_f8E5M2FNUZ_out", kernel.output},
      %i14: memref<16xf4E2M1FN> {kernel.onnx_name = "widen_f4E2M1FN_in"}, %o14: memref<16xf32> {kernel.onnx_name = "widen_f4E2M1FN_out", kernel.output},
      %i15: memref<65536xf32> {kernel.onnx_name = "narrow_f4E2M1FN_in"}, %o15: memref<65536xf4E2M1FN> {kernel.onnx_name = "narrow_f4E2M1FN_out", kernel.output},
      %i16: memref<256xf8E8M0FNU> {kernel.onnx_name = "widen_f8E8M0FNU_in"}, %o16: memref<256xf32> {kernel.onnx_name = "widen_f8E8M0FNU_out", kernel.output},
      %i17: memref<65536xf32> {kernel.onnx_name = "narrow_f8E8M0FNU_in"}, %o17: memref<65536xf8E8M0FNU> {kernel.onnx_name = "narrow_f8E8M0FNU_out", kernel.output},
      %x: memref<2xf16> {kernel.onnx_name = "x"}, %y: memref<4xf16> {kernel.onnx_name = "y", kernel.output}) {
    kernel.launch @widen_f16(%i0, %o0) : (memref<65536xf16>, memref<65536xf32>) -> ()
    kernel.launch @narrow_f16(%i1, %o1) : (memref<65536xf32>, memref<65536xf16>) -> ()
    kernel.launch @narrow64_f16(%i2, %o2) : (memref<65536xf64>, memref<65536xf16>) -> ()
    kernel.launch @widen_bf16(%i3, %o3) : (memref<65536xbf16>, memref<65536xf32>) -> ()
    kernel.launch @narrow_bf16(%i4, %o4) : (memref<65536xf32>, memref<65536xbf16>) -> ()
    kernel.launch @narrow64_bf16(%i5, %o5) : (memref<65536xf64>, memref<65536xbf16>) -> ()
    kernel.launch @widen_f8E5M2(%i6, %o6) : (memref<256xf8E5M2>, memref<256xf32>) -> ()
    kernel.launch @narrow_f8E5M2(%i7, %o7) : (memref<65536xf32>, memref<65536xf8E5M2>) -> ()
    kernel.launch @widen_f8E4M3FN(%i8, %o8) : (memref<256xf8E4M3FN>, memref<256xf32>) -> ()
    kernel.launch @narrow_f8E4M3FN(%i9, %o9) : (memref<65536xf32>, memref<65536xf8E4M3FN>) -> ()
    kernel.launch @widen_f8E4M3FNUZ(%i10, %o10) : (memref<256xf8E4M3FNUZ>, memref<256xf32>) -> ()
    kernel.launch @narrow_f8E4M3FNUZ(%i11, %o11) : (memref<65536xf32>, memref<65536xf8E4M3FNUZ>) -> ()
    kernel.launch @widen_f8E5M2FNUZ(%i12, %o12) : (memref<256xf8E5M2FNUZ>, memref<256xf32>) -> ()
    kernel.launch @narrow_f8E5M2FNUZ(%i13, %o13) : (memref<65536xf32>, memref<65536xf8E5M2FNUZ>) -> ()
    kernel.launch @widen_f4E2M1FN(%i14, %o14) : (memref<16xf4E2M1FN>, memref<16xf32>) -> ()
    kernel.launch @narrow_f4E2M1FN(%i15, %o15) : (memref<65536xf32>, memref<65536xf4E2M1FN>) -> ()
    kernel.launch @widen_f8E8M0FNU(%i16, %o16) : (memref<256xf8E8M0FNU>, memref<256xf32>) -> ()
    kernel.launch @narrow_f8E8M0FNU(%i17, %o17) : (memref<65536xf32>, memref<65536xf8E8M0FNU>) -> ()
    kernel.launch @add_f16(%x, %y) : (memref<2xf16>, memref<4xf16>) -> ()
    kernel.return
  }
}
