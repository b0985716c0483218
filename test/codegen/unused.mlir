// Code that printing would omit is removed before printing, so that no unused
// variable is printed.
//
// RUN: ingot-translate %s --legalize | FileCheck %s
// RUN: ingot-translate %s -o %t.cpp && %cxx %warnings -c %t.cpp -o %t.o
// RUN: %clangxx %warnings -c %t.cpp -o %t.o

// Removed: the computation of an index along an axis of size 1, and along an
// axis of stride 0.
// CHECK-LABEL: kernel.func @indices(
// CHECK-NOT: arith.subi
// CHECK: memref.load %{{.*}}[%c0{{.*}}, %arg
// CHECK: memref.load %{{.*}}[%c0{{.*}}, %arg
// CHECK: memref.store %{{.*}}[%arg{{.*}}, %c0{{.*}}]
kernel.func @indices(%x: memref<1x8xf32>, %w: memref<4x8xf32, strided<[0, 1]>>, %y: memref<8x1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %back = arith.subi %c0, %i : index
    %a = memref.load %x[%back, %i] : memref<1x8xf32>
    %b = memref.load %w[%back, %i] : memref<4x8xf32, strided<[0, 1]>>
    %sum = arith.addf %a, %b : f32
    memref.store %sum, %y[%i, %back] : memref<8x1xf32>
  }
  kernel.return
}

// Removed: results of loops and conditionals that nothing reads, and the values
// that these results are computed from.
// CHECK-LABEL: kernel.func @results(
// CHECK-NOT: iter_args
// CHECK-NOT: arith.mulf
// CHECK-NOT: -> (f32)
// CHECK: return
kernel.func @results(%x: memref<8xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %zero) -> f32 {
    %a = memref.load %x[%i] : memref<8xf32>
    %square = arith.mulf %a, %a : f32
    %next = arith.addf %s, %square : f32
    memref.store %a, %y[%i] : memref<8xf32>
    scf.yield %next : f32
  }
  %first = memref.load %x[%c0] : memref<8xf32>
  %small = arith.cmpf olt, %first, %zero : f32
  %picked = scf.if %small -> f32 {
    memref.store %first, %y[%c1] : memref<8xf32>
    %half = arith.mulf %first, %first : f32
    scf.yield %half : f32
  } else {
    scf.yield %zero : f32
  }
  kernel.return
}

kernel.program @main(%x: memref<1x8xf32>, %w: memref<4x8xf32, strided<[0, 1]>>, %y: memref<8x1xf32> {kernel.output},
                %v: memref<8xf32>, %z: memref<8xf32> {kernel.output}) {
  kernel.launch @indices(%x, %w, %y) : (memref<1x8xf32>, memref<4x8xf32, strided<[0, 1]>>, memref<8x1xf32>) -> ()
  kernel.launch @results(%v, %z) : (memref<8xf32>, memref<8xf32>) -> ()
  kernel.return
}
