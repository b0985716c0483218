// RUN: %python %S/Inputs/diamonds.py > %t.mlir
// RUN: timeout 120 %ingot-opt %t.mlir -schedule-kernels=target=x86-64-v3 | FileCheck %s
// REQUIRES: ingot-opt

// The operators before and after an anchor are visited once each, not once for
// each path between them and the anchor or the result.
// CHECK-LABEL: @before(
// CHECK: vector.fma
// CHECK-LABEL: @after(
// CHECK: vector.store
