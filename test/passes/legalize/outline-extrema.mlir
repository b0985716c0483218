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

// The bits of a float between two limits become a call of a helper function.
// CHECK-LABEL: kernel.func @rounded
// CHECK: %[[X:.*]] = memref.load
// CHECK-NEXT: %[[Y:.*]] = func.call @clamped_bits_f32(%[[X]], %{{.*}}, %{{.*}}) : (f32, f32, f32) -> i32
// CHECK-NEXT: memref.store %[[Y]]
kernel.func @rounded(%x: memref<1xf32>, %y: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %low = arith.constant 12582912.0 : f32
  %high = arith.constant 12583167.0 : f32
  %s = memref.load %x[%c0] : memref<1xf32>
  %more = arith.cmpf ogt, %s, %low : f32
  %0 = arith.select %more, %s, %low : f32
  %less = arith.cmpf olt, %0, %high : f32
  %1 = arith.select %less, %0, %high : f32
  %2 = arith.bitcast %1 : f32 to i32
  memref.store %2, %y[%c0] : memref<1xi32>
  kernel.return
}

// Minimum and maximum of signed indices, which bound loops.
// CHECK-LABEL: kernel.func @limited
// CHECK: %[[M:.*]] = func.call @max_index(%{{.*}}, %{{.*}}) : (index, index) -> index
// CHECK-NEXT: func.call @min_index(%[[M]], %{{.*}}) : (index, index) -> index
kernel.func @limited(%x: memref<9xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nine = arith.constant 9 : index
  %v = arith.constant 0.0 : f32
  scf.for %i = %zero to %nine step %one {
    %a = arith.subi %i, %nine : index
    %more = arith.cmpi sgt, %a, %zero : index
    %0 = arith.select %more, %a, %zero : index
    %less = arith.cmpi slt, %0, %one : index
    %1 = arith.select %less, %0, %one : index
    memref.store %v, %x[%1] : memref<9xf32>
  }
  kernel.return
}
