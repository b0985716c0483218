// RUN: %ingot-opt %s -legalize-form-halves=target=armv8.2-a+fp16 -legalize-expand-operations=target=armv8.2-a+fp16 | FileCheck %s
// RUN: %ingot-opt %s -legalize-form-halves=target=armv8-a -legalize-expand-operations=target=armv8-a | FileCheck %s --check-prefix=WIDE
// REQUIRES: ingot-opt

// A sum of two f16 that is clamped and rounded to f16 is computed in f16, which
// has the same result.
// CHECK-LABEL: @sum(
// CHECK: %[[SUM:.*]] = arith.addf %arg0, %arg1 : vector<8xf16>
// CHECK: %[[LOW:.*]] = arith.maximumf %[[SUM]], %{{.*}} : vector<8xf16>
// CHECK: %[[BOTH:.*]] = arith.minimumf %[[LOW]], %{{.*}} : vector<8xf16>
// CHECK: return %[[BOTH]]
// WIDE-LABEL: @sum(
// WIDE: arith.addf {{.*}} : vector<8xf32>
func.func @sum(%v: vector<8xf16>, %w: vector<8xf16>) -> vector<8xf16> {
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<6.0> : vector<8xf32>
  %x = arith.extf %v : vector<8xf16> to vector<8xf32>
  %y = arith.extf %w : vector<8xf16> to vector<8xf32>
  %s = arith.addf %x, %y : vector<8xf32>
  %below = arith.cmpf olt, %s, %low : vector<8xf32>
  %p = arith.select %below, %low, %s : vector<8xi1>, vector<8xf32>
  %above = arith.cmpf ogt, %p, %high : vector<8xf32>
  %q = arith.select %above, %high, %p : vector<8xi1>, vector<8xf32>
  %r = arith.truncf %q : vector<8xf32> to vector<8xf16>
  return %r : vector<8xf16>
}

// Three f16 are added in f32: rounding twice would not be the same.
// CHECK-LABEL: @sums(
// CHECK-COUNT-2: arith.addf %{{.*}} : vector<4xf32>
// CHECK: return
func.func @sums(%v: vector<4xf16>) -> vector<4xf16> {
  %x = arith.extf %v : vector<4xf16> to vector<4xf32>
  %s = arith.addf %x, %x : vector<4xf32>
  %t = arith.addf %s, %x : vector<4xf32>
  %r = arith.truncf %t : vector<4xf32> to vector<4xf16>
  return %r : vector<4xf16>
}
