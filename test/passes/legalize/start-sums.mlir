// RUN: %ingot-opt %s -legalize-expand-operations=target=generic | FileCheck %s
// REQUIRES: ingot-opt
// Sums of products that start at zero start with the first product instead.

// CHECK-LABEL: kernel.func @vectors
// CHECK: %[[FIRST:.*]] = arith.mulf %{{.*}}, %{{.*}} : vector<4xf32>
// CHECK: vector.fma %{{.*}}, %{{.*}}, %[[FIRST]]
kernel.func @vectors(%x: memref<4xf32> {kernel.read}, %w: memref<8xf32> {kernel.read}, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<4xf32>
  %a = vector.load %x[%c0] : memref<4xf32>, vector<4xf32>
  %b = vector.load %w[%c0] : memref<8xf32>, vector<4xf32>
  %c = vector.load %w[%c4] : memref<8xf32>, vector<4xf32>
  %first = vector.fma %a, %b, %zero : vector<4xf32>
  %sum = vector.fma %a, %c, %first : vector<4xf32>
  vector.store %sum, %y[%c0] : memref<4xf32>, vector<4xf32>
  kernel.return
}

// A sum of products that starts with another value than zero is not changed.
// CHECK-LABEL: kernel.func @bias
// CHECK: math.fma
kernel.func @bias(%x: memref<2xf32> {kernel.read}, %y: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %a = memref.load %x[%c0] : memref<2xf32>
  %b = memref.load %x[%c1] : memref<2xf32>
  %sum = math.fma %a, %b, %one : f32
  memref.store %sum, %y[%c0] : memref<1xf32>
  kernel.return
}
