// RUN: %ingot-opt %s -schedule-kernels=target=hexagon-v67 | FileCheck %s
// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v4+vnni | FileCheck %s --check-prefix=PARTS
// REQUIRES: ingot-opt

// Four result rows of 16 bytes are joined in a register, and values that the
// epilogue reads for each column are repeated for the four rows. On a target
// that stores partial registers equally fast, each row has a store of its own.
// CHECK-LABEL: @rows(
// CHECK-COUNT-4: vector.extract_strided_slice %{{.*}} : vector<32xi32> to vector<16xi32>
// CHECK: vector.shuffle %{{.*}} : vector<16xi32>, vector<16xi32>
// CHECK: %[[SUMS:.*]] = vector.shuffle %{{.*}} : vector<32xi32>, vector<32xi32>
// CHECK: %[[ADD:.*]] = vector.load %{{.*}} : memref<16xi32>, vector<16xi32>
// CHECK: %[[TWICE:.*]] = vector.shuffle %[[ADD]], %[[ADD]] [0, 1, 2, {{.*}}] : vector<16xi32>, vector<16xi32>
// CHECK: %[[REPEATED:.*]] = vector.shuffle %[[TWICE]], %{{.*}} : vector<32xi32>, vector<32xi32>
// CHECK: arith.addi %[[SUMS]], %[[REPEATED]] : vector<64xi32>
// CHECK: vector.store %{{.*}} : memref<4x16xi8>, vector<64xi8>
// CHECK-NOT: vector.store
// PARTS-LABEL: @rows(
// PARTS-COUNT-4: vector.store %{{.*}} : memref<4x16xi8>, vector<16xi8>
kernel.func @rows(%x: tensor<4x8xui8>, %w: tensor<256xui8>, %add: tensor<16xsi32>) -> tensor<4x16xui8> attributes {strategy = "integer-product", plan = {columns = 32, rows = 4, splits = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 32 : i64, tail = 32 : i64, group = 4 : i64} : (tensor<256xui8>) -> tensor<8x16xui8>
  %s = graph.matmul %x, %u : (tensor<4x8xui8>, tensor<8x16xui8>) -> tensor<4x16xsi32>
  %a = graph.add %s, %add : (tensor<4x16xsi32>, tensor<16xsi32>) -> tensor<4x16xsi32>
  %y = graph.cast %a : (tensor<4x16xsi32>) -> tensor<4x16xui8>
  kernel.return %y : tensor<4x16xui8>
}

// Values that the epilogue reads for each row are repeated over the columns of
// the row.
// CHECK-LABEL: @numbers_of_rows(
// CHECK: %[[FIRST:.*]] = memref.load %{{.*}} : memref<2x1xi32>
// CHECK: vector.broadcast %[[FIRST]] : i32 to vector<32xi32>
// CHECK: memref.load %{{.*}} : memref<2x1xi32>
// CHECK: vector.store %{{.*}} : memref<2x32xi8>, vector<64xi8>
kernel.func @numbers_of_rows(%x: tensor<2x8xui8>, %w: tensor<256xui8>, %less: tensor<2x1xsi32>) -> tensor<2x32xui8> attributes {strategy = "integer-product", plan = {columns = 32, rows = 2, splits = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 32 : i64, tail = 0 : i64, group = 4 : i64} : (tensor<256xui8>) -> tensor<8x32xui8>
  %s = graph.matmul %x, %u : (tensor<2x8xui8>, tensor<8x32xui8>) -> tensor<2x32xsi32>
  %a = graph.sub %s, %less : (tensor<2x32xsi32>, tensor<2x1xsi32>) -> tensor<2x32xsi32>
  %y = graph.cast %a : (tensor<2x32xsi32>) -> tensor<2x32xui8>
  kernel.return %y : tensor<2x32xui8>
}

// 8-bit elements that are only copied are loaded and stored with partial
// registers, too.
// CHECK-LABEL: @padding(
// CHECK: vector.load %{{.*}} : memref<1x3x3x160xi8>, vector<128xi8>
// CHECK: vector.load %{{.*}} : memref<1x3x3x160xi8>, vector<32xi8>
kernel.func @padding(%x: tensor<1x3x3x160xui8>) -> tensor<1x5x5x160xui8> attributes {strategy = "loop-nest", comment = ""} {
  %zero = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %y = graph.pad %x, %zero {low = array<i64: 0, 1, 1, 0>} : (tensor<1x3x3x160xui8>, tensor<ui8>) -> tensor<1x5x5x160xui8>
  kernel.return %y : tensor<1x5x5x160xui8>
}

// A max pool of uint8 uses half a register for 64 channels, and scalars for the
// 32 channels after them.
// CHECK-LABEL: @pool(
// CHECK: arith.maxui %{{.*}} : vector<64xi8>
// CHECK: arith.maxui %{{.*}} : i8
kernel.func @pool(%x: tensor<1x4x4x96xui8>) -> tensor<1x2x2x96xui8> attributes {strategy = "loop-nest", comment = ""} {
  %y = graph.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x4x4x96xui8>) -> tensor<1x2x2x96xui8>
  kernel.return %y : tensor<1x2x2x96xui8>
}

