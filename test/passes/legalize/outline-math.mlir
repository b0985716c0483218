// RUN: %ingot-opt %s -legalize-outline-math | FileCheck %s
// REQUIRES: ingot-opt

// An exponential that may be 0 (fastmath<afn>) is a different helper function
// from one that may not.
// CHECK: func.func private @exp_or_zero_f32(
// CHECK-SAME: kernel.comment = "e^x, within 2.5 + |x| units in the last place; 0 below e^-80, infinite from e^88.4 on."
// CHECK-NEXT: math.exp %{{.*}} fastmath<afn>

// There is one helper function for each operation and type, which is called
// wherever the operation is used.
// CHECK: func.func private @exp_f32x8(%[[X:.*]]: vector<8xf32> {kernel.name = "x"}) -> vector<8xf32>
// CHECK-SAME: kernel.comment = "e^x, within 2.5 units in the last place."
// CHECK-NEXT: %[[Y:.*]] = math.exp %[[X]]
// CHECK-NEXT: return %[[Y]]
// CHECK: func.func private @exp_f32(
// CHECK-LABEL: kernel.func @called
// CHECK-COUNT-2: call @exp_f32(
// CHECK: call @exp_f32x8(
kernel.func @called(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %s = memref.load %x[%c0] : memref<8xf32>
  %v = vector.load %x[%c0] : memref<8xf32>, vector<8xf32>
  %0 = math.exp %s : f32
  %1 = math.exp %0 : f32
  %2 = math.exp %v : vector<8xf32>
  vector.store %2, %x[%c0] : memref<8xf32>, vector<8xf32>
  memref.store %1, %x[%c0] : memref<8xf32>
  kernel.return
}

// A power with a constant exponent is not outlined: it becomes multiplications
// where it is used.
// CHECK-LABEL: kernel.func @square
// CHECK-NOT: call
// CHECK: math.powf
kernel.func @square(%x: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %two = arith.constant 2.0 : f32
  %s = memref.load %x[%c0] : memref<1xf32>
  %0 = math.powf %s, %two : f32
  memref.store %0, %x[%c0] : memref<1xf32>
  kernel.return
}

// CHECK-LABEL: kernel.func @or_zero
// CHECK: call @exp_f32(
// CHECK: call @exp_or_zero_f32(
kernel.func @or_zero(%x: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %s = memref.load %x[%c0] : memref<1xf32>
  %0 = math.exp %s : f32
  %1 = math.exp %0 fastmath<afn> : f32
  memref.store %1, %x[%c0] : memref<1xf32>
  kernel.return
}
