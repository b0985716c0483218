// RUN: %ingot-opt %s -legalize-outline-extrema | FileCheck %s
// REQUIRES: ingot-opt

// Of both orders of the operands; a NaN gives what the comparison gave.
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

// Calls that nothing reads are dropped.
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
