// Buffers without elements are never named in the code, and may be null.
//
// RUN: ingot-translate %s | FileCheck %s
// RUN: ingot-translate %s -o %t.cpp && %cxx %warnings -c %t.cpp -o %t.o

// CHECK: out0[1] = in0[0];
// CHECK: if (!io || !io->output1) return INGOT_ERROR_NULL;
// CHECK: k(io->input0, io->output1);
kernel.func @k(%x: memref<2x0x4xf32>, %y: memref<2x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  memref.store %one, %y[%c0, %c1] : memref<2x4xf32>
  scf.for %i = %c0 to %c0 step %c1 {
    %a = memref.load %x[%c0, %i, %c0] : memref<2x0x4xf32>
    memref.store %a, %y[%c0, %c1] : memref<2x4xf32>
  }
  kernel.return
}
kernel.program @main(%x: memref<2x0x4xf32>, %y: memref<2x4xf32> {kernel.output}, %z: memref<0xf32> {kernel.output}) {
  kernel.launch @k(%x, %y) : (memref<2x0x4xf32>, memref<2x4xf32>) -> ()
  kernel.return
}
