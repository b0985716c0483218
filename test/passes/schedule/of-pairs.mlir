// RUN: %ingot-opt %s -schedule-kernels=target=armv8.2-a+bf16 | FileCheck %s
// REQUIRES: ingot-opt

// A product of two rows by two columns takes four K steps of bf16. A load of a
// row has two groups of K steps, which are joined with those of the next row.
// The last row is multiplied with itself. At the end, sums are reordered to
// four columns of a row.
// CHECK-LABEL: @bfloats(
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c2{{.*}} -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>)
// CHECK-COUNT-3: vector.load %{{.*}} : memref<3x20xbf16>, vector<8xbf16>
// CHECK: vector.shuffle %[[R0:.*]], %[[R1:.*]] [0, 1, 2, 3, 8, 9, 10, 11]
// CHECK: vector.shuffle %[[R2:.*]], %[[R2]] [0, 1, 2, 3, 8, 9, 10, 11]
// CHECK: vector.load %{{.*}} : memref<80xbf16>, vector<8xbf16>
// CHECK-COUNT-4: kernel.dot %{{.*}}, %{{.*}}, %{{.*}} {{.*}}kernel.of_pairs{{.*}} : vector<8xbf16>, vector<4xf32>
// CHECK: vector.shuffle %[[R0]], %[[R1]] [4, 5, 6, 7, 12, 13, 14, 15]
// CHECK: scf.yield
// CHECK: vector.load %{{.*}} : memref<3x20xbf16>, vector<4xbf16>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK: kernel.dot
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 4, 5]
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [2, 3, 6, 7]
kernel.func @bfloats(%x: tensor<3x20xbf16>, %w: tensor<80xbf16>) -> tensor<3x4xf32> attributes {strategy = "integer-product", plan = {columns = 4, rows = 3, splits = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 4 : i64, tail = 0 : i64, group = 4 : i64} : (tensor<80xbf16>) -> tensor<20x4xbf16>
  %y = graph.matmul %x, %u : (tensor<3x20xbf16>, tensor<20x4xbf16>) -> tensor<3x4xf32>
  kernel.return %y : tensor<3x4xf32>
}

// A single row is multiplied by lanes.
// CHECK-LABEL: @row(
// CHECK-NOT: of_pairs
// CHECK: kernel.dot
// CHECK-NOT: of_pairs
kernel.func @row(%x: tensor<1x20xbf16>, %w: tensor<80xbf16>) -> tensor<1x4xf32> attributes {strategy = "integer-product", plan = {columns = 4, rows = 1, splits = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 4 : i64, tail = 0 : i64, group = 2 : i64} : (tensor<80xbf16>) -> tensor<20x4xbf16>
  %y = graph.matmul %x, %u : (tensor<1x20xbf16>, tensor<20x4xbf16>) -> tensor<1x4xf32>
  kernel.return %y : tensor<1x4xf32>
}

// Eight K steps of 8-bit integers.
// CHECK-LABEL: @convolution(
// CHECK: vector.load %{{.*}} : memref<{{.*}}xi8>, vector<16xi8>
// CHECK: kernel.dot unsigned %{{.*}}, %{{.*}}, %{{.*}} {{.*}}kernel.of_pairs{{.*}} : vector<16xi8>, vector<4xi32>
kernel.func @convolution(%x: tensor<1x2x2x16xui8>, %p: tensor<64xsi8>) -> tensor<1x2x2x4xsi32> attributes {strategy = "convolution", plan = {columns = 4, order = "tiles", rows = 2, splits = 1}, comment = ""} {
  %w = graph.unpack_panels %p {panel = 4 : i64, tail = 0 : i64, group = 8 : i64} : (tensor<64xsi8>) -> tensor<1x1x16x4xsi8>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x2x2x16xui8>, tensor<1x1x16x4xsi8>) -> tensor<1x2x2x4xsi32>
  kernel.return %y : tensor<1x2x2x4xsi32>
}

// For Winograd's algorithm, inputs of bf16 are transformed in f32 and rounded.
// Their products, two rows by two columns, are stored in f32.
// CHECK-LABEL: @winograd(
// CHECK-SAME: memref<1x16x4x16xbf16>{{.*}}, %{{.*}}: memref<1x16x4x8xf32>
// CHECK: arith.extf %{{.*}} : vector<4xbf16> to vector<4xf32>
// CHECK: arith.truncf %{{.*}} : vector<4xf32> to vector<4xbf16>
// CHECK: %{{.*}}:8 = scf.for %{{.*}} = %c0 to %c2
// CHECK-COUNT-16: kernel.dot {{.*}}kernel.of_pairs
// CHECK-NOT: kernel.dot
// CHECK: return
kernel.func @winograd(%x: tensor<1x8x8x16xbf16>, %p: tensor<4096xbf16>) -> tensor<1x8x8x16xf32> attributes {strategy = "winograd", plan = {block = 4, columns = 8, parts = 1, rows = 4, size = 2}} {
  %u = graph.unpack_panels %p {panel = 8 : i64, tail = 0 : i64, group = 4 : i64} : (tensor<4096xbf16>) -> tensor<16x16x16xbf16>
  %w = graph.restore_kernel %u {size = 2 : i64} : (tensor<16x16x16xbf16>) -> tensor<3x3x16x16xbf16>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64, graph.multiplied = bf16} : (tensor<1x8x8x16xbf16>, tensor<3x3x16x16xbf16>) -> tensor<1x8x8x16xf32>
  kernel.return %y : tensor<1x8x8x16xf32>
}

// Sums stay in the order of pairs of rows for all kernel positions.
// CHECK-LABEL: @windows(
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: [0, 1, 4, 5]
// CHECK-COUNT-8: kernel.dot {{.*}}kernel.of_pairs
// CHECK-NOT: vector.shuffle
// CHECK: scf.yield
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 4, 5]
kernel.func @windows(%x: tensor<1x3x6x16xui8>, %p: tensor<576xsi8>) -> tensor<1x1x4x4xsi32> attributes {strategy = "convolution", plan = {columns = 4, order = "tiles", rows = 4, splits = 1}, comment = ""} {
  %w = graph.unpack_panels %p {panel = 4 : i64, tail = 0 : i64, group = 8 : i64} : (tensor<576xsi8>) -> tensor<3x3x16x4xsi8>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x3x6x16xui8>, tensor<3x3x16x4xsi8>) -> tensor<1x1x4x4xsi32>
  kernel.return %y : tensor<1x1x4x4xsi32>
}
