// Square roots without an instruction: bit for bit equal to those of the
// machine, over all exponents, denormals and special values.
//
// RUN: ingot-translate %s --name roots -o %t.cpp
// RUN: %cxx %warnings -O2 -fsanitize=undefined -fno-sanitize-recover -include %t.cpp %S/Inputs/sqrt.cpp -o %t.g++ && %t.g++
// RUN: %clangxx %warnings -O2 -include %t.cpp %S/Inputs/sqrt.cpp -o %t.clang && %t.clang
// RUN: ingot-translate %s --name roots --target x86-64-v3 | FileCheck %s

// CHECK: _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x[i])))
module {
  kernel.func @single(%x: memref<65536xf32> {kernel.name = "x"}, %y: memref<65536xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 65536 : index
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %x[%i] : memref<65536xf32>
      %b = math.sqrt %a : f32
      memref.store %b, %y[%i] : memref<65536xf32>
    }
    kernel.return
  }
  kernel.func @double(%x: memref<65536xf64>, %y: memref<65536xf64>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 65536 : index
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.load %x[%i] : memref<65536xf64>
      %b = math.sqrt %a : f64
      memref.store %b, %y[%i] : memref<65536xf64>
    }
    kernel.return
  }
  kernel.program @main(%x: memref<65536xf32> {kernel.onnx_name = "x"}, %y: memref<65536xf32> {kernel.onnx_name = "y", kernel.output},
                  %a: memref<65536xf64> {kernel.onnx_name = "a"}, %b: memref<65536xf64> {kernel.onnx_name = "b", kernel.output}) {
    kernel.launch @single(%x, %y) : (memref<65536xf32>, memref<65536xf32>) -> ()
    kernel.launch @double(%a, %b) : (memref<65536xf64>, memref<65536xf64>) -> ()
    kernel.return
  }
}
