// RUN: %python %S/Inputs/tied_model.py > %t.mlir
// RUN: %ingot-opt %t.mlir -decide-form-groups=target=x86-64-v4 -decide-pack-weights=target=x86-64-v4 -decide-tie-weights | FileCheck %s
// REQUIRES: ingot-opt

// The embedding table is the transpose of the weights of the last product. Both
// become one constant, whose panels the gather reads.
// CHECK: func.func @tied(
// CHECK-NEXT: %[[W:.*]] = graph.constant dense_resource<weights>
// CHECK-NEXT: %[[P:.*]] = graph.pack_panels %[[W]]
// CHECK: graph.group "loop-nest"(%[[P]], %arg0)
// CHECK: %[[U:.*]] = graph.unpack_panels
// CHECK-NEXT: %[[T:.*]] = graph.transpose %[[U]] {perm = array<i64: 1, 0>}
// CHECK-NEXT: graph.gather %[[T]]
// CHECK: graph.group "matrix-product"(%[[P]],
