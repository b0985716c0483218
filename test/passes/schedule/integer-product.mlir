// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v4+vnni | FileCheck %s
// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v3 | FileCheck %s --check-prefix=PAIRS
// RUN: %ingot-opt %s -schedule-kernels=target=hexagon-v67 | FileCheck %s --check-prefix=HEXAGON
// REQUIRES: ingot-opt

// Four int8 K steps of a row are one 32-bit word, which is broadcast to 16
// columns. In the packed weights, the four K steps of each column are adjacent.
// 18 K steps are four and a half groups, and the missing elements of the row
// are zeros. The columns after the last full vector are in a narrower vector.
// CHECK-LABEL: @packed(
// CHECK: scf.for %[[GROUP:.*]] = %c0{{.*}} to %c4
// CHECK: vector.load %{{.*}} : memref<2560xi8>, vector<64xi8>
// CHECK: vector.load %{{.*}} : memref<5x18xi8>, vector<4xi8>
// CHECK: vector.bitcast %{{.*}} : vector<4xi8> to vector<1xi32>
// CHECK: vector.broadcast %{{.*}} : i32 to vector<16xi32>
// CHECK: vector.bitcast %{{.*}} : vector<16xi32> to vector<64xi8>
// CHECK: kernel.dot unsigned %{{.*}}, %{{.*}}, %{{.*}} : vector<64xi8>, vector<16xi32>
// CHECK: scf.yield
// CHECK: vector.from_elements %{{.*}}, %{{.*}}, %c0_i8{{.*}}, %c0_i8{{.*}} : vector<4xi8>
// CHECK: kernel.dot unsigned
//
// Without instructions for int8, even and odd K steps are widened to pairs of
// 16-bit integers, with zero extension for uint8 and sign extension for int8.
// PAIRS-LABEL: @packed(
// PAIRS: %[[W:.*]] = vector.bitcast %{{.*}} : vector<32xi8> to vector<16xi16>
// PAIRS: %[[UP:.*]] = arith.shli %[[W]], %[[EIGHT:.*]] : vector<16xi16>
// PAIRS: %[[EVEN_W:.*]] = arith.shrsi %[[UP]], %[[EIGHT]]
// PAIRS: %[[ODD_W:.*]] = arith.shrsi %[[W]], %[[EIGHT]]
// PAIRS: vector.broadcast %{{.*}} : i32 to vector<8xi32>
// PAIRS: %[[X:.*]] = vector.bitcast %{{.*}} : vector<32xi8> to vector<16xi16>
// PAIRS: %[[EVEN_X:.*]] = arith.andi %[[X]], %{{.*}} : vector<16xi16>
// PAIRS: %[[ODD_X:.*]] = arith.shrui %[[X]], %[[EIGHT]]
// PAIRS: %[[SUM:.*]] = kernel.dot %[[EVEN_X]], %[[EVEN_W]], %{{.*}} : vector<16xi16>, vector<8xi32>
// PAIRS-NEXT: kernel.dot %[[ODD_X]], %[[ODD_W]], %[[SUM]]
kernel.func @packed(%x: tensor<5x18xui8>, %w: tensor<2560xsi8>) -> tensor<5x121xsi32> attributes {strategy = "integer-product", plan = {columns = 64, rows = 5, splits = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 64 : i64, tail = 64 : i64, group = 4 : i64} : (tensor<2560xsi8>) -> tensor<18x121xsi8>
  %y = graph.matmul %x, %u : (tensor<5x18xui8>, tensor<18x121xsi8>) -> tensor<5x121xsi32>
  kernel.return %y : tensor<5x121xsi32>
}

// A right operand that is not packed is read in place: four of its rows are
// interleaved lane by lane.
// CHECK-LABEL: @in_place(
// CHECK-COUNT-4: vector.load %{{.*}} : memref<8x16xi8>, vector<16xi8>
// CHECK-COUNT-2: vector.shuffle %{{.*}}, %{{.*}} [0, 16, 1, 17,
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 32, 33, 2, 3, 34, 35,
// CHECK: kernel.dot unsigned
kernel.func @in_place(%x: tensor<5x8xui8>, %w: tensor<8x16xsi8>) -> tensor<5x16xsi32> attributes {strategy = "integer-product", plan = {columns = 16, rows = 5, splits = 1}, comment = ""} {
  %y = graph.matmul %x, %w : (tensor<5x8xui8>, tensor<8x16xsi8>) -> tensor<5x16xsi32>
  kernel.return %y : tensor<5x16xsi32>
}

