// RUN: %ingot-opt %s -legalize-outline-strings | FileCheck %s
// REQUIRES: ingot-opt

// String length and string comparison become a helper function each. The
// comparison stops where the strings differ or end.
// CHECK: func.func private @string_length(%[[S:.*]]: !kernel.string {kernel.name = "string"}) -> index
// CHECK: scf.while
// CHECK: kernel.character %[[S]]
// CHECK: arith.cmpi ne
// CHECK: func.func private @same_string(%[[X:.*]]: !kernel.string {kernel.name = "x"}, %[[Y:.*]]: !kernel.string {kernel.name = "y"}) -> i1
// CHECK: scf.while
// CHECK-DAG: kernel.character %[[X]]
// CHECK-DAG: kernel.character %[[Y]]
// CHECK: arith.andi
// CHECK-LABEL: kernel.func @compared
// CHECK-COUNT-2: call @same_string(
// CHECK: call @string_length(
// CHECK-NOT: kernel.same_string
kernel.func @compared(%x: memref<2x!kernel.string>, %y: memref<2xi1>, %z: memref<1xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.load %x[%c0] : memref<2x!kernel.string>
  %b = memref.load %x[%c1] : memref<2x!kernel.string>
  %0 = kernel.same_string %a, %b
  %1 = kernel.same_string %b, %a
  %n = kernel.string_length %a
  memref.store %0, %y[%c0] : memref<2xi1>
  memref.store %1, %y[%c1] : memref<2xi1>
  memref.store %n, %z[%c0] : memref<1xindex>
  kernel.return
}
