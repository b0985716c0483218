// Weights in the source, in an object file and in a weights file give the same
// results. A damaged weights file is rejected. An output with the suffix .o
// contains code and weights.
//
// RUN: rm -rf %t && mkdir -p %t
// RUN: ingot-translate %s --name sum --weights source -o %t/source.cpp
// RUN: %cxx %warnings -DHEADER='"source.h"' -I%t %t/source.cpp %S/Inputs/weights.cpp -o %t/source && %t/source
// RUN: ingot-translate %s --name sum --weights object -o %t/object.cpp
// RUN: %cxx %warnings -DHEADER='"object.h"' -I%t %t/object.cpp %t/object.weights.o %S/Inputs/weights.cpp -o %t/object && %t/object
// RUN: %clangxx %warnings -fPIC -shared -DHEADER='"object.h"' -I%t %t/object.cpp %t/object.weights.o -o %t/libobject.so
// RUN: ingot-translate %s --name sum --weights file -o %t/file.cpp
// RUN: %clangxx %warnings -DHEADER='"file.h"' -DFILE_NAME='"%t/file.weights"' -I%t %t/file.cpp %S/Inputs/weights.cpp -o %t/file && %t/file
// RUN: FileCheck %s --check-prefix=FILE < %t/file.cpp
// RUN: ingot-translate %s --name sum --weights object -o %t/whole.o
// RUN: %cxx %warnings -DHEADER='"whole.h"' -I%t %t/whole.o %S/Inputs/weights.cpp -o %t/whole && %t/whole
// RUN: not ls %t/whole.weights.o
// RUN: llvm-readelf -lS %t/object | FileCheck %s --check-prefix=ELF

// The program's symbols cannot collide with the user's, and its stack is not
// executable.
// ELF: GNU_STACK {{.*}} RW {{ *}}0x

// A table that a kernel reads directly stays in the source.
// FILE: alignas(64) const float table[2] = {
// FILE-NOT: const float w[
// FILE: if (!sum_is_header(io->weights)) return INGOT_ERROR_WEIGHTS;
// FILE: const float *const w = constants_at<float, 0>(weights);
// FILE: const uint8_t *const mask = constants_at<uint8_t, 128>(weights);

module {
  memref.global "private" constant @w : memref<4xf32> = dense<[1.0, 2.0, 4.0, 8.0]>
  memref.global "private" constant @mask : memref<4xi1> = dense<[true, false, true, true]>
  memref.global "private" constant @table : memref<2xf32> = dense<0.5>
  memref.global "private" constant @half : memref<4xbf16> = dense_resource<half>
  kernel.func @sum(%x: memref<4xf32>, %w: memref<4xf32>, %m: memref<4xi1>, %h: memref<4xbf16>, %y: memref<4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %t = memref.get_global @table : memref<2xf32>
    %bias = memref.load %t[%c1] : memref<2xf32>
    scf.for %i = %c0 to %c4 step %c1 {
      %a = memref.load %x[%i] : memref<4xf32>
      %b = memref.load %w[%i] : memref<4xf32>
      %k = memref.load %m[%i] : memref<4xi1>
      %h0 = memref.load %h[%i] : memref<4xbf16>
      %h1 = arith.extf %h0 : bf16 to f32
      %p = arith.mulf %a, %b : f32
      %q = arith.select %k, %p, %h1 : f32
      %s = arith.addf %q, %bias : f32
      memref.store %s, %y[%i] : memref<4xf32>
    }
    kernel.return
  }
  kernel.program @main(%x: memref<4xf32> {kernel.onnx_name = "x"}, %y: memref<4xf32> {kernel.onnx_name = "y", kernel.output}) {
    %w = memref.get_global @w : memref<4xf32>
    %m = memref.get_global @mask : memref<4xi1>
    %h = memref.get_global @half : memref<4xbf16>
    kernel.launch @sum(%x, %w, %m, %h, %y) : (memref<4xf32>, memref<4xf32>, memref<4xi1>, memref<4xbf16>, memref<4xf32>) -> ()
    kernel.return
  }
}
{-#
  dialect_resources: {
    builtin: {
      half: "0x020000000040c03f80c00000"
    }
  }
#-}
