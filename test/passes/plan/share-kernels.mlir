// RUN: split-file %s %t
// RUN: %ingot-opt %t/shapes.mlir -plan-share-kernels | FileCheck %s --check-prefix=SHAPES
// RUN: %ingot-opt %t/factors.mlir -plan-share-kernels | FileCheck %s --check-prefix=FACTORS
// RUN: %ingot-opt %t/others.mlir -plan-share-kernels | FileCheck %s --check-prefix=OTHERS
// RUN: %ingot-opt %t/parallel.mlir -plan-share-kernels | FileCheck %s --check-prefix=PARALLEL
// RUN: %ingot-opt %t/scales.mlir -plan-share-kernels | FileCheck %s --check-prefix=SCALES
// REQUIRES: ingot-opt

// Two kernels for different shapes become one function: integers that differ
// become arguments after the buffers, named after their meaning; equal integers
// stay. Views become index arithmetic. The comment names the nodes of both
// kernels. An argument may alias if it may in one of the kernels. The order of
// commutative operands does not matter.
// SHAPES-NOT: @plus_8x4
// SHAPES: kernel.func @plus(%[[X:[a-z0-9]*]]: memref<?xf32> {kernel.may_alias, kernel.name = "x", kernel.read}, %[[Y:[a-z0-9]*]]: memref<?xf32> {kernel.name = "y"},
// SHAPES-SAME: %[[N:[a-z0-9]*]]: index {kernel.name = "count"}, %[[M:[a-z0-9]*]]: index {kernel.name = "count"})
// SHAPES-SAME: comment = "A: 8x4\0AB: 6x5"
// SHAPES: scf.for %[[I:.*]] = %c0 to %{{.*}} step %c1
// SHAPES: scf.for %[[J:.*]] = %c0 to %{{.*}} step %c1
// SHAPES: %[[ROW:.*]] = arith.muli %[[I]], %{{.*}} : index
// SHAPES: %[[AT:.*]] = arith.addi %[[ROW]], %[[J]] : index
// SHAPES: memref.load %[[X]][%[[AT]]] : memref<?xf32>
// SHAPES: %[[NEXT:.*]] = arith.addi %{{.*}}, %c1
// SHAPES: memref.store %{{.*}}, %[[Y]][%{{.*}}] : memref<?xf32>
// SHAPES: kernel.launch @plus(%{{.*}}, %{{.*}}) {values = array<i64: 4, 8>} : (memref<8x4xf32>, memref<33xf32>) -> ()
// SHAPES: kernel.launch @plus(%{{.*}}, %{{.*}}) {values = array<i64: 5, 6>} : (memref<6x5xf32>, memref<31xf32>) -> ()
//--- shapes.mlir
kernel.func @plus_8x4(%x: memref<8x4xf32> {kernel.name = "x", kernel.read}, %y: memref<33xf32> {kernel.name = "y"}) attributes {comment = "A: 8x4"} {
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %v = kernel.view %y at 4 : memref<33xf32> to memref<8x4xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %a = memref.load %x[%i, %j] : memref<8x4xf32>
      %b = arith.addf %a, %one : f32
      memref.store %b, %v[%i, %j] : memref<8x4xf32>
    }
  }
  kernel.return
}
kernel.func @plus_6x5(%x: memref<6x5xf32> {kernel.name = "x", kernel.read, kernel.may_alias}, %y: memref<31xf32> {kernel.name = "y"}) attributes {comment = "B: 6x5"} {
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %v = kernel.view %y at 4 : memref<31xf32> to memref<6x5xf32>
  scf.for %i = %c0 to %c6 step %c1 {
    scf.for %j = %c0 to %c5 step %c1 {
      %a = memref.load %x[%i, %j] : memref<6x5xf32>
      %b = arith.addf %one, %a : f32
      memref.store %b, %v[%i, %j] : memref<6x5xf32>
    }
  }
  kernel.return
}
kernel.program @main(%a: memref<8x4xf32>, %b: memref<6x5xf32>, %c: memref<33xf32>, %d: memref<31xf32>) {
  kernel.launch @plus_8x4(%a, %c) : (memref<8x4xf32>, memref<33xf32>) -> ()
  kernel.launch @plus_6x5(%b, %d) : (memref<6x5xf32>, memref<31xf32>) -> ()
  kernel.return
}