// If the last columns are less than half a register, they are stored together
// with some columns before them.
// CHECK-LABEL: @last_columns(
// CHECK: vector.store %{{.*}}, %c0{{.*}} : memref<2x96xi8>, vector<64xi8>
// CHECK: %[[LAST:.*]] = arith.constant 32 : index
// CHECK: vector.store %{{.*}}[%{{.*}}, %[[LAST]]] : memref<2x96xi8>, vector<64xi8>
kernel.func @last_columns(%x: tensor<2x8xui8>, %w: tensor<768xui8>) -> tensor<2x96xui8> attributes {strategy = "integer-product", plan = {columns = 96, rows = 2, splits = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 96 : i64, tail = 0 : i64, group = 4 : i64} : (tensor<768xui8>) -> tensor<8x96xui8>
  %s = graph.matmul %x, %u : (tensor<2x8xui8>, tensor<8x96xui8>) -> tensor<2x96xsi32>
  %y = graph.cast %s : (tensor<2x96xsi32>) -> tensor<2x96xui8>
  kernel.return %y : tensor<2x96xui8>
}

// Two rows of 48 bytes are 64 lanes apart in a register, but adjacent in memory
// (96 bytes). The result is stored as two overlapping halves of a register, and
// tensors of its shape are loaded in the same way.
// CHECK-LABEL: @gaps(
// CHECK: %[[LOW:.*]] = vector.load %{{.*}}[%{{.*}}] : memref<96xi8>, vector<64xi8>
// CHECK: %[[FROM:.*]] = arith.constant 32 : index
// CHECK: %[[HIGH:.*]] = vector.load %{{.*}}[%{{.*}}] : memref<96xi8>, vector<64xi8>
// CHECK: %[[GIVEN:.*]] = vector.shuffle %[[LOW]], %[[HIGH]] [0, 1, {{.*}}, 46, 47, 47, {{.*}}47, 48, 49, {{.*}}63, 96, {{.*}}127, 127{{.*}}] : vector<64xi8>, vector<64xi8>
// CHECK-COUNT-3: vector.load %{{.*}} : memref<48xi32>, vector<16xi32>
// CHECK: arith.addi %{{.*}} : vector<128xi32>
// CHECK: vector.shuffle %[[Y:.*]], %[[Y]] [0, 1, {{.*}}47, 64, {{.*}}79] : vector<128xi8>, vector<128xi8>
// CHECK: vector.store %{{.*}} : memref<96xi8>, vector<64xi8>
// CHECK: vector.shuffle %[[Y]], %[[Y]] [32, 33, {{.*}}47, 64, {{.*}}111] : vector<128xi8>, vector<128xi8>
// CHECK: vector.store %{{.*}} : memref<96xi8>, vector<64xi8>
// CHECK-NOT: vector.store
kernel.func @gaps(%x: tensor<2x8xui8>, %w: tensor<512xui8>, %given: tensor<2x48xui8>, %add: tensor<48xsi32>) -> tensor<2x48xui8> attributes {strategy = "integer-product", plan = {columns = 64, rows = 2, splits = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 64 : i64, tail = 64 : i64, group = 4 : i64} : (tensor<512xui8>) -> tensor<8x48xui8>
  %s = graph.matmul %x, %u : (tensor<2x8xui8>, tensor<8x48xui8>) -> tensor<2x48xsi32>
  %g = graph.cast %given : (tensor<2x48xui8>) -> tensor<2x48xsi32>
  %a = graph.add %s, %add : (tensor<2x48xsi32>, tensor<48xsi32>) -> tensor<2x48xsi32>
  %b = graph.add %a, %g : (tensor<2x48xsi32>, tensor<2x48xsi32>) -> tensor<2x48xsi32>
  %y = graph.cast %b : (tensor<2x48xsi32>) -> tensor<2x48xui8>
  kernel.return %y : tensor<2x48xui8>
}

// For an odd number of columns, the values that are added for each column are
// gathered one by one.
// CHECK-LABEL: @odd_columns(
// CHECK-COUNT-5: memref.load %{{.*}} : memref<5xi32>
// CHECK: vector.from_elements {{.*}} : vector<8xi32>
// CHECK: arith.addi %{{.*}} : vector<32xi32>
kernel.func @odd_columns(%x: tensor<4x8xui8>, %w: tensor<256xui8>, %add: tensor<5xsi32>) -> tensor<4x5xsi32> attributes {strategy = "integer-product", plan = {columns = 32, rows = 4, splits = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 32 : i64, tail = 32 : i64, group = 4 : i64} : (tensor<256xui8>) -> tensor<8x5xui8>
  %s = graph.matmul %x, %u : (tensor<4x8xui8>, tensor<8x5xui8>) -> tensor<4x5xsi32>
  %a = graph.add %s, %add : (tensor<4x5xsi32>, tensor<5xsi32>) -> tensor<4x5xsi32>
  kernel.return %a : tensor<4x5xsi32>
}
