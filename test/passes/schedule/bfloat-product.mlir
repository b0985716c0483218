// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v4+bf16 | FileCheck %s
// REQUIRES: ingot-opt

// Two K steps of a row are one 32-bit word, which is broadcast to 16 columns.
// In the packed weights, the two K steps of each column are adjacent. The last
// of 7 K steps is paired with a zero.
// CHECK-LABEL: @packed(
// CHECK: scf.for %[[GROUP:.*]] = %c0{{.*}} to %c3
// CHECK: vector.load %{{.*}} : memref<512xbf16>, vector<32xbf16>
// CHECK: vector.load %{{.*}} : memref<5x7xbf16>, vector<2xbf16>
// CHECK: vector.bitcast %{{.*}} : vector<2xbf16> to vector<1xi32>
// CHECK: vector.broadcast %{{.*}} : i32 to vector<16xi32>
// CHECK: vector.bitcast %{{.*}} : vector<16xi32> to vector<32xbf16>
// CHECK: kernel.dot %{{.*}}, %{{.*}}, %{{.*}} : vector<32xbf16>, vector<16xf32>
// CHECK: scf.yield
// CHECK: vector.from_elements %{{.*}}, %{{.*}} : vector<2xbf16>
// CHECK: kernel.dot
kernel.func @packed(%x: tensor<5x7xbf16>, %w: tensor<512xbf16>) -> tensor<5x64xf32> attributes {strategy = "integer-product", plan = {columns = 64, rows = 5, splits = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 64 : i64, tail = 0 : i64, group = 2 : i64} : (tensor<512xbf16>) -> tensor<7x64xbf16>
  %y = graph.matmul %x, %u : (tensor<5x7xbf16>, tensor<7x64xbf16>) -> tensor<5x64xf32>
  kernel.return %y : tensor<5x64xf32>
}

// A right operand that is not packed is read in place: two of its rows are
// interleaved lane by lane.
// CHECK-LABEL: @in_place(
// CHECK-COUNT-2: vector.load %{{.*}} : memref<8x16xbf16>, vector<16xbf16>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 16, 1, 17,
// CHECK: kernel.dot
kernel.func @in_place(%x: tensor<5x8xbf16>, %w: tensor<8x16xbf16>) -> tensor<5x16xf32> attributes {strategy = "integer-product", plan = {columns = 16, rows = 5, splits = 1}, comment = ""} {
  %y = graph.matmul %x, %w : (tensor<5x8xbf16>, tensor<8x16xbf16>) -> tensor<5x16xf32>
  kernel.return %y : tensor<5x16xf32>
}

// The f32 sums of a convolution start with the bias, and results that are
// stored as bf16 are rounded at the end.
// CHECK-LABEL: @conv(
// CHECK: vector.load %{{.*}} : memref<32xf32>, vector<16xf32>
// CHECK: kernel.dot %{{.*}}, %{{.*}}, %{{.*}} : vector<32xbf16>, vector<16xf32>
// CHECK: arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
// CHECK: vector.store %{{.*}} : memref<{{.*}}xbf16>, vector<16xbf16>
kernel.func @conv(%x: tensor<1x6x6x4xbf16>, %w: tensor<1152xbf16>, %b: tensor<32xf32>) -> tensor<1x4x4x32xbf16> attributes {strategy = "convolution", plan = {columns = 32, order = "tiles", rows = 4, splits = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 32 : i64, tail = 0 : i64, group = 2 : i64} : (tensor<1152xbf16>) -> tensor<3x3x4x32xbf16>
  %y = graph.conv %x, %u, %b {dilations = array<i64: 1, 1>, groups = 1 : i64, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x6x6x4xbf16>, tensor<3x3x4x32xbf16>, tensor<32xf32>) -> tensor<1x4x4x32xf32>
  %r = graph.relu %y : (tensor<1x4x4x32xf32>) -> tensor<1x4x4x32xf32>
  %n = graph.cast %r : (tensor<1x4x4x32xf32>) -> tensor<1x4x4x32xbf16>
  kernel.return %n : tensor<1x4x4x32xbf16>
}

// Attention in bf16: keys and values are interleaved as they are read, and the
// softmax is rounded to bf16 before it is multiplied by the values. The last of
// 5 keys is paired with a zero.
// CHECK-LABEL: @attention(
// CHECK: memref.alloca() {{.*}}: memref<16x16xbf16>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 4, 1, 5,
// CHECK: kernel.dot
// CHECK: arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 16, 1, 17,
// CHECK: kernel.dot
// CHECK: kernel.dot
kernel.func @attention(%q: tensor<2x16x8xbf16>, %k: tensor<2x8x5xbf16>, %v: tensor<2x5x16xbf16>) -> tensor<2x16x16xf32> attributes {strategy = "attention", plan = {keys = 5, queries = 16, score_columns = 16, score_rows = 16, value_columns = 16, value_rows = 16}, comment = ""} {
  %s = graph.matmul %q, %k : (tensor<2x16x8xbf16>, tensor<2x8x5xbf16>) -> tensor<2x16x5xf32>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<2x16x5xf32>) -> tensor<2x16x5xf32>
  %n = graph.cast %p : (tensor<2x16x5xf32>) -> tensor<2x16x5xbf16>
  %y = graph.matmul %n, %v : (tensor<2x16x5xbf16>, tensor<2x5x16xbf16>) -> tensor<2x16x16xf32>
  kernel.return %y : tensor<2x16x16xf32>
}
