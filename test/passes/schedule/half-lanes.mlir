// RUN: %ingot-opt %s -schedule-kernels=target=armv8.2-a+fp16 | FileCheck %s
// REQUIRES: ingot-opt

// Multiplication by a lane, with sums in f16: one load of a row brings eight K
// steps, and a vector of f16 weights has the columns of two vectors of f32
// sums. After every 32 K steps the f16 sums are added to the f32 sums. Of 77 K
// steps, the last 13 are one iteration of eight, and five that are broadcast to
// all lanes.
// CHECK-LABEL: @by_lane(
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c2
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c4
// CHECK: vector.load %{{.*}} : memref<2x77xf16>, vector<8xf16>
// CHECK: vector.load %{{.*}} : memref<616xf16>, vector<8xf16>
// CHECK-COUNT-16: kernel.dot %{{.*}} : vector<8xf16>, vector<8xf16>
// CHECK-NOT: kernel.dot
// CHECK: scf.yield
// CHECK: vector.extract_strided_slice %{{.*}} {offsets = [0], sizes = [4], strides = [1]} : vector<8xf16> to vector<4xf16>
// CHECK: arith.extf %{{.*}} : vector<4xf16> to vector<4xf32>
// CHECK: vector.extract_strided_slice %{{.*}} {offsets = [4], sizes = [4], strides = [1]} : vector<8xf16> to vector<4xf16>
// CHECK: scf.yield
// CHECK-COUNT-16: kernel.dot
// CHECK-COUNT-10: kernel.dot
// CHECK-NOT: kernel.dot
// CHECK: return
kernel.func @by_lane(%x: tensor<2x77xf16>, %w: tensor<616xf16>) -> tensor<2x8xf32> attributes {strategy = "integer-product", plan = {columns = 8, rows = 2, splits = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 8 : i64, tail = 0 : i64, group = 1 : i64} : (tensor<616xf16>) -> tensor<77x8xf16>
  %y = graph.matmul %x, %u {graph.multiplied = f16} : (tensor<2x77xf16>, tensor<77x8xf16>) -> tensor<2x8xf32>
  kernel.return %y : tensor<2x8xf32>
}
