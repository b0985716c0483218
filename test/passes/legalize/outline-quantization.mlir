// RUN: %ingot-opt %s -legalize-outline-quantization | FileCheck %s
// REQUIRES: ingot-opt

// CHECK: func.func private @mul_high_i32(%[[A:.*]]: i32 {kernel.name = "a"}, %[[B:.*]]: i32 {kernel.name = "b"}) -> i32
// CHECK-NEXT: %[[P:.*]] = kernel.mul_high %[[A]], %[[B]]
// CHECK-NEXT: return %[[P]]

// The scaling and limiting of a sum become two calls.
// CHECK: func.func private @clamp_i32(
// CHECK: func.func private @requantize_i32(
// CHECK: call @mul_high_i32(
// CHECK-LABEL: kernel.func @scaled
// CHECK: %[[S:.*]] = memref.load
// CHECK-NEXT: %[[R:.*]] = func.call @requantize_i32(%[[S]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
// CHECK-NEXT: %[[C:.*]] = func.call @clamp_i32(%[[R]], %{{.*}}, %{{.*}})
// CHECK-NEXT: memref.store %[[C]]
kernel.func @scaled(%x: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %left = arith.constant 4 : i32
  %m = arith.constant 1374389504 : i32
  %offset = arith.constant 512 : i32
  %right = arith.constant 10 : i32
  %low = arith.constant 0 : i32
  %high = arith.constant 255 : i32
  %s = memref.load %x[%c0] : memref<1xi32>
  %a = arith.shli %s, %left : i32
  %b = kernel.mul_high %a, %m : i32
  %c = arith.addi %b, %offset : i32
  %d = arith.shrsi %c, %right : i32
  %e = arith.maxsi %d, %low : i32
  %f = arith.minsi %e, %high : i32
  memref.store %f, %x[%c0] : memref<1xi32>
  kernel.return
}

// The upper half of a 64-bit product becomes a call of a helper function with
// 32-bit operands, one of which may be a constant.
// CHECK-LABEL: kernel.func @product
// CHECK: %[[M:.*]] = arith.constant 1374389504 : i32
// CHECK: %[[X:.*]] = memref.load
// CHECK: %[[Y:.*]] = func.call @mul_high_i32(%[[X]], %[[M]])
// CHECK-NEXT: memref.store %[[Y]]
kernel.func @product(%x: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %m = arith.constant 1374389504 : i32
  %s = memref.load %x[%c0] : memref<1xi32>
  %y = kernel.mul_high %s, %m : i32
  memref.store %y, %x[%c0] : memref<1xi32>
  kernel.return
}
