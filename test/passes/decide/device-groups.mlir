// RUN: %ingot-opt %s -decide-form-groups=target=sm_80 | FileCheck %s
// REQUIRES: ingot-opt

// What is joined is computed where it is joined: halves that are turned into one another are
// one kernel.
// CHECK-LABEL: func.func @halves(
// CHECK-NEXT: %[[Y:.*]] = graph.group "loop-nest"(%arg0, %arg1, %arg2)
// CHECK-NOT: graph.group
// CHECK: return %[[Y]]
func.func @halves(%x: tensor<9x64xf32>, %c: tensor<1x64xf32>, %s: tensor<1x64xf32>) -> tensor<9x64xf32> {
  %l = graph.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<9x64xf32>) -> tensor<9x32xf32>
  %r = graph.slice %x {starts = array<i64: 0, 32>, steps = array<i64: 1, 1>} : (tensor<9x64xf32>) -> tensor<9x32xf32>
  %n = graph.neg %r : (tensor<9x32xf32>) -> tensor<9x32xf32>
  %t = graph.concat %n, %l {axis = 1 : i64} : (tensor<9x32xf32>, tensor<9x32xf32>) -> tensor<9x64xf32>
  %a = graph.mul %x, %c : (tensor<9x64xf32>, tensor<1x64xf32>) -> tensor<9x64xf32>
  %b = graph.mul %t, %s : (tensor<9x64xf32>, tensor<1x64xf32>) -> tensor<9x64xf32>
  %y = graph.add %a, %b : (tensor<9x64xf32>, tensor<9x64xf32>) -> tensor<9x64xf32>
  return %y : tensor<9x64xf32>
}
