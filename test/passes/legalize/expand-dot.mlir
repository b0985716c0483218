// RUN: %ingot-opt %s -legalize-expand-operations=target=generic | FileCheck %s --check-prefixes=CHECK,GENERIC
// RUN: %ingot-opt %s -legalize-expand-operations=target=x86-64-v4+vnni | FileCheck %s --check-prefixes=CHECK,VNNI
// RUN: %ingot-opt %s -legalize-expand-operations=target=armv8.2-a+dotprod | FileCheck %s --check-prefixes=CHECK,DOTPROD
// RUN: %ingot-opt %s -legalize-expand-operations=target=hexagon-v67 | FileCheck %s --check-prefixes=CHECK,HEXAGON
// RUN: %ingot-opt %s -legalize-expand-operations=target=armv8.2-a+i8mm | FileCheck %s --check-prefix=I8MM
// REQUIRES: ingot-opt

// On a target without an instruction for dot products, the operands of each
// product are widened according to their signedness, multiplied and added.
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

// If the target's instruction takes the unsigned operand first, the operands
// are swapped.
// CHECK-LABEL: @swapped(
// CHECK-SAME: %[[A:[a-z0-9]+]]: vector<16xi8>, %[[B:[a-z0-9]+]]: vector<16xi8>
// VNNI: kernel.dot unsigned %[[B]], %[[A]], %{{.*}}
func.func @swapped(%a: vector<16xi8>, %b: vector<16xi8>, %sum: vector<4xi32>) -> vector<4xi32> {
  %y = kernel.dot %a, unsigned %b, %sum : vector<16xi8>, vector<4xi32>
  return %y : vector<4xi32>
}

// The products of two rows by two columns need an instruction that multiplies
// these. Otherwise, rows and columns are repeated, so that each sum has its own.
// CHECK-LABEL: @of_pairs(
// CHECK-DAG: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15]
// CHECK-DAG: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
// GENERIC: arith.extui %{{.*}} : vector<4xi8> to vector<4xi32>
// GENERIC-NOT: kernel.dot
// GENERIC: return
// I8MM-LABEL: @of_pairs(
// I8MM-NEXT: kernel.dot unsigned %{{.*}}, %{{.*}}, %{{.*}} {kernel.of_pairs} : vector<16xi8>, vector<4xi32>
// I8MM-NEXT: return
func.func @of_pairs(%a: vector<16xi8>, %b: vector<16xi8>, %sum: vector<4xi32>) -> vector<4xi32> {
  %y = kernel.dot unsigned %a, %b, %sum {kernel.of_pairs} : vector<16xi8>, vector<4xi32>
  return %y : vector<4xi32>
}

// Only the upper lanes of 16-bit integers are multiplied. A target without an
// instruction for that multiplies slices.
// CHECK-LABEL: @upper_half(
// GENERIC: vector.extract_strided_slice %{{.*}} {offsets = [4], sizes = [4], strides = [1]}
// GENERIC: arith.muli
// GENERIC: return
// DOTPROD-NEXT: kernel.dot %{{.*}}, %{{.*}}, %{{.*}} {kernel.upper_half = true} : vector<8xi16>, vector<4xi32>
// DOTPROD-NEXT: return
func.func @upper_half(%a: vector<8xi16>, %b: vector<8xi16>, %sum: vector<4xi32>) -> vector<4xi32> {
  %y = kernel.dot %a, %b, %sum {kernel.upper_half = true} : vector<8xi16>, vector<4xi32>
  return %y : vector<4xi32>
}

// A dot product with a single sum is computed in scalars.
// CHECK-LABEL: @scalar(
// CHECK: vector.extract %{{.*}}[0] : i8 from vector<4xi8>
// CHECK: arith.extsi {{.*}} : i8 to i32
// CHECK-NOT: kernel.dot
// CHECK: return
func.func @scalar(%a: vector<4xi8>, %b: vector<4xi8>, %sum: i32) -> i32 {
  %y = kernel.dot %a, %b, %sum : vector<4xi8>, i32
  return %y : i32
}

// All x86-64 targets have an instruction for dot products of pairs of 16-bit
// integers.
// CHECK-LABEL: @pairs(
// GENERIC: arith.extsi {{.*}} : vector<8xi16> to vector<8xi32>
// VNNI: kernel.dot %{{.*}}, %{{.*}}, %{{.*}} : vector<16xi16>, vector<8xi32>
func.func @pairs(%a: vector<16xi16>, %b: vector<16xi16>, %sum: vector<8xi32>) -> vector<8xi32> {
  %y = kernel.dot %a, %b, %sum : vector<16xi16>, vector<8xi32>
  return %y : vector<8xi32>
}

// A 32-bit word that is broadcast to all lanes becomes the second operand on
// Hexagon, which takes it from a scalar register. Each dot product has a
// broadcast of its own, so that the printer omits it.
// CHECK-LABEL: @word(
// CHECK-SAME: %[[A:[a-z0-9]+]]: vector<128xi8>, %[[B:[a-z0-9]+]]: vector<128xi8>, %[[WORD:[a-z0-9]+]]: i32
// HEXAGON: %[[ALL:.*]] = vector.broadcast %[[WORD]] : i32 to vector<32xi32>
// HEXAGON: %[[BYTES:.*]] = vector.bitcast %[[ALL]]
// HEXAGON: %[[FIRST:.*]] = kernel.dot unsigned %[[A]], unsigned %[[BYTES]], %{{.*}} :
// HEXAGON: %[[AGAIN:.*]] = vector.broadcast %[[WORD]] : i32 to vector<32xi32>
// HEXAGON: %[[OWN:.*]] = vector.bitcast %[[AGAIN]]
// HEXAGON: kernel.dot unsigned %[[B]], unsigned %[[OWN]], %[[FIRST]]
func.func @word(%a: vector<128xi8>, %b: vector<128xi8>, %word: i32, %sum: vector<32xi32>) -> vector<32xi32> {
  %all = vector.broadcast %word : i32 to vector<32xi32>
  %bytes = vector.bitcast %all : vector<32xi32> to vector<128xi8>
  %s = kernel.dot unsigned %bytes, unsigned %a, %sum : vector<128xi8>, vector<32xi32>
  %y = kernel.dot unsigned %bytes, unsigned %b, %s : vector<128xi8>, vector<32xi32>
  return %y : vector<32xi32>
}

// Products of bf16 are summed in f32, one after another.
// CHECK-LABEL: @bfloats(
// VNNI-COUNT-2: arith.mulf {{.*}} : vector<8xf32>
// VNNI-NOT: kernel.dot
// VNNI: return
func.func @bfloats(%a: vector<16xbf16>, %b: vector<16xbf16>, %sum: vector<8xf32>) -> vector<8xf32> {
  %y = kernel.dot %a, %b, %sum : vector<16xbf16>, vector<8xf32>
  return %y : vector<8xf32>
}

// Sums of 16 bits stay if the target adds pairs of products in 16 bits.
// CHECK-LABEL: @halves(
// VNNI: kernel.dot unsigned %{{.*}}, %{{.*}}, %{{.*}} : vector<32xi8>, vector<16xi16>
// GENERIC: arith.extui {{.*}} : vector<16xi8> to vector<16xi16>
// GENERIC-NOT: kernel.dot
// GENERIC: return
func.func @halves(%a: vector<32xi8>, %b: vector<32xi8>, %sum: vector<16xi16>) -> vector<16xi16> {
  %y = kernel.dot unsigned %a, %b, %sum : vector<32xi8>, vector<16xi16>
  return %y : vector<16xi16>
}