// An integer that is a multiple of another argument in each kernel, or the
// product of two arguments, is computed from them instead of passed.
// FACTORS: kernel.func @fill(%{{.*}}: memref<?xf32>, %[[N:.*]]: index {kernel.name = "count"}, %[[M:.*]]: index {kernel.name = "count"})
// FACTORS: %[[THREE:.*]] = arith.muli %[[N]], %c3
// FACTORS: %[[ALL:.*]] = arith.muli %[[N]], %[[M]]
// FACTORS: kernel.launch @fill(%{{.*}}) {values = array<i64: 5, 7>}
// FACTORS: kernel.launch @fill(%{{.*}}) {values = array<i64: 6, 11>}
//--- factors.mlir
kernel.func @fill_100(%x: memref<100xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %c15 = arith.constant 15 : index
  %c35 = arith.constant 35 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c5 step %c1 {
    %at = arith.addi %i, %c15 : index
    memref.store %one, %x[%at] : memref<100xf32>
  }
  scf.for %i = %c0 to %c7 step %c1 {
    %at = arith.addi %i, %c35 : index
    memref.store %one, %x[%at] : memref<100xf32>
  }
  kernel.return
}
kernel.func @fill_200(%x: memref<200xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c11 = arith.constant 11 : index
  %c18 = arith.constant 18 : index
  %c66 = arith.constant 66 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c6 step %c1 {
    %at = arith.addi %i, %c18 : index
    memref.store %one, %x[%at] : memref<200xf32>
  }
  scf.for %i = %c0 to %c11 step %c1 {
    %at = arith.addi %i, %c66 : index
    memref.store %one, %x[%at] : memref<200xf32>
  }
  kernel.return
}
kernel.program @main(%a: memref<100xf32>, %b: memref<200xf32>) {
  kernel.launch @fill_100(%a) : (memref<100xf32>) -> ()
  kernel.launch @fill_200(%b) : (memref<200xf32>) -> ()
  kernel.return
}

// Kernels that differ in a float, in an operation or in the width of a vector
// stay separate and keep their shapes. So do kernels that are too small to take
// arguments.
// OTHERS-DAG: kernel.func @scale_8(%{{.*}}: memref<8xf32>)
// OTHERS-DAG: kernel.func @scale_16(%{{.*}}: memref<16xf32>)
// OTHERS-DAG: kernel.func @wide_16(%{{.*}}: memref<16xf32>)
// OTHERS-DAG: kernel.func @set_3(%{{.*}}: memref<3xf32>)
// OTHERS-DAG: kernel.func @set_5(%{{.*}}: memref<5xf32>)
// OTHERS-NOT: memref<?
//--- others.mlir
kernel.func @scale_8(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %by = arith.constant 2.0 : f32
  %all = vector.broadcast %by : f32 to vector<2xf32>
  scf.for %i = %c0 to %c8 step %c2 {
    %a = vector.load %x[%i] : memref<8xf32>, vector<2xf32>
    %b = arith.mulf %a, %all : vector<2xf32>
    vector.store %b, %x[%i] : memref<8xf32>, vector<2xf32>
  }
  kernel.return
}
kernel.func @scale_16(%x: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %by = arith.constant 3.0 : f32
  %all = vector.broadcast %by : f32 to vector<2xf32>
  scf.for %i = %c0 to %c16 step %c2 {
    %a = vector.load %x[%i] : memref<16xf32>, vector<2xf32>
    %b = arith.mulf %a, %all : vector<2xf32>
    vector.store %b, %x[%i] : memref<16xf32>, vector<2xf32>
  }
  kernel.return
}
kernel.func @wide_16(%x: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %by = arith.constant 3.0 : f32
  %all = vector.broadcast %by : f32 to vector<4xf32>
  scf.for %i = %c0 to %c16 step %c4 {
    %a = vector.load %x[%i] : memref<16xf32>, vector<4xf32>
    %b = arith.mulf %a, %all : vector<4xf32>
    vector.store %b, %x[%i] : memref<16xf32>, vector<4xf32>
  }
  kernel.return
}
kernel.func @set_3(%x: memref<3xf32>) {
  %at = arith.constant 2 : index
  %one = arith.constant 1.0 : f32
  memref.store %one, %x[%at] : memref<3xf32>
  kernel.return
}
kernel.func @set_5(%x: memref<5xf32>) {
  %at = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  memref.store %one, %x[%at] : memref<5xf32>
  kernel.return
}
kernel.program @main(%a: memref<8xf32>, %b: memref<16xf32>, %c: memref<3xf32>, %d: memref<5xf32>) {
  kernel.launch @scale_8(%a) : (memref<8xf32>) -> ()
  kernel.launch @scale_16(%b) : (memref<16xf32>) -> ()
  kernel.launch @wide_16(%b) : (memref<16xf32>) -> ()
  kernel.launch @set_3(%c) : (memref<3xf32>) -> ()
  kernel.launch @set_5(%d) : (memref<5xf32>) -> ()
  kernel.return
}

