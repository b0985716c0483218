// clang 22 compiles comparisons of vectors with a scalar, and of a vector with
// itself, to instructions of Helium that treat NaN differently. The table of
// intrinsics hides the operand where that matters.
//
// RUN: ingot-translate %s --target cortex-m55 --name splats -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: ingot-translate %s --target cortex-m55 --name splats -o %t.c
// RUN: %clangxx -x c --target=arm-none-eabi -mcpu=cortex-m55 -mfloat-abi=hard -std=c11 -Wall -Wextra -Wpedantic -Werror -c %t.c -o %t.o
// RUN: ingot-translate %s --target armv8-a --name splats -o %t.other.cpp
// RUN: FileCheck %s --check-prefix=OTHER < %t.other.cpp
// OTHER-NOT: INGOT_OPAQUE

module {
  // Exchanged operands would make `<` true for NaN; `>` may be compiled as it is.
  // CHECK-LABEL: void less(
  // CHECK: x0 < INGOT_OPAQUE(
  // CHECK: x0 > 2.0f
  kernel.func @less(%x0: memref<4xf32> {kernel.name = "x"}, %m0: memref<8xi1> {kernel.name = "m"}) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %two = arith.constant dense<2.0> : vector<4xf32>
    %x = vector.load %x0[%c0] : memref<4xf32>, vector<4xf32>
    %less = arith.cmpf olt, %x, %two : vector<4xf32>
    vector.store %less, %m0[%c0] : memref<8xi1>, vector<4xi1>
    %more = arith.cmpf ogt, %x, %two : vector<4xf32>
    vector.store %more, %m0[%c4] : memref<8xi1>, vector<4xi1>
    kernel.return
  }
  // CHECK-LABEL: void is_nan(
  // CHECK: INGOT_IS_NAN(
  kernel.func @is_nan(%x0: memref<4xf32> {kernel.name = "x"}, %m0: memref<4xi1> {kernel.name = "m"}) {
    %c0 = arith.constant 0 : index
    %x = vector.load %x0[%c0] : memref<4xf32>, vector<4xf32>
    %nan = arith.cmpf une, %x, %x : vector<4xf32>
    vector.store %nan, %m0[%c0] : memref<4xi1>, vector<4xi1>
    kernel.return
  }
  // CHECK-LABEL: void relu(
  // CHECK: INGOT_LARGER(f32x4{}, (x0))
  kernel.func @relu(%x0: memref<4xf32> {kernel.name = "x"}) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %x = vector.load %x0[%c0] : memref<4xf32>, vector<4xf32>
    %less = arith.cmpf ogt, %zero, %x : vector<4xf32>
    %y = arith.select %less, %zero, %x : vector<4xi1>, vector<4xf32>
    vector.store %y, %x0[%c0] : memref<4xf32>, vector<4xf32>
    kernel.return
  }

  kernel.program @main(%x: memref<4xf32> {kernel.onnx_name = "x"}, %m: memref<8xi1> {kernel.onnx_name = "m", kernel.output},
      %n: memref<4xi1> {kernel.onnx_name = "n", kernel.output}, %y: memref<4xf32> {kernel.onnx_name = "y", kernel.output}) {
    kernel.launch @less(%x, %m) : (memref<4xf32>, memref<8xi1>) -> ()
    kernel.launch @is_nan(%x, %n) : (memref<4xf32>, memref<4xi1>) -> ()
    kernel.launch @relu(%y) : (memref<4xf32>) -> ()
    kernel.return
  }
}
