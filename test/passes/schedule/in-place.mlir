// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v3 | FileCheck %s
// REQUIRES: ingot-opt

// An operand of the epilogue may be overwritten by the result if only
// elementwise operators depend on it.
kernel.func @residual(%x: tensor<1x4x4x16xf32>, %p: tensor<256xf32>, %r: tensor<1x4x4x16xf32>) -> tensor<1x4x4x16xf32> attributes {strategy = "convolution", plan = {columns = 16, order = "tiles", rows = 2, splits = 1}, comment = ""} {
  %w = graph.unpack_panels %p {panel = 16 : i64, tail = 0 : i64, group = 1 : i64} : (tensor<256xf32>) -> tensor<1x1x16x16xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x4x16xf32>, tensor<1x1x16x16xf32>) -> tensor<1x4x4x16xf32>
  %a = graph.abs %r : (tensor<1x4x4x16xf32>) -> tensor<1x4x4x16xf32>
  %z = graph.add %y, %a : (tensor<1x4x4x16xf32>, tensor<1x4x4x16xf32>) -> tensor<1x4x4x16xf32>
  kernel.return %z : tensor<1x4x4x16xf32>
}

// It is not overwritten if the elementwise operator that reads it is followed
// by one that reads elements at other indices, such as a reversal.
kernel.func @reversed(%x: tensor<1x4x4x16xf32>, %p: tensor<256xf32>, %r: tensor<1x4x4x16xf32>) -> tensor<1x4x4x16xf32> attributes {strategy = "convolution", plan = {columns = 16, order = "tiles", rows = 2, splits = 1}, comment = ""} {
  %w = graph.unpack_panels %p {panel = 16 : i64, tail = 0 : i64, group = 1 : i64} : (tensor<256xf32>) -> tensor<1x1x16x16xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x4x16xf32>, tensor<1x1x16x16xf32>) -> tensor<1x4x4x16xf32>
  %a = graph.abs %r : (tensor<1x4x4x16xf32>) -> tensor<1x4x4x16xf32>
  %f = graph.slice %a {starts = array<i64: 0, 3, 0, 0>, steps = array<i64: 1, -1, 1, 1>} : (tensor<1x4x4x16xf32>) -> tensor<1x4x4x16xf32>
  %z = graph.add %y, %f : (tensor<1x4x4x16xf32>, tensor<1x4x4x16xf32>) -> tensor<1x4x4x16xf32>
  kernel.return %z : tensor<1x4x4x16xf32>
}

// The same applies to the input of a convolution that an elementwise operator
// computes in the kernel.
kernel.func @before(%x: tensor<1x4x4x16xf32>, %p: tensor<256xf32>) -> tensor<1x4x4x16xf32> attributes {strategy = "convolution", plan = {columns = 16, order = "tiles", rows = 2, splits = 1}, comment = ""} {
  %w = graph.unpack_panels %p {panel = 16 : i64, tail = 0 : i64, group = 1 : i64} : (tensor<256xf32>) -> tensor<1x1x16x16xf32>
  %a = graph.abs %x : (tensor<1x4x4x16xf32>) -> tensor<1x4x4x16xf32>
  %y = graph.conv %a, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x4x16xf32>, tensor<1x1x16x16xf32>) -> tensor<1x4x4x16xf32>
  kernel.return %y : tensor<1x4x4x16xf32>
}

// And to an operand of the epilogue of Winograd's algorithm.
kernel.func @transposed(%x: tensor<1x4x4x16xf32>, %p: tensor<4096xf32>, %r: tensor<1x4x4x16xf32>) -> tensor<1x4x4x16xf32> attributes {strategy = "winograd", plan = {block = 4, columns = 16, parts = 1, rows = 4, size = 2}, comment = ""} {
  %u = graph.unpack_panels %p {panel = 16 : i64, tail = 0 : i64} : (tensor<4096xf32>) -> tensor<16x16x16xf32>
  %w = graph.restore_kernel %u {size = 2 : i64} : (tensor<16x16x16xf32>) -> tensor<3x3x16x16xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x4x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x4x4x16xf32>
  %a = graph.abs %r : (tensor<1x4x4x16xf32>) -> tensor<1x4x4x16xf32>
  %t = graph.transpose %a {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x4x4x16xf32>) -> tensor<1x4x4x16xf32>
  %z = graph.add %y, %t : (tensor<1x4x4x16xf32>, tensor<1x4x4x16xf32>) -> tensor<1x4x4x16xf32>
  kernel.return %z : tensor<1x4x4x16xf32>
}

// CHECK-LABEL: @main(
// CHECK: kernel.launch @residual({{.*}}) {inplace = array<i64: 0, 2>} :
// CHECK: kernel.launch @reversed({{[^{]*}}) :
// CHECK: kernel.launch @before({{[^{]*}}) :
// CHECK: kernel.launch @transposed({{[^{]*}}) :
kernel.program @main(%x: tensor<1x4x4x16xf32>, %p: tensor<256xf32>, %u: tensor<4096xf32>) -> tensor<1x4x4x16xf32> {
  %a = kernel.launch @residual(%x, %p, %x) : (tensor<1x4x4x16xf32>, tensor<256xf32>, tensor<1x4x4x16xf32>) -> tensor<1x4x4x16xf32>
  %b = kernel.launch @reversed(%x, %p, %a) : (tensor<1x4x4x16xf32>, tensor<256xf32>, tensor<1x4x4x16xf32>) -> tensor<1x4x4x16xf32>
  %c = kernel.launch @before(%b, %p) : (tensor<1x4x4x16xf32>, tensor<256xf32>) -> tensor<1x4x4x16xf32>
  %d = kernel.launch @transposed(%x, %u, %c) : (tensor<1x4x4x16xf32>, tensor<4096xf32>, tensor<1x4x4x16xf32>) -> tensor<1x4x4x16xf32>
  kernel.return %d : tensor<1x4x4x16xf32>
}
