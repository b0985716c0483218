// RUN: %ingot-opt %s -schedule-kernels=target=armv8-a | FileCheck %s
// REQUIRES: ingot-opt

// A depthwise convolution of int8 in 16 bits: eight channels are loaded and
// widened at once, the zero point is subtracted, and each half is multiplied
// into four 32-bit sums. Positions outside of the input are skipped, so the
// input needs no padding. Two vectors of sums become eight results.
// CHECK-LABEL: @zero_point(
// CHECK: vector.load %{{.*}} : memref<3x3x16xi8>, vector<8xi8>
// CHECK: arith.extsi %{{.*}} : vector<8xi8> to vector<8xi16>
// CHECK: vector.load %{{.*}} : memref<1x4x8x16xi8>, vector<8xi8>
// CHECK: arith.extui %{{.*}} : vector<8xi8> to vector<8xi16>
// CHECK: arith.subi %{{.*}} : vector<8xi16>
// CHECK: kernel.dot %{{.*}} {{.*}}kernel.upper_half = false{{.*}} : vector<8xi16>, vector<4xi32>
// CHECK: kernel.dot %{{.*}} {{.*}}kernel.upper_half = true{{.*}} : vector<8xi16>, vector<4xi32>
// CHECK: kernel.narrow_signed %{{.*}} : vector<4xi32> to vector<8xi16>
// CHECK: vector.store %{{.*}} : memref<1x4x8x16xi8>, vector<8xi8>
kernel.func @zero_point(%x: tensor<1x4x8x16xui8>, %w: tensor<3x3x1x16xsi8>, %scale: tensor<f32>) -> tensor<1x4x8x16xui8> attributes {strategy = "widened-depthwise", plan = {columns = 4}, comment = ""} {
  %s = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 16 : i64, x_zero = 3 : i64}
      : (tensor<1x4x8x16xui8>, tensor<3x3x1x16xsi8>) -> tensor<1x4x8x16xsi32>
  %f = graph.cast %s : (tensor<1x4x8x16xsi32>) -> tensor<1x4x8x16xf32>
  %zero = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %y = graph.quantize %f, %scale, %zero : (tensor<1x4x8x16xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x4x8x16xui8>
  kernel.return %y : tensor<1x4x8x16xui8>
}

// With a zero point of 0, nothing is subtracted. Sums start with the bias.
// CHECK-LABEL: @bias(
// CHECK: vector.load %{{.*}} : memref<8xi32>, vector<4xi32>
// CHECK: vector.load %{{.*}} : memref<8xi32>, vector<4xi32>
// CHECK-NOT: arith.subi %{{.*}} : vector<8xi16>
// CHECK: kernel.dot %{{.*}} : vector<8xi16>, vector<4xi32>
// CHECK: vector.store %{{.*}} : memref<1x3x1x8xi32>, vector<4xi32>
kernel.func @bias(%x: tensor<1x7x3x8xsi8>, %w: tensor<3x3x1x8xsi8>, %bias: tensor<8xsi32>) -> tensor<1x3x1x8xsi32> attributes {strategy = "widened-depthwise", plan = {columns = 1}, comment = ""} {
  %s = graph.conv %x, %w, %bias {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 8 : i64}
      : (tensor<1x7x3x8xsi8>, tensor<3x3x1x8xsi8>, tensor<8xsi32>) -> tensor<1x3x1x8xsi32>
  kernel.return %s : tensor<1x3x1x8xsi32>
}
