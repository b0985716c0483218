// RUN: %ingot-opt %s -legalize-outline-extrema | FileCheck %s
// REQUIRES: ingot-opt

// A comparison and a select in either order of the operands become a call of a
// helper function, which gives the same result if an operand is NaN.
// CHECK: func.func private @max_f32(%[[A:.*]]: f32 {kernel.name = "a"}, %[[B:.*]]: f32 {kernel.name = "b"}) -> f32
// CHECK-NEXT: %[[C:.*]] = arith.cmpf ogt, %[[A]], %[[B]]
// CHECK-NEXT: %[[M:.*]] = arith.select %[[C]], %[[A]], %[[B]]
// CHECK-NEXT: return %[[M]]
// CHECK-LABEL: kernel.func @relu
// CHECK: %[[X:.*]] = memref.load
// CHECK-NEXT: call @max_f32(%{{.*}}, %[[X]])
// CHECK-NOT: arith.cmpf
kernel.func @relu(%x: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %s = memref.load %x[%c0] : memref<1xf32>
  %less = arith.cmpf olt, %s, %zero : f32
  %0 = arith.select %less, %zero, %s : f32
  memref.store %0, %x[%c0] : memref<1xf32>
  kernel.return
}

// Calls whose results are not read are removed.
// CHECK-LABEL: kernel.func @unread
// CHECK-NEXT: kernel.return
kernel.func @unread(%x: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %s = memref.load %x[%c0] : memref<1xf32>
  %more = arith.cmpf ogt, %s, %zero : f32
  %0 = arith.select %more, %s, %zero : f32
  kernel.return
}

// The upper half of a 64-bit product becomes a call of a helper function with
// 32-bit operands, one of which may be a constant.
// CHECK-LABEL: kernel.func @scaled
// CHECK: %[[M:.*]] = arith.constant 1374389504 : i32
// CHECK: %[[X:.*]] = memref.load
// CHECK: %[[Y:.*]] = func.call @mul_high_i32(%[[X]], %[[M]])
// CHECK-NEXT: memref.store %[[Y]]
kernel.func @scaled(%x: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %m = arith.constant 1374389504 : i64
  %bits = arith.constant 32 : i64
  %s = memref.load %x[%c0] : memref<1xi32>
  %wide = arith.extsi %s : i32 to i64
  %product = arith.muli %wide, %m : i64
  %upper = arith.shrsi %product, %bits : i64
  %y = arith.trunci %upper : i64 to i32
  memref.store %y, %x[%c0] : memref<1xi32>
  kernel.return
}
