// Programs that cannot be printed are rejected before printing, with the
// reason.
//
// RUN: split-file %s %t
// RUN: not ingot-translate %t/op.mlir 2>&1 | FileCheck %s --check-prefix=OP
// RUN: not ingot-translate %t/lanes.mlir 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not ingot-translate %t/constant.mlir 2>&1 | FileCheck %s --check-prefix=CONST
// RUN: not ingot-translate %t/lanes.mlir --target none 2>&1 | FileCheck %s --check-prefix=TARGET

// OP: error: 'arith.mulsi_extended' op has no spelling in C for target generic
// LANES: is a vector whose lanes are not a power of two
// CONST: writes to operand 0, which is constant
// TARGET: no target is called 'none'

//--- op.mlir
kernel.func @k(%y: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %x = memref.load %y[%c0] : memref<1xi32>
  %low, %high = arith.mulsi_extended %x, %x : i32
  memref.store %high, %y[%c0] : memref<1xi32>
  kernel.return
}
kernel.program @main(%y: memref<1xi32> {kernel.output}) {
  kernel.launch @k(%y) : (memref<1xi32>) -> ()
  kernel.return
}

//--- lanes.mlir
kernel.func @k(%y: memref<12xf32>) {
  %c0 = arith.constant 0 : index
  %x = vector.load %y[%c0] : memref<12xf32>, vector<12xf32>
  vector.store %x, %y[%c0] : memref<12xf32>, vector<12xf32>
  kernel.return
}
kernel.program @main(%y: memref<12xf32> {kernel.output}) {
  kernel.launch @k(%y) : (memref<12xf32>) -> ()
  kernel.return
}

//--- constant.mlir
kernel.func @k(%y: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  memref.store %one, %y[%c0] : memref<1xf32>
  kernel.return
}
kernel.program @main(%x: memref<1xf32>) {
  kernel.launch @k(%x) : (memref<1xf32>) -> ()
  kernel.return
}
