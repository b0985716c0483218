// Integers narrower than int, and literals, have another type in C than in the
// IR.
//
// RUN: ingot-translate %s --name net --target x86-64-v3 -o %t.cpp && FileCheck %s < %t.cpp

// A shift has the type of its left operand: a literal would be an int.
// CHECK-LABEL: void shifted(
// CHECK: uint64_t(1u) << uint64_t(in0[i])
kernel.func @shifted(%x: memref<4xi64>, %y: memref<4xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1 : i64
  scf.for %i = %c0 to %c4 step %c1 {
    %n = memref.load %x[%i] : memref<4xi64>
    %v = arith.shli %one, %n : i64
    memref.store %v, %y[%i] : memref<4xi64>
  }
  kernel.return
}

// The sign extension stays, since -1 is 4294967295 as an unsigned number.
// CHECK-LABEL: void converted(
// CHECK: float(uint32_t(
kernel.func @converted(%x: memref<4xi8>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %n = memref.load %x[%i] : memref<4xi8>
    %w = arith.extsi %n : i8 to i32
    %v = arith.uitofp %w : i32 to f32
    memref.store %v, %y[%i] : memref<4xf32>
  }
  kernel.return
}

// A minus sign belongs to the first term of a sum only.
// CHECK-LABEL: void indices(
// CHECK: in0[i + (-3 - i_2)]
kernel.func @indices(%x: memref<16xf32>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  %m3 = arith.constant -3 : index
  scf.for %j = %c8 to %c12 step %c1 {
    scf.for %i = %c0 to %c4 step %c1 {
      %a = arith.subi %m3, %i : index
      %k = arith.addi %j, %a : index
      %v = memref.load %x[%k] : memref<16xf32>
      memref.store %v, %y[%i] : memref<4xf32>
    }
  }
  kernel.return
}

kernel.program @main(%a: memref<4xi64> {kernel.onnx_name = "a", kernel.onnx_type = "uint64"},
                     %b: memref<4xi8> {kernel.onnx_name = "b"}, %c: memref<16xf32> {kernel.onnx_name = "c"},
                     %p: memref<4xi64> {kernel.onnx_name = "p", kernel.onnx_type = "uint64", kernel.output},
                     %q: memref<4xf32> {kernel.onnx_name = "q", kernel.output}, %r: memref<4xf32> {kernel.onnx_name = "r", kernel.output}) {
  kernel.launch @shifted(%a, %p) : (memref<4xi64>, memref<4xi64>) -> ()
  kernel.launch @converted(%b, %q) : (memref<4xi8>, memref<4xf32>) -> ()
  kernel.launch @indices(%c, %r) : (memref<16xf32>, memref<4xf32>) -> ()
  kernel.return
}
