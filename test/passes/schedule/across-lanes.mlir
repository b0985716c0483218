// RUN: %ingot-opt %s -schedule-kernels=target=armv8-a | FileCheck %s
// REQUIRES: ingot-opt

// The K steps of a 1x1 convolution are the lanes: 24 input channels are one and
// a half registers of 16. Each output channel has a vector of sums, whose lanes
// are added in pairs after all K steps. Then the bias is added.
// CHECK-LABEL: @pointwise(
// CHECK: scf.for
// CHECK-COUNT-4: vector.load %{{.*}} : memref<128xi8>, vector<16xi8>
// CHECK-COUNT-2: vector.load %{{.*}}, vector<16xi8>
// CHECK: kernel.dot %{{.*}}, %{{.*}}, %{{.*}} {{.*}}kernel.across_lanes{{.*}} : vector<16xi8>, vector<4xi32>
// CHECK: vector.extract_strided_slice %{{.*}} : vector<16xi8> to vector<8xi8>
// CHECK: kernel.dot %{{.*}}, %{{.*}}, %{{.*}} : vector<8xi8>, vector<4xi32>
// CHECK-NOT: kernel.dot {{.*}}across_lanes
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 2, 4, 6]
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [1, 3, 5, 7]
// CHECK: arith.addi
// CHECK: %[[BIAS:.*]] = vector.load %{{.*}} : memref<4xi32>, vector<4xi32>
// CHECK: arith.addi %{{.*}}, %[[BIAS]]
kernel.func @pointwise(%x: tensor<1x2x2x24xsi8>, %p: tensor<128xsi8>, %bias: tensor<4xsi32>) -> tensor<1x2x2x4xsi32> attributes {strategy = "convolution", plan = {columns = 4, order = "tiles", rows = 2, splits = 1}, comment = ""} {
  %w = graph.unpack_panels %p {panel = 4 : i64, tail = 0 : i64, group = 16 : i64} : (tensor<128xsi8>) -> tensor<1x1x24x4xsi8>
  %y = graph.conv %x, %w, %bias {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x2x2x24xsi8>, tensor<1x1x24x4xsi8>, tensor<4xsi32>) -> tensor<1x2x2x4xsi32>
  kernel.return %y : tensor<1x2x2x4xsi32>
}

// The results of four positions, of four channels each, are rounded by one
// instruction and narrowed to one register. The zero point is added to 16-bit
// integers. Each position stores a 32-bit word.
// CHECK-LABEL: @narrowed(
// CHECK: %[[ZERO:.*]] = arith.constant dense<-3> : vector<8xi16>
// CHECK: kernel.round_saturated
// CHECK: kernel.round_saturated
// CHECK: kernel.narrow_signed %{{.*}} : vector<4xi32> to vector<8xi16>
// CHECK: kernel.add_saturated %{{.*}}, %[[ZERO]]
// CHECK: kernel.round_saturated
// CHECK: kernel.round_saturated
// CHECK: kernel.narrow_signed %{{.*}} : vector<4xi32> to vector<8xi16>
// CHECK: kernel.add_saturated %{{.*}}, %[[ZERO]]
// CHECK: kernel.narrow_signed %{{.*}} : vector<8xi16> to vector<16xi8>
// CHECK: vector.bitcast %{{.*}} : vector<16xi8> to vector<4xi32>
// CHECK: vector.extract %{{.*}}[0] : i32 from vector<4xi32>
// CHECK: vector.store %{{.*}} : memref<4x4xi8>, vector<4xi8>
// CHECK: vector.extract %{{.*}}[3] : i32 from vector<4xi32>
// CHECK: vector.store %{{.*}} : memref<4x4xi8>, vector<4xi8>
kernel.func @narrowed(%x: tensor<1x2x2x16xsi8>, %p: tensor<64xsi8>, %scale: tensor<f32>) -> tensor<1x2x2x4xsi8> attributes {strategy = "convolution", plan = {columns = 4, order = "tiles", rows = 4, splits = 1}, comment = ""} {
  %w = graph.unpack_panels %p {panel = 4 : i64, tail = 0 : i64, group = 16 : i64} : (tensor<64xsi8>) -> tensor<1x1x16x4xsi8>
  %s = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x2x2x16xsi8>, tensor<1x1x16x4xsi8>) -> tensor<1x2x2x4xsi32>
  %f = graph.cast %s : (tensor<1x2x2x4xsi32>) -> tensor<1x2x2x4xf32>
  %zero = graph.constant dense<-3> : tensor<si8> : tensor<si8>
  %y = graph.quantize %f, %scale, %zero : (tensor<1x2x2x4xf32>, tensor<f32>, tensor<si8>) -> tensor<1x2x2x4xsi8>
  kernel.return %y : tensor<1x2x2x4xsi8>
}