// Integer arguments come before the bounds of the parallel loop, which stay the
// last arguments. Cursors into shared buffers compute their addresses from
// strides, like loads.
// PARALLEL: kernel.func @sum(%[[X:[a-z0-9]*]]: memref<?xf32>, %[[Z:[a-z0-9]*]]: memref<?xf32>, %[[S:[a-z0-9]*]]: index {kernel.name = "buffer_stride"}, %[[B:[a-z0-9]*]]: index, %[[E:[a-z0-9]*]]: index)
// PARALLEL: scf.for %[[I:.*]] = %[[B]] to %[[E]]
// PARALLEL: %[[AT:.*]] = arith.muli %[[I]], %[[S]]
// PARALLEL: kernel.cursor %[[X]][%[[AT]]] if %{{.*}} else %[[Z]] : memref<?xf32>, memref<?xf32>
// PARALLEL: kernel.launch @sum(%{{.*}}) {values = array<i64: 8>}
// PARALLEL: kernel.launch @sum(%{{.*}}) {values = array<i64: 9>}
//--- parallel.mlir
kernel.func @sum_8(%x: memref<4x8xf32>, %z: memref<8xf32>, %b: index, %e: index) attributes {extent = 4 : index} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %b to %e step %c1 {
    %is = arith.cmpi ult, %i, %c3 : index
    %p = kernel.cursor %x[%i, %c0] if %is else %z : memref<4x8xf32>, memref<8xf32>
    %v = kernel.load_next %p : f32
    memref.store %v, %z[%c0] : memref<8xf32>
  }
  kernel.return
}
kernel.func @sum_9(%x: memref<4x9xf32>, %z: memref<9xf32>, %b: index, %e: index) attributes {extent = 4 : index} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %b to %e step %c1 {
    %is = arith.cmpi ult, %i, %c3 : index
    %p = kernel.cursor %x[%i, %c0] if %is else %z : memref<4x9xf32>, memref<9xf32>
    %v = kernel.load_next %p : f32
    memref.store %v, %z[%c0] : memref<9xf32>
  }
  kernel.return
}
kernel.program @main(%a: memref<4x8xf32>, %b: memref<4x9xf32>, %c: memref<8xf32>, %d: memref<9xf32>) {
  kernel.launch @sum_8(%a, %c) : (memref<4x8xf32>, memref<8xf32>) -> ()
  kernel.launch @sum_9(%b, %d) : (memref<4x9xf32>, memref<9xf32>) -> ()
  kernel.return
}

// Kernels that requantize with different left shifts or addends take them as
// arguments; an addend that is equal in all kernels stays. A right shift is
// part of an instruction, so kernels with different right shifts stay separate.
// SCALES: kernel.func @scaled(%{{.*}}: memref<?xi32> {kernel.name = "x"}, %[[S:[a-z0-9_]*]]: index {kernel.name = "left_shift"})
// SCALES: %[[SHIFT:.*]] = arith.index_cast %[[S]] : index to i32
// SCALES: arith.shli %{{.*}}, %[[SHIFT]] : i32
// SCALES: arith.addi %{{.*}}, %c100_i32 : i32
// SCALES: kernel.func @other_4
// SCALES: kernel.launch @scaled(%{{.*}}) {values = array<i64: 2>}
// SCALES: kernel.launch @scaled(%{{.*}}) {values = array<i64: 3>}
// SCALES: kernel.launch @other_4(
//--- scales.mlir
kernel.func @scaled_2(%x: memref<4xi32> {kernel.name = "x"}) {
  %c0 = arith.constant 0 : index
  %left = arith.constant 2 : i32
  %addend = arith.constant 100 : i32
  %right = arith.constant 10 : i32
  %v = memref.load %x[%c0] : memref<4xi32>
  %a = arith.shli %v, %left : i32
  %b = arith.addi %a, %addend : i32
  %c = arith.shrsi %b, %right : i32
  memref.store %c, %x[%c0] : memref<4xi32>
  kernel.return
}
kernel.func @scaled_3(%x: memref<4xi32> {kernel.name = "x"}) {
  %c0 = arith.constant 0 : index
  %left = arith.constant 3 : i32
  %right = arith.constant 10 : i32
  %addend = arith.constant 100 : i32
  %v = memref.load %x[%c0] : memref<4xi32>
  %a = arith.shli %v, %left : i32
  %b = arith.addi %a, %addend : i32
  %c = arith.shrsi %b, %right : i32
  memref.store %c, %x[%c0] : memref<4xi32>
  kernel.return
}
kernel.func @other_4(%x: memref<4xi32> {kernel.name = "x"}) {
  %c0 = arith.constant 0 : index
  %left = arith.constant 3 : i32
  %addend = arith.constant 100 : i32
  %right = arith.constant 9 : i32
  %v = memref.load %x[%c0] : memref<4xi32>
  %a = arith.shli %v, %left : i32
  %b = arith.addi %a, %addend : i32
  %c = arith.shrsi %b, %right : i32
  memref.store %c, %x[%c0] : memref<4xi32>
  kernel.return
}
kernel.program @main(%a: memref<4xi32>) {
  kernel.launch @scaled_2(%a) : (memref<4xi32>) -> ()
  kernel.launch @scaled_3(%a) : (memref<4xi32>) -> ()
  kernel.launch @other_4(%a) : (memref<4xi32>) -> ()
  kernel.return
}
