// RUN: %ingot-opt %s -legalize-form-halves=target=armv8.2-a+fp16 | FileCheck %s
// RUN: %ingot-opt %s -legalize-form-halves=target=armv8-a | FileCheck %s --check-prefix=WIDE
// RUN: %ingot-opt %s -legalize-form-halves=target=armv8.2-a+fp16 -legalize-outline-math=target=armv8.2-a+fp16 -legalize-expand-math=target=armv8.2-a+fp16 | FileCheck %s --check-prefix=EXPANDED
// REQUIRES: ingot-opt

// The exponential of f16 is a helper function, with one power of two as factor.
// EXPANDED-LABEL: func.func private @exp_or_zero_f16x8(
// EXPANDED-SAME: 0 below e^-10, infinite from e^10.7 on.
// EXPANDED: vector.fma %{{.*}} : vector<8xf16>
// EXPANDED: arith.shli %{{.*}} : vector<8xi16>
// EXPANDED: return %{{.*}} : vector<8xf16>

// An activation is computed in f16 in vectors that are wider than the target's
// vectors of f32, although f16 rounds more often.
// CHECK-LABEL: @activation(
// CHECK: %[[NEG:.*]] = arith.negf %arg0 : vector<8xf16>
// CHECK: %[[EXP:.*]] = math.exp %[[NEG]] fastmath<afn> : vector<8xf16>
// CHECK: %[[SUM:.*]] = arith.addf %[[EXP]], %{{.*}} : vector<8xf16>
// CHECK: %[[Y:.*]] = arith.divf %arg0, %[[SUM]] : vector<8xf16>
// CHECK: return %[[Y]]
// WIDE-LABEL: @activation(
// WIDE: math.exp %{{.*}} fastmath<afn> : vector<8xf32>
func.func @activation(%v: vector<8xf16>) -> vector<8xf16> {
  %one = arith.constant dense<1.0> : vector<8xf32>
  %x = arith.extf %v : vector<8xf16> to vector<8xf32>
  %n = arith.negf %x : vector<8xf32>
  %e = math.exp %n fastmath<afn> : vector<8xf32>
  %d = arith.addf %e, %one : vector<8xf32>
  %q = arith.divf %x, %d : vector<8xf32>
  %r = arith.truncf %q : vector<8xf32> to vector<8xf16>
  return %r : vector<8xf16>
}

// CHECK-LABEL: @narrow_activation(
// CHECK: math.exp %{{.*}} fastmath<afn> : vector<4xf32>
func.func @narrow_activation(%v: vector<4xf16>) -> vector<4xf16> {
  %x = arith.extf %v : vector<4xf16> to vector<4xf32>
  %e = math.exp %x fastmath<afn> : vector<4xf32>
  %r = arith.truncf %e : vector<4xf32> to vector<4xf16>
  return %r : vector<4xf16>
}

// An exact exponential stays in f32.
// CHECK-LABEL: @exact(
// CHECK: math.exp %{{.*}} : vector<8xf32>
func.func @exact(%v: vector<8xf16>) -> vector<8xf16> {
  %x = arith.extf %v : vector<8xf16> to vector<8xf32>
  %e = math.exp %x : vector<8xf32>
  %r = arith.truncf %e : vector<8xf32> to vector<8xf16>
  return %r : vector<8xf16>
}
