// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v3 | FileCheck %s --check-prefixes=CHECK,HALVES
// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v3+avxvnni | FileCheck %s --check-prefixes=CHECK,VNNI
// REQUIRES: ingot-opt

// A row is quantized in two blocks of 32 steps: the largest magnitude becomes
// 127. Its bytes are stored in the order of the operands of dot products: even
// steps of a group of eight, then odd ones. The zero point 8 is multiplied by
// the sum of the block once.
// CHECK-LABEL: @token(
// CHECK-DAG: memref.alloca() {{.*}}: memref<1x16xi32>
// CHECK-DAG: memref.alloca() {{.*}}: memref<1x2xf32>
// CHECK-DAG: memref.alloca() {{.*}}: memref<1x2xi32>
// CHECK: scf.for
// CHECK-COUNT-4: vector.load %{{.*}}, vector<8xf32>
// CHECK-COUNT-4: arith.fptosi
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 2, 4, 6, 1, 3, 5, 7] : vector<8xi8>, vector<8xi8>
// CHECK: arith.muli

// Each byte of weights has a number for each of two dot products. Without
// instructions with sums of 32 bits, pairs are summed in 16 bits for a block.
// CHECK: scf.for
// CHECK: scf.for
// HALVES: %[[BYTES:.*]] = vector.load %{{.*}} : memref<512xi8>, vector<32xi8>
// HALVES: arith.andi
// HALVES: kernel.dot unsigned %{{.*}}, %{{.*}}, %{{.*}} : vector<32xi8>, vector<16xi16>
// HALVES: arith.shrui
// HALVES: kernel.dot unsigned %{{.*}}, %{{.*}}, %{{.*}} : vector<32xi8>, vector<16xi16>
// HALVES: kernel.dot %{{.*}}, %{{.*}}, %{{.*}} : vector<16xi16>, vector<8xi32>
// VNNI-COUNT-4: kernel.dot unsigned %{{.*}}, %{{.*}}, %{{.*}} : vector<32xi8>, vector<8xi32>
// VNNI-NOT: kernel.dot
// CHECK: arith.sitofp
// CHECK: vector.fma
kernel.func @token(%x: tensor<1x64xf32>, %p: tensor<512xui8>, %s: tensor<32xf32>) -> tensor<1x16xf32> attributes {strategy = "quantized-product", plan = {block = 1, columns = 16, rows = 1}, comment = ""} {
  %w = graph.unpack_panels %p {panel = 16 : i64, tail = 0 : i64, group = 4 : i64} : (tensor<512xui8>) -> tensor<32x16xui8>
  %scales = graph.unpack_panels %s {panel = 16 : i64, tail = 0 : i64} : (tensor<32xf32>) -> tensor<2x16xf32>
  %zeros = graph.constant dense<8> : tensor<2x16xui8> : tensor<2x16xui8>
  %y = graph.narrow_matmul %x, %w, %scales, %zeros {bits = 4 : i64, block = 32 : i64, graph.multiplied = si8} : (tensor<1x64xf32>, tensor<32x16xui8>, tensor<2x16xf32>, tensor<2x16xui8>) -> tensor<1x16xf32>
  kernel.return %y : tensor<1x16xf32>
}
