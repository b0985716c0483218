// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v3 | FileCheck %s
// REQUIRES: ingot-opt

// The padding of 16 columns of 3 channels is written row by row: a row of the
// result is 48 bytes of the input between 3 and 6 bytes of padding, or 57 bytes
// of padding.
// CHECK-LABEL: kernel.func @rows(
// CHECK: %[[INSIDE:.*]] = arith.cmpi sge
// CHECK: scf.if %[[INSIDE]]
// CHECK: memref.store %{{.*}} : memref<1x5x57xi8>
// CHECK: %[[ROW:.*]] = vector.load %{{.*}} : memref<1x4x48xi8>, vector<32xi8>
// CHECK: vector.store %[[ROW]], %{{.*}} : memref<1x5x57xi8>, vector<32xi8>
// CHECK: vector.load %{{.*}} : memref<1x4x48xi8>, vector<16xi8>
// CHECK: } else {
// CHECK-NOT: load
// CHECK: vector.store %{{.*}} : memref<1x5x57xi8>, vector<32xi8>
kernel.func @rows(%x: tensor<1x4x16x3xui8>) -> tensor<1x5x19x3xui8> attributes {strategy = "padding", comment = ""} {
  %value = graph.constant dense<7> : tensor<ui8> : tensor<ui8>
  %y = graph.pad %x, %value {low = array<i64: 0, 1, 1, 0>} : (tensor<1x4x16x3xui8>, tensor<ui8>) -> tensor<1x5x19x3xui8>
  kernel.return %y : tensor<1x5x19x3xui8>
}
