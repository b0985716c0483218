// RUN: %ingot-opt %s -legalize-outline-extrema | FileCheck %s
// RUN: %ingot-opt %s -legalize-outline-extrema="target=hexagon-v67" | FileCheck %s --check-prefix=NAN
// RUN: %ingot-opt %s -legalize-outline-extrema="target=cortex-m55" | FileCheck %s --check-prefix=SPLAT
// REQUIRES: ingot-opt

// A comparison and a select in either order of the operands become a call of a
// helper function, which gives the same result if an operand is NaN.
// CHECK: func.func private @max_f32(%[[A:.*]]: f32 {kernel.name = "a"}, %[[B:.*]]: f32 {kernel.name = "b"}) -> f32
// CHECK-NEXT: %[[C:.*]] = arith.cmpf ogt, %[[A]], %[[B]]
// CHECK-NEXT: %[[M:.*]] = arith.select %[[C]], %[[A]], %[[B]]
// CHECK-NEXT: return %[[M]]
//
// If the target's compiler drops NaN, the function tests the operand that is
// the result if the operands are unordered.
// NAN: func.func private @max_f32(%[[A:.*]]: f32 {kernel.name = "a"}, %[[B:.*]]: f32 {kernel.name = "b"}) -> f32
// NAN-NEXT: %[[C:.*]] = arith.cmpf ogt, %[[A]], %[[B]]
// NAN-NEXT: %[[M:.*]] = arith.select %[[C]], %[[A]], %[[B]]
// NAN-NEXT: %[[N:.*]] = arith.cmpf une, %[[B]], %[[B]]
// NAN-NEXT: %[[K:.*]] = arith.select %[[N]], %[[B]], %[[M]]
// NAN-NEXT: return %[[K]]
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

// Other comparisons of two floats whose larger or smaller one is selected: the
// first operand is the result if the comparison is true for NaN. A constant is
// no NaN, so that it is not tested.
// CHECK-LABEL: kernel.func @orders
// CHECK-NOT: arith.cmpf une
// NAN-LABEL: kernel.func @orders
// NAN: %[[X:.*]] = memref.load
// NAN: %[[Y:.*]] = memref.load
// NAN: arith.cmpf ole, %[[X]], %[[Y]]
// NAN-NEXT: %[[S0:.*]] = arith.select %{{.*}}, %[[X]], %[[Y]]
// NAN-NEXT: %[[N0:.*]] = arith.cmpf une, %[[Y]], %[[Y]]
// NAN-NEXT: arith.select %[[N0]], %[[Y]], %[[S0]]
// NAN: arith.cmpf ugt, %[[X]], %[[Y]]
// NAN-NEXT: %[[S1:.*]] = arith.select %{{.*}}, %[[X]], %[[Y]]
// NAN-NEXT: %[[N1:.*]] = arith.cmpf une, %[[X]], %[[X]]
// NAN-NEXT: arith.select %[[N1]], %[[X]], %[[S1]]
// NAN: arith.cmpf oge
// NAN-NOT: arith.cmpf une
// NAN: kernel.return
kernel.func @orders(%x: memref<5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %a = memref.load %x[%c0] : memref<5xf32>
  %b = memref.load %x[%c1] : memref<5xf32>
  %le = arith.cmpf ole, %a, %b : f32
  %0 = arith.select %le, %a, %b : f32
  memref.store %0, %x[%c0] : memref<5xf32>
  %gt = arith.cmpf ugt, %a, %b : f32
  %1 = arith.select %gt, %a, %b : f32
  memref.store %1, %x[%c1] : memref<5xf32>
  %ge = arith.cmpf oge, %a, %zero : f32
  %2 = arith.select %ge, %a, %zero : f32
  memref.store %2, %x[%c2] : memref<5xf32>
  kernel.return
}

// A vector and zero stay a comparison and a select for a target whose table has
// an entry for it; limits of what is never NaN do not.
// CHECK-LABEL: kernel.func @of_splat
// CHECK: call @max_f32x4
// SPLAT-LABEL: kernel.func @of_splat
// SPLAT: arith.cmpf ogt
// SPLAT-NEXT: %[[Y:.*]] = arith.select
// SPLAT: %[[Z:.*]] = func.call @max_f32x4
// SPLAT: func.call @min_f32x4(%[[Z]]
kernel.func @of_splat(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<4xf32>
  %six = arith.constant dense<6.0> : vector<4xf32>
  %s = vector.load %x[%c0] : memref<8xf32>, vector<4xf32>
  %more = arith.cmpf ogt, %zero, %s : vector<4xf32>
  %0 = arith.select %more, %zero, %s : vector<4xi1>, vector<4xf32>
  vector.store %0, %x[%c0] : memref<8xf32>, vector<4xf32>
  %t = vector.load %x[%c4] : memref<8xf32>, vector<4xf32>
  %above = arith.cmpf ogt, %t, %zero : vector<4xf32>
  %1 = arith.select %above, %t, %zero : vector<4xi1>, vector<4xf32>
  %below = arith.cmpf olt, %1, %six : vector<4xf32>
  %2 = arith.select %below, %1, %six : vector<4xi1>, vector<4xf32>
  vector.store %2, %x[%c4] : memref<8xf32>, vector<4xf32>
  kernel.return
}
