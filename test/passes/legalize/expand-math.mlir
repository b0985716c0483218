// RUN: %ingot-opt %s -legalize-expand-math | FileCheck %s
// REQUIRES: ingot-opt

// No library function is left, for scalars or vectors; square roots stay.
// CHECK-LABEL: @only_arithmetic
// CHECK-NOT: math.{{[^s]}}
// CHECK: math.sqrt
// CHECK-NOT: math.
func.func @only_arithmetic(%x: f32, %v: vector<8xf32>, %d: f64) -> (f32, vector<8xf32>, f64, f32) {
  %0 = math.exp %x : f32
  %1 = math.tanh %v : vector<8xf32>
  %2 = math.powf %d, %d : f64
  %3 = math.sqrt %x : f32
  return %0, %1, %2, %3 : f32, vector<8xf32>, f64, f32
}

// A sum of products is one operation on vectors. For scalars, the compiler of
// the generated code contracts it.
// CHECK-LABEL: @fma
// CHECK: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK: vector.fma
func.func @fma(%x: f32, %v: vector<8xf32>) -> (f32, vector<8xf32>) {
  %0 = math.fma %x, %x, %x : f32
  %1 = math.fma %v, %v, %v : vector<8xf32>
  return %0, %1 : f32, vector<8xf32>
}

// Powers with small constant exponents become products.
// CHECK-LABEL: @square
// CHECK: %[[Y:.*]] = arith.mulf %arg0, %arg0
// CHECK-NEXT: return %[[Y]]
func.func @square(%x: f32) -> f32 {
  %two = arith.constant 2.0 : f32
  %y = math.powf %x, %two : f32
  return %y : f32
}

// Narrow floats are computed in f32.
// CHECK-LABEL: @half
// CHECK: arith.extf %arg0 : f16 to f32
// CHECK: arith.truncf {{.*}} : f32 to f16
func.func @half(%x: f16) -> f16 {
  %y = math.exp %x : f16
  return %y : f16
}

// A loop computes the remainder, so that it is exact for any quotient; for
// vectors, the loop runs until every lane is done.
// CHECK-LABEL: @remainder
// CHECK: scf.while
// CHECK: vector.reduction <add>
func.func @remainder(%x: vector<4xf32>, %y: vector<4xf32>) -> vector<4xf32> {
  %r = arith.remf %x, %y : vector<4xf32>
  return %r : vector<4xf32>
}

// The argument of an exponential that may be 0 (fastmath<afn>) is only bounded
// from above; if it is too small, 0 is selected.
// CHECK-LABEL: @exp_or_zero
// CHECK: arith.cmpf ogt
// CHECK-NOT: arith.cmpf
// CHECK: vector.fma
// CHECK: arith.shli
// CHECK: arith.cmpf olt
// CHECK: arith.select
// CHECK-NEXT: return
func.func @exp_or_zero(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.exp %x fastmath<afn> : vector<8xf32>
  return %y : vector<8xf32>
}
