// RUN: %ingot-opt %s -legalize-expand-operations=target=generic | FileCheck %s --check-prefixes=CHECK,GENERIC
// RUN: %ingot-opt %s -legalize-expand-operations=target=x86-64-v4+vnni | FileCheck %s --check-prefixes=CHECK,VNNI
// RUN: %ingot-opt %s -legalize-expand-operations=target=armv8.2-a+dotprod | FileCheck %s --check-prefixes=CHECK,DOTPROD
// REQUIRES: ingot-opt

// Without an instruction each of a group's products is widened, multiplied and added,
// by the signs of its operands.
// CHECK-LABEL: @mixed(
// GENERIC: %[[A:.*]] = vector.shuffle %{{.*}}, %{{.*}} [0, 4, 8, 12] : vector<16xi8>, vector<16xi8>
// GENERIC: %[[WIDE_A:.*]] = arith.extui %[[A]] : vector<4xi8> to vector<4xi32>
// GENERIC: %[[B:.*]] = vector.shuffle %{{.*}}, %{{.*}} [0, 4, 8, 12] : vector<16xi8>, vector<16xi8>
// GENERIC: %[[WIDE_B:.*]] = arith.extsi %[[B]] : vector<4xi8> to vector<4xi32>
// GENERIC: %[[PRODUCT:.*]] = arith.muli %[[WIDE_A]], %[[WIDE_B]]
// GENERIC: %[[SUM:.*]] = arith.addi %{{.*}}, %[[PRODUCT]]
// GENERIC: vector.shuffle %{{.*}}, %{{.*}} [1, 5, 9, 13]
// GENERIC-NOT: kernel.dot
// GENERIC: return
// VNNI: kernel.dot unsigned %{{.*}}, %{{.*}}, %{{.*}} : vector<16xi8>, vector<4xi32>
// DOTPROD: arith.muli
func.func @mixed(%a: vector<16xi8>, %b: vector<16xi8>, %sum: vector<4xi32>) -> vector<4xi32> {
  %y = kernel.dot unsigned %a, %b, %sum : vector<16xi8>, vector<4xi32>
  return %y : vector<4xi32>
}

// An instruction that takes its operands in the other order gets them so.
// CHECK-LABEL: @swapped(
// CHECK-SAME: %[[A:[a-z0-9]+]]: vector<16xi8>, %[[B:[a-z0-9]+]]: vector<16xi8>
// VNNI: kernel.dot unsigned %[[B]], %[[A]], %{{.*}}
func.func @swapped(%a: vector<16xi8>, %b: vector<16xi8>, %sum: vector<4xi32>) -> vector<4xi32> {
  %y = kernel.dot %a, unsigned %b, %sum : vector<16xi8>, vector<4xi32>
  return %y : vector<4xi32>
}

// One lane is a scalar.
// CHECK-LABEL: @scalar(
// CHECK: vector.extract %{{.*}}[0] : i8 from vector<4xi8>
// CHECK: arith.extsi {{.*}} : i8 to i32
// CHECK-NOT: kernel.dot
// CHECK: return
func.func @scalar(%a: vector<4xi8>, %b: vector<4xi8>, %sum: i32) -> i32 {
  %y = kernel.dot %a, %b, %sum : vector<4xi8>, i32
  return %y : i32
}

// Pairs of 16 bits are an instruction of all levels of x86-64.
// CHECK-LABEL: @pairs(
// GENERIC: arith.extsi {{.*}} : vector<8xi16> to vector<8xi32>
// VNNI: kernel.dot %{{.*}}, %{{.*}}, %{{.*}} : vector<16xi16>, vector<8xi32>
func.func @pairs(%a: vector<16xi16>, %b: vector<16xi16>, %sum: vector<8xi32>) -> vector<8xi32> {
  %y = kernel.dot %a, %b, %sum : vector<16xi16>, vector<8xi32>
  return %y : vector<8xi32>
}
