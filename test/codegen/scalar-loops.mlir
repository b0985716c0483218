// A loop that C++ compilers must not vectorize has a pragma.
//
// RUN: ingot-translate %s --name net --target cortex-m55 -o %t.cpp && FileCheck %s < %t.cpp

// CHECK-LABEL: void by_column(
// CHECK: for (ptrdiff_t
// CHECK-NEXT: #pragma clang loop vectorize(disable)
// CHECK-NEXT: for (ptrdiff_t
kernel.func @by_column(%x: memref<16x32xf32>, %y: memref<32x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %c32 step %c1 {
    scf.for %j = %c0 to %c16 step %c1 {
      %v = memref.load %x[%j, %i] : memref<16x32xf32>
      memref.store %v, %y[%i, %j] : memref<32x16xf32>
    } {kernel.scalar}
  }
  kernel.return
}

kernel.program @main(%x: memref<16x32xf32> {kernel.onnx_name = "x"},
                     %y: memref<32x16xf32> {kernel.onnx_name = "y", kernel.output}) {
  kernel.launch @by_column(%x, %y) : (memref<16x32xf32>, memref<32x16xf32>) -> ()
  kernel.return
}
