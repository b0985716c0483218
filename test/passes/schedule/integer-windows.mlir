// RUN: split-file %s %t
// RUN: %ingot-opt %t/windows.mlir -schedule-kernels=target=cortex-m4 | FileCheck %s
// RUN: %ingot-opt %t/scaled.mlir -schedule-kernels=target=cortex-m55 | FileCheck %s --check-prefix=VECTORS
// REQUIRES: ingot-opt

// A convolution copies the windows of two positions, each as 27 contiguous K
// steps and a 28th, for which the weights are zeros. Kernel rows inside the
// input are copied as a whole, others pixel by pixel, with the padding value
// for pixels outside. Then each window is read through a pointer of its own,
// four K steps at a time.
// CHECK-LABEL: @windows(
// CHECK: %[[OUTSIDE:.*]] = arith.constant 7 : i8
// CHECK: memref.store %[[OUTSIDE]], %[[AROUND:[a-z0-9]*]][%{{.*}}] : memref<3xi8>
// CHECK: scf.if %{{.*}} {
// CHECK: vector.load %{{.*}} : memref<75xi8>, vector<4xi8>
// CHECK: vector.store %{{.*}}, %[[WINDOWS:[a-z0-9]*]][%{{.*}}] : memref<2x28xi8>, vector<4xi8>
// CHECK: } else {
// CHECK: scf.if %{{.*}} {
// CHECK: memref.load %{{.*}} : memref<75xi8>
// CHECK: } else {
// CHECK: memref.load %[[AROUND]]
// CHECK: kernel.cursor %[[WINDOWS]][%c0{{[_0-9]*}}, %c0{{[_0-9]*}}] : memref<2x28xi8>
// CHECK: kernel.cursor %[[WINDOWS]][%c1{{[_0-9]*}}, %c0{{[_0-9]*}}] : memref<2x28xi8>
// CHECK: scf.for %{{.*}} = %c0{{[_0-9]*}} to %c7{{[_0-9]*}} step
// CHECK: kernel.load_next %{{.*}} : vector<4xi8>, vector<4xi8>
// CHECK-COUNT-4: kernel.dot
//--- windows.mlir
kernel.func @windows(%x: tensor<1x5x5x3xui8>, %p: tensor<224xsi8>) -> tensor<1x5x5x8xsi32> attributes {strategy = "compact-convolution", plan = {columns = 2, groups = 1, rows = 2, together = 4}, comment = ""} {
  %w = graph.unpack_panels %p {panel = 2 : i64, tail = 0 : i64, group = 4 : i64, axes = 3 : i64} : (tensor<224xsi8>) -> tensor<3x3x3x8xsi8>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64, x_outside = 7 : i64} : (tensor<1x5x5x3xui8>, tensor<3x3x3x8xsi8>) -> tensor<1x5x5x8xsi32>
  kernel.return %y : tensor<1x5x5x8xsi32>
}

// The M55's vector instructions sum int8 dot products in scalar registers: the
// sums of four columns become a vector for the epilogue.
// VECTORS-LABEL: @scaled(
// VECTORS: %[[SUMS:.*]]:4 = scf.for
// VECTORS-COUNT-4: kernel.dot {{.*}} : vector<16xi8>, i32
// VECTORS: %[[ALL:.*]] = vector.from_elements %[[SUMS]]#0, %[[SUMS]]#1, %[[SUMS]]#2, %[[SUMS]]#3 : vector<4xi32>
// VECTORS: %[[SCALED:.*]] = kernel.mul_high %[[ALL]], %{{.*}} : vector<4xi32>
// VECTORS: vector.store %[[SCALED]]
//--- scaled.mlir
kernel.func @scaled(%x: tensor<1x32xsi8>, %p: tensor<256xsi8>, %m: tensor<1x8xsi32>) -> tensor<1x8xsi32> attributes {strategy = "compact-product", plan = {columns = 4, groups = 1, rows = 1, together = 16}, comment = ""} {
  %w = graph.unpack_panels %p {panel = 4 : i64, tail = 0 : i64, group = 16 : i64} : (tensor<256xsi8>) -> tensor<32x8xsi8>
  %y = graph.matmul %x, %w : (tensor<1x32xsi8>, tensor<32x8xsi8>) -> tensor<1x8xsi32>
  %z = graph.mul_high %y, %m : (tensor<1x8xsi32>, tensor<1x8xsi32>) -> tensor<1x8xsi32>
  kernel.return %z : tensor<1x8xsi32>
}
