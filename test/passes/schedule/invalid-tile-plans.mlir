// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v4+amx -split-input-file -verify-diagnostics
// REQUIRES: ingot-opt

// expected-error @+1 {{blocks of 24 rows must be at most, or a multiple of, the rows of a tile, 16}}
kernel.func @rows(%x: tensor<48x64xui8>, %w: tensor<2048xsi8>) -> tensor<48x32xsi32> attributes {strategy = "tile-product", plan = {columns = 32, rows = 24, splits = 1}} {
  %u = graph.unpack_panels %w {panel = 32 : i64, tail = 0 : i64, group = 4 : i64} : (tensor<2048xsi8>) -> tensor<64x32xsi8>
  %y = graph.matmul %x, %u : (tensor<48x64xui8>, tensor<64x32xsi8>) -> tensor<48x32xsi32>
  kernel.return %y : tensor<48x32xsi32>
}

// -----

// expected-error @+1 {{a block of 3 x 2 accumulator tiles uses 11 tiles, but the target has only 8}}
kernel.func @tiles(%x: tensor<48x64xui8>, %w: tensor<2048xsi8>) -> tensor<48x32xsi32> attributes {strategy = "tile-product", plan = {columns = 32, rows = 48, splits = 1}} {
  %u = graph.unpack_panels %w {panel = 32 : i64, tail = 0 : i64, group = 4 : i64} : (tensor<2048xsi8>) -> tensor<64x32xsi8>
  %y = graph.matmul %x, %u : (tensor<48x64xui8>, tensor<64x32xsi8>) -> tensor<48x32xsi32>
  kernel.return %y : tensor<48x32xsi32>
}

// -----

// expected-error @+1 {{the 6 rows of the result cannot be computed 4 at a time}}
kernel.func @lines(%x: tensor<1x6x14x64xui8>, %w: tensor<18432xsi8>) -> tensor<1x6x14x32xsi32> attributes {strategy = "tile-convolution", plan = {columns = 32, lines = 4, order = "tiles", parts = 1, rows = 16}} {
  %u = graph.unpack_panels %w {panel = 32 : i64, tail = 0 : i64, group = 4 : i64} : (tensor<18432xsi8>) -> tensor<3x3x64x32xsi8>
  %y = graph.conv %x, %u {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x6x14x64xui8>, tensor<3x3x64x32xsi8>) -> tensor<1x6x14x32xsi32>
  kernel.return %y : tensor<1x6x14x32xsi32>
}