// If the last group has fewer than four rows, the left operand is zero for the
// missing ones, and the first row of the group stands for them.
// CHECK-LABEL: @in_place_left(
// CHECK: vector.load %{{.*}} : memref<5x16xi8>, vector<16xi8>
// CHECK: kernel.dot unsigned
// CHECK: %[[LAST:.*]] = vector.load %{{.*}} : memref<5x16xi8>, vector<16xi8>
// CHECK-NEXT: %[[PAIR:.*]] = vector.shuffle %[[LAST]], %[[LAST]] [0, 16, 1, 17,
// CHECK: vector.shuffle %[[PAIR]], %{{.*}} [0, 1, 32, 33, 2, 3, 34, 35,
// CHECK: vector.from_elements %{{.*}}, %c0_i8, %c0_i8, %c0_i8
// CHECK: kernel.dot unsigned
kernel.func @in_place_left(%x: tensor<5x5xui8>, %w: tensor<5x16xsi8>) -> tensor<5x16xsi32> attributes {strategy = "integer-product", plan = {columns = 16, rows = 5, splits = 1}, comment = ""} {
  %y = graph.matmul %x, %w : (tensor<5x5xui8>, tensor<5x16xsi8>) -> tensor<5x16xsi32>
  kernel.return %y : tensor<5x16xsi32>
}

// On a target that stores only whole registers fast, four vectors of 32-bit
// sums become one vector of 8-bit results.
// HEXAGON-LABEL: @bytes(
// HEXAGON-COUNT-2: vector.shuffle %{{.*}} : vector<32xi32>, vector<32xi32>
// HEXAGON: %[[SUMS:.*]] = vector.shuffle %{{.*}} : vector<64xi32>, vector<64xi32>
// HEXAGON: %[[BYTES:.*]] = arith.trunci %[[SUMS]] : vector<128xi32> to vector<128xi8>
// HEXAGON: vector.store %[[BYTES]], %{{.*}} : memref<2x160xi8>, vector<128xi8>
// HEXAGON: vector.store %{{.*}} : memref<2x160xi8>, vector<64xi8>
kernel.func @bytes(%x: tensor<2x8xui8>, %w: tensor<1280xui8>) -> tensor<2x160xui8> attributes {strategy = "integer-product", plan = {columns = 160, rows = 2, splits = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 160 : i64, tail = 0 : i64, group = 4 : i64} : (tensor<1280xui8>) -> tensor<8x160xui8>
  %s = graph.matmul %x, %u : (tensor<2x8xui8>, tensor<8x160xui8>) -> tensor<2x160xsi32>
  %y = graph.cast %s : (tensor<2x160xsi32>) -> tensor<2x160xui8>
  kernel.return %y : tensor<2x160xui8>
}

// If the target has no vectors for the operators in the epilogue (here floats),
// the sums are extracted lane by lane.
// HEXAGON-LABEL: @floats(
// HEXAGON: scf.for %[[LANE:.*]] = %c0{{.*}} to %c32
// HEXAGON: %[[SUM:.*]] = vector.extract %{{.*}}[%[[LANE]]] : i32 from vector<32xi32>
// HEXAGON: arith.sitofp %[[SUM]] : i32 to f32
// HEXAGON: memref.store
kernel.func @floats(%x: tensor<2x8xui8>, %w: tensor<256xui8>) -> tensor<2x32xf32> attributes {strategy = "integer-product", plan = {columns = 32, rows = 2, splits = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 32 : i64, tail = 0 : i64, group = 4 : i64} : (tensor<256xui8>) -> tensor<8x32xui8>
  %s = graph.matmul %x, %u : (tensor<2x8xui8>, tensor<8x32xui8>) -> tensor<2x32xsi32>
  %y = graph.cast %s : (tensor<2x32xsi32>) -> tensor<2x32xf32>
  kernel.return %y : tensor<2x32xf32>
}
