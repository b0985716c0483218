// RUN: %ingot-opt %s -legalize-expand-operations=target=armv8-a | FileCheck %s
// RUN: %ingot-opt %s -legalize-expand-operations=target=x86-64-v3 | FileCheck %s --check-prefix=NONE
// REQUIRES: ingot-opt

// Comparisons and selects that return NaN if the clamped input is NaN become
// the instructions that return NaN (maximumf, minimumf).
// CHECK-LABEL: @hands_on(
// CHECK: %[[Y:.*]] = arith.maximumf %arg0, %{{.*}} : vector<4xf32>
// CHECK: arith.minimumf %[[Y]], %{{.*}} : vector<4xf32>
// NONE-LABEL: @hands_on(
// NONE-COUNT-2: arith.select
// NONE-NOT: arith.m{{.*}}mumf
func.func @hands_on(%x: vector<4xf32>) -> vector<4xf32> {
  %zero = arith.constant dense<0.0> : vector<4xf32>
  %six = arith.constant dense<6.0> : vector<4xf32>
  %positive = arith.cmpf ogt, %zero, %x : vector<4xf32>
  %y = arith.select %positive, %zero, %x : vector<4xi1>, vector<4xf32>
  %small = arith.cmpf olt, %six, %y : vector<4xf32>
  %z = arith.select %small, %six, %y : vector<4xi1>, vector<4xf32>
  return %z : vector<4xf32>
}

// Comparisons and selects that return the bound if the clamped input is NaN
// become the instructions that return the other operand (maxnumf, minnumf).
// CHECK-LABEL: @takes_bound(
// CHECK: arith.maxnumf %arg0, %{{.*}} : vector<4xf32>
// CHECK: arith.minnumf %{{.*}}, %{{.*}} : vector<4xf32>
func.func @takes_bound(%x: vector<4xf32>) -> vector<4xf32> {
  %zero = arith.constant dense<0.0> : vector<4xf32>
  %six = arith.constant dense<6.0> : vector<4xf32>
  %positive = arith.cmpf ogt, %x, %zero : vector<4xf32>
  %y = arith.select %positive, %x, %zero : vector<4xi1>, vector<4xf32>
  %small = arith.cmpf olt, %y, %six : vector<4xf32>
  %z = arith.select %small, %y, %six : vector<4xi1>, vector<4xf32>
  return %z : vector<4xf32>
}

// A maximum of two unknown operands stays a select: no instruction returns the
// second operand if either operand is NaN.
// CHECK-LABEL: @unknown(
// CHECK: arith.select
// CHECK-NOT: arith.maximumf
func.func @unknown(%x: vector<4xf32>, %y: vector<4xf32>) -> vector<4xf32> {
  %larger = arith.cmpf ogt, %x, %y : vector<4xf32>
  %z = arith.select %larger, %x, %y : vector<4xi1>, vector<4xf32>
  return %z : vector<4xf32>
}

// Scalars stay selects: the target's table of intrinsics has only vector
// instructions.
// CHECK-LABEL: @scalar(
// CHECK: arith.select
func.func @scalar(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %positive = arith.cmpf ogt, %zero, %x : f32
  %y = arith.select %positive, %zero, %x : f32
  return %y : f32
}

// The maximum of a window starts with -inf, so it is never NaN, and an
// instruction that ignores NaN operands gives the same result.
// CHECK-LABEL: @window(
// CHECK: scf.for
// CHECK: arith.maxnumf
// NONE-LABEL: @window(
// NONE: arith.select
func.func @window(%x: memref<16xf32>) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %first = arith.constant dense<0xFF800000> : vector<4xf32>
  %best = scf.for %i = %c0 to %c16 step %c4 iter_args(%old = %first) -> (vector<4xf32>) {
    %next = vector.load %x[%i] : memref<16xf32>, vector<4xf32>
    %larger = arith.cmpf ogt, %next, %old : vector<4xf32>
    %new = arith.select %larger, %next, %old : vector<4xi1>, vector<4xf32>
    scf.yield %new : vector<4xf32>
  }
  return %best : vector<4xf32>
}

// A maximum that starts with an unknown value may be NaN, so it stays a select.
// CHECK-LABEL: @of_unknown(
// CHECK: arith.select
// NONE-LABEL: @of_unknown(
func.func @of_unknown(%x: memref<16xf32>, %first: vector<4xf32>) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %best = scf.for %i = %c0 to %c16 step %c4 iter_args(%old = %first) -> (vector<4xf32>) {
    %next = vector.load %x[%i] : memref<16xf32>, vector<4xf32>
    %larger = arith.cmpf ogt, %next, %old : vector<4xf32>
    %new = arith.select %larger, %next, %old : vector<4xi1>, vector<4xf32>
    scf.yield %new : vector<4xf32>
  }
  return %best : vector<4xf32>
}

// The result of the loop is assumed not to be NaN, which proves wrong. What was
// concluded from this assumption must not be used for the next select (SECOND).
// CHECK-LABEL: @of_wrong_assumption(
// CHECK: scf.for
// CHECK: scf.yield
// CHECK: %[[SECOND:.*]] = arith.select
// CHECK: %[[BOTH:.*]] = arith.maxnumf %{{.*}}, %[[SECOND]]
// CHECK: arith.select %{{.*}}, %arg2, %[[BOTH]]
// NONE-LABEL: @of_wrong_assumption(
func.func @of_wrong_assumption(%x: memref<16xf32>, %first: vector<4xf32>, %y: vector<4xf32>) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %best = scf.for %i = %c0 to %c16 step %c4 iter_args(%old = %first) -> (vector<4xf32>) {
    %next = vector.load %x[%i] : memref<16xf32>, vector<4xf32>
    %larger = arith.cmpf ogt, %next, %old : vector<4xf32>
    %new = arith.select %larger, %next, %old : vector<4xi1>, vector<4xf32>
    scf.yield %new : vector<4xf32>
  }
  %isLess = arith.cmpf ogt, %y, %best : vector<4xf32>
  %second = arith.select %isLess, %y, %best : vector<4xi1>, vector<4xf32>
  %both = arith.maxnumf %best, %second : vector<4xf32>
  %isLarger = arith.cmpf ogt, %y, %both : vector<4xf32>
  %result = arith.select %isLarger, %y, %both : vector<4xi1>, vector<4xf32>
  return %result : vector<4xf32>
}
