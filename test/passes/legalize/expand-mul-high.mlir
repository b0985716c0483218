// RUN: %ingot-opt %s -legalize-expand-operations=target=hexagon-v67 | FileCheck %s
// RUN: %ingot-opt %s -legalize-expand-operations=target=cortex-m4 | FileCheck %s --check-prefix=CORES
// REQUIRES: ingot-opt

// Hexagon has an instruction for the upper halves of products of one register
// of 32 integers.
// CHECK-LABEL: @register(
// CHECK-NEXT: kernel.mul_high %arg0, %arg1 : vector<32xi32>
// CORES-LABEL: @register(
// CORES: arith.muli %{{.*}} : vector<32xi64>
func.func @register(%x: vector<32xi32>, %y: vector<32xi32>) -> vector<32xi32> {
  %z = kernel.mul_high %x, %y : vector<32xi32>
  return %z : vector<32xi32>
}

// A vector of several registers is split into registers.
// CHECK-LABEL: @registers(
// CHECK-DAG: %[[A:.*]] = kernel.mul_high %{{.*}} : vector<32xi32>
// CHECK-DAG: %[[B:.*]] = kernel.mul_high %{{.*}} : vector<32xi32>
// CHECK: vector.shuffle %[[A]], %[[B]]
// CHECK-NOT: i64
func.func @registers(%x: vector<64xi32>, %y: vector<64xi32>) -> vector<64xi32> {
  %z = kernel.mul_high %x, %y : vector<64xi32>
  return %z : vector<64xi32>
}

// A vector that is shorter than a register is padded to a register.
// CHECK-LABEL: @part(
// CHECK: %[[WHOLE:.*]] = kernel.mul_high %{{.*}} : vector<32xi32>
// CHECK: vector.extract_strided_slice %[[WHOLE]] {offsets = [0], sizes = [8], strides = [1]}
// CHECK-NOT: i64
func.func @part(%x: vector<8xi32>, %y: vector<8xi32>) -> vector<8xi32> {
  %z = kernel.mul_high %x, %y : vector<8xi32>
  return %z : vector<8xi32>
}

// On targets without the instruction, the whole product is computed in 64 bits.
// CHECK-LABEL: @single(
// CORES-LABEL: @single(
// CORES-DAG: %[[X:.*]] = arith.extsi %arg0 : i32 to i64
// CORES-DAG: %[[Y:.*]] = arith.extsi %arg1 : i32 to i64
// CORES-DAG: %[[BITS:.*]] = arith.constant 32 : i64
// CORES: %[[PRODUCT:.*]] = arith.muli %[[X]], %[[Y]] : i64
// CORES: %[[UPPER:.*]] = arith.shrsi %[[PRODUCT]], %[[BITS]] : i64
// CORES: arith.trunci %[[UPPER]] : i64 to i32
func.func @single(%x: i32, %y: i32) -> i32 {
  %z = kernel.mul_high %x, %y : i32
  return %z : i32
}
