// RUN: %ingot-opt %s -schedule-kernels=target=cortex-m55 | FileCheck %s
// REQUIRES: ingot-opt

// On the M55, with eight registers of four lanes, a convolution tile is three
// positions by two vectors, whose six sums stay in registers. A K step loads
// two vectors of weights and three factors, each through a pointer of its own;
// an iteration has two K steps.
// CHECK-LABEL: @pointwise(
// CHECK-NOT: kernel.extent
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c3
// CHECK: kernel.cursor
// CHECK: kernel.cursor
// CHECK: kernel.cursor
// CHECK: %{{.*}}:6 = scf.for %{{.*}} = %c0 to %c8 step %c1
// CHECK-NEXT: kernel.load_next %{{.*}} : vector<4xf32>
// CHECK-NEXT: kernel.load_next %{{.*}} : vector<4xf32>
// CHECK-NEXT: kernel.load_next %{{.*}} : f32
// CHECK-COUNT-12: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
kernel.func @pointwise(%x: tensor<1x6x6x16xf32>, %p: tensor<256xf32>) -> tensor<1x6x6x16xf32> attributes {strategy = "compact-convolution", plan = {columns = 8, groups = 1, rows = 3, together = 2}, comment = ""} {
  %w = graph.unpack_panels %p {panel = 8 : i64, tail = 0 : i64} : (tensor<256xf32>) -> tensor<1x1x16x16xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x6x6x16xf32>, tensor<1x1x16x16xf32>) -> tensor<1x6x6x16xf32>
  kernel.return %y : tensor<1x6x6x16xf32>
}

// In a tile without padding, a kernel row is one range of 3 x 16 K steps, two
// per iteration. In a tile with padding, it is three ranges of 16, with zeros
// for columns outside of the input.
// CHECK-LABEL: @padded(
// CHECK: %[[IN:.*]] = arith.cmpi ult
// CHECK: %[[COUNT:.*]] = arith.select %[[IN]], %c1{{[_0-9]*}}, %c3{{[_0-9]*}} : index
// CHECK: %[[TRIPS:.*]] = arith.select %[[IN]], %c24{{[_0-9]*}}, %c8{{[_0-9]*}} : index
// CHECK: scf.for %{{.*}} = %c0 to %[[COUNT]]
// CHECK: kernel.cursor %{{.*}} if %{{.*}} else
// CHECK: scf.for %{{.*}} = %c0 to %[[TRIPS]]
// CHECK: vector.fma
kernel.func @padded(%x: tensor<1x6x6x16xf32>, %p: tensor<2304xf32>) -> tensor<1x6x6x16xf32> attributes {strategy = "compact-convolution", plan = {columns = 8, groups = 1, rows = 3, together = 2}, comment = ""} {
  %w = graph.unpack_panels %p {panel = 8 : i64, tail = 0 : i64} : (tensor<2304xf32>) -> tensor<3x3x16x16xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x6x6x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x6x6x16xf32>
  kernel.return %y : tensor<1x6x6x16xf32>
}

// If all elements of a bias are equal, one number is loaded, and sums start
// with its broadcast.
// CHECK-LABEL: @equal_bias(
// CHECK: %[[B:.*]] = vector.broadcast %{{.*}} : f32 to vector<4xf32>
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %[[B]]
// CHECK: vector.fma
kernel.func @equal_bias(%x: tensor<1x6x6x16xf32>, %p: tensor<256xf32>) -> tensor<1x6x6x16xf32> attributes {strategy = "compact-convolution", plan = {columns = 8, groups = 1, rows = 3, together = 2}, comment = ""} {
  %w = graph.unpack_panels %p {panel = 8 : i64, tail = 0 : i64} : (tensor<256xf32>) -> tensor<1x1x16x16xf32>
  %b = graph.constant dense<0.5> : tensor<16xf32> : tensor<16xf32>
  %y = graph.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x6x6x16xf32>, tensor<1x1x16x16xf32>, tensor<16xf32>) -> tensor<1x6x6x16xf32>
  kernel.return %y : tensor<1x6x6x16xf32>
}
