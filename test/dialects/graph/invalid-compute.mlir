// Errors of the verifiers of matrix products, convolutions and other window
// operators.
//
// REQUIRES: ingot-opt
// RUN: %ingot-opt %s --split-input-file --verify-diagnostics

func.func @matmul(%x: tensor<4x5xf32>, %y: tensor<6x7xf32>) {
  // expected-error @+1 {{the inner sizes differ: 5 and 6}}
  %r = graph.matmul %x, %y : (tensor<4x5xf32>, tensor<6x7xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @matmul_2(%x: tensor<2x4x5xf32>, %y: tensor<3x5x7xf32>) {
  // expected-error @+1 {{the batch axes do not broadcast}}
  %r = graph.matmul %x, %y : (tensor<2x4x5xf32>, tensor<3x5x7xf32>) -> tensor<2x4x7xf32>
  return
}

// -----

func.func @matmul_3(%x: tensor<4x5xsi32>, %y: tensor<5x7xsi32>) {
  // expected-error @+1 {{multiplies si32 by si32 into f32; types must be one}}
  %r = graph.matmul %x, %y : (tensor<4x5xsi32>, tensor<5x7xsi32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @conv(%x: tensor<1x8x8x3xf32>, %y: tensor<3x3x3x4xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<1x6x6x4xf32>'}}
  %r = graph.conv %x, %y
      {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64}
      : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x6x6x5xf32>
  return
}

// -----

func.func @conv_2(%x: tensor<1x8x8x3xf32>, %y: tensor<3x3x2x4xf32>) {
  // expected-error @+1 {{the weights do not fit 3 channels in 1 groups}}
  %r = graph.conv %x, %y
      {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64}
      : (tensor<1x8x8x3xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

func.func @conv_3(%x: tensor<1x8x8x3xf32>, %y: tensor<3x3x3x4xf32>, %z: tensor<3xf32>) {
  // expected-error @+1 {{has a bias of 'tensor<3xf32>', not of the shape [4]}}
  %r = graph.conv %x, %y, %z
      {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64}
      : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>, tensor<3xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

func.func @conv_4(%x: tensor<1x8x8x3xf32>, %y: tensor<3x3x3x4xf32>) {
  // expected-error @+1 {{has a kernel size, stride or dilation that is not positive}}
  %r = graph.conv %x, %y
      {strides = array<i64: 1, 0>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64}
      : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

func.func @conv_transpose(%x: tensor<1x8x8x4xf32>, %y: tensor<3x3x4x2xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<1x10x10x4xf32>'}}
  %r = graph.conv_transpose %x, %y
      {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 2 : i64}
      : (tensor<1x8x8x4xf32>, tensor<3x3x4x2xf32>) -> tensor<1x10x10x2xf32>
  return
}

// -----

func.func @conv_transpose_2(%x: tensor<1x8x8x4xf32>, %y: tensor<3x3x4x2xf32>) {
  // expected-error @+1 {{does not have one entry for each spatial axis everywhere}}
  %r = graph.conv_transpose %x, %y
      {strides = array<i64: 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64}
      : (tensor<1x8x8x4xf32>, tensor<3x3x4x2xf32>) -> tensor<1x10x10x2xf32>
  return
}

// -----

func.func @pack_panels(%x: tensor<5x10xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<60xf32>'}}
  %r = graph.pack_panels %x {panel = 8 : i64, tail = 4 : i64} : (tensor<5x10xf32>) -> tensor<50xf32>
  return
}

// -----

func.func @pack_panels_2(%x: tensor<5x10xf32>) {
  // expected-error @+1 {{the columns do not fit the panels}}
  %r = graph.pack_panels %x {panel = 8 : i64, tail = 0 : i64} : (tensor<5x10xf32>) -> tensor<40xf32>
  return
}

// -----

func.func @unpack_panels(%x: tensor<50xf32>) {
  // expected-error @+1 {{has an operand of 'tensor<50xf32>', not of the shape [60]}}
  %r = graph.unpack_panels %x {panel = 8 : i64, tail = 4 : i64} : (tensor<50xf32>) -> tensor<5x10xf32>
  return
}

// -----

func.func @unpack_panels_2(%x: tensor<60xf32>) {
  // expected-error @+1 {{the columns do not fit the panels}}
  %r = graph.unpack_panels %x {panel = 0 : i64, tail = 4 : i64} : (tensor<60xf32>) -> tensor<5x10xf32>
  return
}

// -----

func.func @sample_kernel(%x: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{has the size 3, not 2 or 4}}
  %r = graph.sample_kernel %x {size = 3 : i64} : (tensor<3x3x4x8xf32>) -> tensor<25x4x8xf32>
  return
}

// -----

func.func @sample_kernel_2(%x: tensor<3x5x4x8xf32>) {
  // expected-error @+1 {{needs floats of the shape [3, 3, C, O]}}
  %r = graph.sample_kernel %x {size = 2 : i64} : (tensor<3x5x4x8xf32>) -> tensor<16x4x8xf32>
  return
}

// -----

func.func @sample_kernel_3(%x: tensor<3x3x4x8xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<16x4x8xf32>'}}
  %r = graph.sample_kernel %x {size = 2 : i64} : (tensor<3x3x4x8xf32>) -> tensor<36x4x8xf32>
  return
}

// -----

func.func @restore_kernel(%x: tensor<16x4x8xf32>) {
  // expected-error @+1 {{has the size 6, not 2 or 4}}
  %r = graph.restore_kernel %x {size = 6 : i64} : (tensor<16x4x8xf32>) -> tensor<3x3x4x8xf32>
  return
}

// -----

func.func @restore_kernel_2(%x: tensor<16x4x8xf32>) {
  // expected-error @+1 {{needs floats of the shape [36, C, O]}}
  %r = graph.restore_kernel %x {size = 4 : i64} : (tensor<16x4x8xf32>) -> tensor<3x3x4x8xf32>
  return
}

// -----

func.func @max_pool(%x: tensor<1x8x8x3xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<1x4x4x3xf32>'}}
  %r = graph.max_pool %x
      {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>}
      : (tensor<1x8x8x3xf32>) -> tensor<1x4x4x4xf32>
  return
}

// -----

func.func @max_pool_2(%x: tensor<1x8x8x3xf32>) {
  // expected-error @+1 {{has a kernel size, stride or dilation that is not positive}}
  %r = graph.max_pool %x
      {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 0>, low = array<i64: 0, 0>}
      : (tensor<1x8x8x3xf32>) -> tensor<1x4x4x3xf32>
  return
}

// -----

func.func @max_pool_index(%x: tensor<1x8x8x3xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<1x4x4x3xsi64>'}}
  %r = graph.max_pool_index %x
      {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, storage_order = 0 : i64}
      : (tensor<1x8x8x3xf32>) -> tensor<1x4x4x4xsi64>
  return
}

// -----

func.func @max_pool_index_2(%x: tensor<1x8x8x3xf32>) {
  // expected-error @+1 {{has a kernel size, stride or dilation that is not positive}}
  %r = graph.max_pool_index %x
      {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 0>, low = array<i64: 0, 0>, storage_order = 0 : i64}
      : (tensor<1x8x8x3xf32>) -> tensor<1x4x4x3xsi64>
  return
}

// -----

func.func @average_pool(%x: tensor<1x8x8x3xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<1x4x4x3xf32>'}}
  %r = graph.average_pool %x
      {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, count_padding = false, high = array<i64: 0, 0>}
      : (tensor<1x8x8x3xf32>) -> tensor<1x4x4x4xf32>
  return
}

// -----

func.func @average_pool_2(%x: tensor<1x8x8x3xf32>) {
  // expected-error @+1 {{has a kernel size, stride or dilation that is not positive}}
  %r = graph.average_pool %x
      {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 0>, low = array<i64: 0, 0>, count_padding = false, high = array<i64: 0, 0>}
      : (tensor<1x8x8x3xf32>) -> tensor<1x4x4x3xf32>
  return
}

// -----

func.func @lp_pool(%x: tensor<1x8x8x3xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<1x4x4x3xf32>'}}
  %r = graph.lp_pool %x
      {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, p = 2 : i64}
      : (tensor<1x8x8x3xf32>) -> tensor<1x4x4x4xf32>
  return
}

// -----

func.func @lp_pool_2(%x: tensor<1x8x8x3xf32>) {
  // expected-error @+1 {{has a kernel size, stride or dilation that is not positive}}
  %r = graph.lp_pool %x
      {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 0>, low = array<i64: 0, 0>, p = 2 : i64}
      : (tensor<1x8x8x3xf32>) -> tensor<1x4x4x3xf32>
  return
}

// -----

func.func @average_pool_3(%x: tensor<1x8x8x3xf32>) {
  // expected-error @+1 {{does not have one entry for each spatial axis everywhere}}
  %r = graph.average_pool %x
      {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, count_padding = false, high = array<i64: 0>}
      : (tensor<1x8x8x3xf32>) -> tensor<1x4x4x3xf32>
  return
}

// -----

func.func @non_max_suppression(%b: tensor<2x9x4xf32>, %s: tensor<2x3x8xf32>, %l: tensor<si64>, %t: tensor<f32>) {
  // expected-error @+1 {{needs boxes [N, B, 4] and scores [N, C, B]}}
  %r:3 = graph.non_max_suppression %b, %s, %l, %t, %t
      : (tensor<2x9x4xf32>, tensor<2x3x8xf32>, tensor<si64>, tensor<f32>, tensor<f32>) -> (tensor<54x3xsi64>, tensor<1xsi64>, tensor<3x9xsi32>)
  return
}

// -----

func.func @narrow_matmul(%x: tensor<3x8xf32>, %w: tensor<4x5xui8>, %s: tensor<2x5xf32>) {
  // expected-error @+1 {{has weights of 3 bits}}
  %r = graph.narrow_matmul %x, %w, %s {bits = 3 : i64, block = 4 : i64} : (tensor<3x8xf32>, tensor<4x5xui8>, tensor<2x5xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @narrow_matmul_zero(%x: tensor<3x8xf32>, %w: tensor<4x5xui8>, %s: tensor<2x5xf32>) {
  // expected-error @+1 {{has the zero point 256, which is no byte}}
  %r = graph.narrow_matmul %x, %w, %s {bits = 4 : i64, block = 4 : i64, zero = 256 : i64} : (tensor<3x8xf32>, tensor<4x5xui8>, tensor<2x5xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @narrow_matmul_zeros(%x: tensor<3x8xf32>, %w: tensor<4x5xui8>, %s: tensor<2x5xf32>, %z: tensor<2x5xui8>) {
  // expected-error @+1 {{has zero points both as a tensor and as an attribute}}
  %r = graph.narrow_matmul %x, %w, %s, %z {bits = 4 : i64, block = 4 : i64, zero = 8 : i64} : (tensor<3x8xf32>, tensor<4x5xui8>, tensor<2x5xf32>, tensor<2x5xui8>) -> tensor<3x5xf32>
  return
}

// -----

func.func @narrow_matmul_2(%x: tensor<3x8xf32>, %w: tensor<4x5xui8>, %s: tensor<2x5xf32>) {
  // expected-error @+1 {{no whole blocks of 3 steps}}
  %r = graph.narrow_matmul %x, %w, %s {bits = 4 : i64, block = 3 : i64} : (tensor<3x8xf32>, tensor<4x5xui8>, tensor<2x5xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @narrow_matmul_3(%x: tensor<3x9xf32>, %w: tensor<4x5xui8>, %s: tensor<2x5xf32>) {
  // expected-error @+1 {{the inner sizes differ: 9 and 8}}
  %r = graph.narrow_matmul %x, %w, %s {bits = 4 : i64, block = 4 : i64} : (tensor<3x9xf32>, tensor<4x5xui8>, tensor<2x5xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @narrow_matmul_4(%x: tensor<3x8xf32>, %w: tensor<4x5xsi8>, %s: tensor<2x5xf32>) {
  // expected-error @+1 {{needs floats, and weights in bytes without a sign}}
  %r = graph.narrow_matmul %x, %w, %s {bits = 4 : i64, block = 4 : i64} : (tensor<3x8xf32>, tensor<4x5xsi8>, tensor<2x5xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @narrow_matmul_5(%x: tensor<3x8xf32>, %w: tensor<4x5xui8>, %s: tensor<1x5xf32>) {
  // expected-error @+1 {{scales}}
  %r = graph.narrow_matmul %x, %w, %s {bits = 4 : i64, block = 4 : i64} : (tensor<3x8xf32>, tensor<4x5xui8>, tensor<1x5xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @narrow_matmul_6(%x: tensor<8xf32>, %w: tensor<4x5xui8>, %s: tensor<2x5xf32>) {
  // expected-error @+1 {{needs an operand of two axes or more}}
  %r = graph.narrow_matmul %x, %w, %s {bits = 4 : i64, block = 4 : i64} : (tensor<8xf32>, tensor<4x5xui8>, tensor<2x5xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @multiplied(%x: tensor<8x16xf16>, %w: tensor<16x8xf16>) {
  // expected-error @+1 {{attribute 'graph.multiplied' is tf32, of contractions of f32, f16, of those of f16 with a result of f32, bf16, of convolutions of bf16 with a result of f32, or si8, of matmuls with a left operand of f32, not tf32}}
  %r = graph.matmul %x, %w {graph.multiplied = tf32} : (tensor<8x16xf16>, tensor<16x8xf16>) -> tensor<8x8xf16>
  return
}

// -----

func.func @multiplied(%x: tensor<8x16xf16>, %w: tensor<16x8xf16>) {
  // expected-error @+1 {{attribute 'graph.multiplied' is tf32, of contractions of f32, f16, of those of f16 with a result of f32, bf16, of convolutions of bf16 with a result of f32, or si8, of matmuls with a left operand of f32, not f16}}
  %r = graph.matmul %x, %w {graph.multiplied = f16} : (tensor<8x16xf16>, tensor<16x8xf16>) -> tensor<8x8xf16>
  return
}

// -----

func.func @multiplied(%x: tensor<8x16xf32>) {
  // expected-error @+1 {{has an unknown attribute "graph.faster"}}
  %r = graph.relu %x {graph.faster} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return
}

// -----

func.func @multiplied(%x: tensor<8x16xf16>, %w: tensor<16x8xf16>) {
  // expected-error @+1 {{or si8, of matmuls with a left operand of f32, not si8}}
  %r = graph.matmul %x, %w {graph.multiplied = si8} : (tensor<8x16xf16>, tensor<16x8xf16>) -> tensor<8x8xf16>
  return
}
