// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v4+fp16 | FileCheck %s
// REQUIRES: ingot-opt

// Two K steps of a row are one 32-bit word, which is broadcast to 16 columns,
// and each of the two has its own lane in sums of f16. After every 64 K steps
// the two lanes of a column are widened and added. Of 135 K steps, the last 7
// are three pairs, and one step that is paired with a zero.
// CHECK-LABEL: @packed(
// CHECK: scf.for %[[STAGE:.*]] = %c0{{.*}} to %c2
// CHECK: scf.for %[[GROUP:.*]] = %c0{{.*}} to %c32
// CHECK: vector.load %{{.*}} : memref<2176xf16>, vector<32xf16>
// CHECK: vector.load %{{.*}} : memref<2x135xf16>, vector<2xf16>
// CHECK: vector.broadcast %{{.*}} : i32 to vector<16xi32>
// CHECK: kernel.dot %{{.*}}, %{{.*}}, %{{.*}} : vector<32xf16>, vector<32xf16>
// CHECK: scf.yield
// CHECK: %[[EVEN:.*]] = vector.shuffle %{{.*}}, %{{.*}} [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]
// CHECK: %[[WIDE:.*]] = arith.extf %[[EVEN]] : vector<16xf16> to vector<16xf32>
// CHECK: arith.addf %{{.*}}, %[[WIDE]]
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [1, 3, 5, 7,
// CHECK: arith.addf
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c3
// CHECK: vector.from_elements %{{.*}}, %{{.*}} : vector<2xf16>
// CHECK: kernel.dot
// CHECK: vector.shuffle
kernel.func @packed(%x: tensor<2x135xf16>, %w: tensor<2176xf16>) -> tensor<2x16xf32> attributes {strategy = "integer-product", plan = {columns = 16, rows = 2, splits = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 16 : i64, tail = 0 : i64, group = 2 : i64} : (tensor<2176xf16>) -> tensor<135x16xf16>
  %y = graph.matmul %x, %u {graph.multiplied = f16} : (tensor<2x135xf16>, tensor<135x16xf16>) -> tensor<2x16xf32>
  kernel.return %y : tensor<2x16xf32>
}

// Without permission to sum them in f16, products of f16 are computed like
// those of f32.
// CHECK-LABEL: @wide(
// CHECK-NOT: kernel.dot
// CHECK: arith.extf %{{.*}} : vector<16xf16> to vector<16xf32>
kernel.func @wide(%x: tensor<2x8xf16>, %w: tensor<8x16xf16>) -> tensor<2x16xf32> attributes {strategy = "loop-nest", comment = ""} {
  %y = graph.matmul %x, %w : (tensor<2x8xf16>, tensor<8x16xf16>) -> tensor<2x16xf32>
  kernel.return %y : tensor<2x16xf32>
}

// In attention, scores and weighted values are also summed in f16, and widened
// after every 64 K steps.
// CHECK-LABEL: @attention(
// CHECK: memref.alloca() {{.*}}: memref<16x16xf16>
// CHECK: kernel.dot %{{.*}} : vector<{{.*}}xf16>, vector<{{.*}}xf16>
// CHECK: arith.truncf %{{.*}} : vector<16xf32> to vector<16xf16>
// CHECK: kernel.dot %{{.*}} : vector<32xf16>, vector<32xf16>
kernel.func @attention(%q: tensor<2x16x8xf16>, %k: tensor<2x8x5xf16>, %v: tensor<2x5x16xf16>) -> tensor<2x16x16xf32> attributes {strategy = "attention", plan = {keys = 5, queries = 16, score_columns = 16, score_rows = 16, value_columns = 16, value_rows = 16}, comment = ""} {
  %s = graph.matmul %q, %k {graph.multiplied = f16} : (tensor<2x16x8xf16>, tensor<2x8x5xf16>) -> tensor<2x16x5xf32>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<2x16x5xf32>) -> tensor<2x16x5xf32>
  %n = graph.cast %p : (tensor<2x16x5xf32>) -> tensor<2x16x5xf16>
  %y = graph.matmul %n, %v {graph.multiplied = f16} : (tensor<2x16x5xf16>, tensor<2x5x16xf16>) -> tensor<2x16x16xf32>
  kernel.return %y : tensor<2x16x16xf32>
}
