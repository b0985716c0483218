// RUN: %ingot-opt %s -legalize-expand-operations=target=x86-64-v3 | FileCheck %s --check-prefix=ROW
// RUN: %ingot-opt %s -legalize-expand-operations=target=armv7-a | FileCheck %s
// RUN: %ingot-opt %s -legalize-expand-operations=target=armv8-a | FileCheck %s --check-prefix=NEON
// REQUIRES: ingot-opt

// The operations of x86's 128-bit blocks (pack, unpack): one instruction on
// x86, other operations elsewhere. Narrowing is a clamp, a truncation and a
// shuffle.
// ROW-LABEL: @signed(
// ROW-NEXT: kernel.narrow_signed
// CHECK-LABEL: @signed(
// CHECK-DAG: arith.constant dense<-32768> : vector<8xi32>
// CHECK-DAG: arith.constant dense<32767> : vector<8xi32>
// CHECK-COUNT-2: arith.trunci %{{.*}} : vector<8xi32> to vector<8xi16>
// CHECK: vector.shuffle %{{.*}} [0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15] : vector<8xi16>, vector<8xi16>
func.func @signed(%x: vector<8xi32>, %y: vector<8xi32>) -> vector<16xi16> {
  %z = kernel.narrow_signed %x, %y : vector<8xi32> to vector<16xi16>
  return %z : vector<16xi16>
}

// ROW-LABEL: @unsigned(
// ROW-NEXT: kernel.narrow_unsigned
// CHECK-LABEL: @unsigned(
// CHECK-DAG: arith.constant dense<0> : vector<8xi16>
// CHECK-DAG: arith.constant dense<255> : vector<8xi16>
// CHECK-COUNT-2: arith.trunci %{{.*}} : vector<8xi16> to vector<8xi8>
// CHECK: vector.shuffle %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] : vector<8xi8>, vector<8xi8>
func.func @unsigned(%x: vector<8xi16>, %y: vector<8xi16>) -> vector<16xi8> {
  %z = kernel.narrow_unsigned %x, %y : vector<8xi16> to vector<16xi8>
  return %z : vector<16xi8>
}

// ROW-LABEL: @zip(
// ROW-NEXT: kernel.zip_low
// ROW-NEXT: kernel.zip_high
// CHECK-LABEL: @zip(
// CHECK: vector.shuffle %arg0, %arg1 [0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27]
// CHECK: vector.shuffle %arg0, %arg1 [4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31]
func.func @zip(%x: vector<16xi16>, %y: vector<16xi16>) -> (vector<16xi16>, vector<16xi16>) {
  %a = kernel.zip_low %x, %y : vector<16xi16>
  %b = kernel.zip_high %x, %y : vector<16xi16>
  return %a, %b : vector<16xi16>, vector<16xi16>
}

// One instruction on 64-bit Arm. Elsewhere, NaN and numbers outside of the
// 32-bit integers are replaced before the conversion.
// NEON-LABEL: @round(
// NEON-NEXT: kernel.round_saturated
// CHECK-LABEL: @round(
// CHECK: arith.cmpf ord, %arg0, %arg0
// CHECK: arith.select
// CHECK: arith.cmpf ogt
// CHECK: arith.cmpf olt
// CHECK: arith.fptosi %{{.*}} : vector<4xf32> to vector<4xi32>
// CHECK: arith.select
func.func @round(%x: vector<4xf32>) -> vector<4xi32> {
  %y = kernel.round_saturated %x : vector<4xf32> to vector<4xi32>
  return %y : vector<4xi32>
}

// NEON-LABEL: @add(
// NEON-NEXT: kernel.add_saturated
// CHECK-LABEL: @add(
// CHECK-DAG: arith.constant dense<-32768> : vector<8xi32>
// CHECK-DAG: arith.constant dense<32767> : vector<8xi32>
// CHECK: arith.addi %{{.*}} : vector<8xi32>
// CHECK: arith.trunci %{{.*}} : vector<8xi32> to vector<8xi16>
func.func @add(%x: vector<8xi16>, %y: vector<8xi16>) -> vector<8xi16> {
  %z = kernel.add_saturated %x, %y : vector<8xi16>
  return %z : vector<8xi16>
}
