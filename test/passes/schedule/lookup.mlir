// RUN: %ingot-opt %s -schedule-kernels=target=hexagon-v67 | FileCheck %s
// REQUIRES: ingot-opt

// A gather from a table of 256 bytes by uint8 looks up whole registers. The
// results may overwrite the indices.
// CHECK-LABEL: @registers(
// CHECK: scf.for
// CHECK: %[[X:.*]] = vector.load %{{.*}} : memref<512xi8>, vector<128xi8>
// CHECK: %[[Y:.*]] = vector.gather %{{.*}}[%{{.*}}] [%[[X]]], %{{.*}}, %[[X]] : memref<256xi8>, vector<128xi8>
// CHECK: vector.store %[[Y]], %{{.*}} : memref<512xi8>, vector<128xi8>
// CHECK-NOT: vector.store
kernel.func @registers(%table: tensor<256xui8>, %x: tensor<4x128xui8>) -> tensor<4x128xui8> attributes {strategy = "lookup", comment = ""} {
  %y = graph.gather %table, %x {axis = 0 : i64, in_range} : (tensor<256xui8>, tensor<4x128xui8>) -> tensor<4x128xui8>
  kernel.return %y : tensor<4x128xui8>
}

// The last register of indices starts earlier, so that it ends with the tensor.
// int8 indices are looked up as uint8.
// CHECK-LABEL: @overlapping(
// CHECK: scf.for
// CHECK: arith.minsi %{{.*}}, %c172{{.*}} : index
// CHECK: vector.gather
kernel.func @overlapping(%table: tensor<256xsi8>, %x: tensor<3x100xsi8>) -> tensor<3x100xsi8> attributes {strategy = "lookup", comment = ""} {
  %b = graph.bit_cast %x : (tensor<3x100xsi8>) -> tensor<3x100xui8>
  %y = graph.gather %table, %b {axis = 0 : i64, in_range} : (tensor<256xsi8>, tensor<3x100xui8>) -> tensor<3x100xsi8>
  kernel.return %y : tensor<3x100xsi8>
}
