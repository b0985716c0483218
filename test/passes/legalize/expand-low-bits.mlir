// RUN: %ingot-opt %s -legalize-expand-operations=target=x86-64-v4 | FileCheck %s --check-prefix=ROW
// RUN: %ingot-opt %s -legalize-expand-operations=target=x86-64-v3 | FileCheck %s
// REQUIRES: ingot-opt

// The conversion of the low bits of an integer to float: x86-64-v4 has a table
// lookup in a register for vectors. Other targets, and scalars, use a mask and
// a conversion.
// ROW-LABEL: @vector(
// ROW-NEXT: kernel.low_bits 4 of
// CHECK-LABEL: @vector(
// CHECK: %[[MASK:.*]] = arith.constant dense<15> : vector<16xi32>
// CHECK: %[[NUMBER:.*]] = arith.andi %arg0, %[[MASK]]
// CHECK: arith.sitofp %[[NUMBER]] : vector<16xi32> to vector<16xf32>
func.func @vector(%x: vector<16xi32>) -> vector<16xf32> {
  %f = kernel.low_bits 4 of %x : vector<16xi32> to vector<16xf32>
  return %f : vector<16xf32>
}

// ROW-LABEL: @scalar(
// ROW: %[[MASK:.*]] = arith.constant 3 : i32
// ROW: %[[NUMBER:.*]] = arith.andi %arg0, %[[MASK]]
// ROW: arith.sitofp %[[NUMBER]] : i32 to f32
func.func @scalar(%x: i32) -> f32 {
  %f = kernel.low_bits 2 of %x : i32 to f32
  return %f : f32
}
