// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v4 -split-input-file -verify-diagnostics
// REQUIRES: ingot-opt

// A strategy or a plan for which no kernel can be built is rejected before
// anything is built.
// expected-error @+1 {{'f' cannot be scheduled: the kernel has no plan}}
kernel.func @f(%x: tensor<4x64xf32>, %w: tensor<64x32xf32>) -> tensor<4x32xf32> attributes {strategy = "matrix-product"} {
  %y = graph.matmul %x, %w : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  kernel.return %y : tensor<4x32xf32>
}

// -----

// expected-error @+1 {{the plan has no 'rows'}}
kernel.func @f(%x: tensor<4x64xf32>, %w: tensor<64x32xf32>) -> tensor<4x32xf32> attributes {strategy = "matrix-product", plan = {columns = 16, splits = 1}} {
  %y = graph.matmul %x, %w : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  kernel.return %y : tensor<4x32xf32>
}

// -----

// expected-error @+1 {{the plan has 'tiles', which is not a key of the strategy}}
kernel.func @f(%x: tensor<4x64xf32>, %w: tensor<64x32xf32>) -> tensor<4x32xf32> attributes {strategy = "matrix-product", plan = {columns = 16, rows = 2, splits = 1, tiles = 3}} {
  %y = graph.matmul %x, %w : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  kernel.return %y : tensor<4x32xf32>
}

// -----

// expected-error @+1 {{the plan has rows = 0 : i64, which must be an integer of 64 bits from 1 to 65536}}
kernel.func @f(%x: tensor<4x64xf32>, %w: tensor<64x32xf32>) -> tensor<4x32xf32> attributes {strategy = "matrix-product", plan = {columns = 16, rows = 0, splits = 1}} {
  %y = graph.matmul %x, %w : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  kernel.return %y : tensor<4x32xf32>
}

// -----

// expected-error @+1 {{the plan has rows = 2 : i32, which must be an integer of 64 bits}}
kernel.func @f(%x: tensor<4x64xf32>, %w: tensor<64x32xf32>) -> tensor<4x32xf32> attributes {strategy = "matrix-product", plan = {columns = 16, rows = 2 : i32, splits = 1}} {
  %y = graph.matmul %x, %w : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  kernel.return %y : tensor<4x32xf32>
}

// -----

// expected-error @+1 {{the plan has block = 3, which is not a multiple of the 2 rows of a tile}}
kernel.func @f(%x: tensor<4x64xf32>, %w: tensor<64x32xf32>) -> tensor<4x32xf32> attributes {strategy = "matrix-product", plan = {block = 3, columns = 16, rows = 2, splits = 1}} {
  %y = graph.matmul %x, %w : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  kernel.return %y : tensor<4x32xf32>
}

// -----

// expected-error @+1 {{the plan has a block, which requires a product of two matrices whose rows are known when compiling}}
kernel.func @f(%x: tensor<2x4x64xf32>, %w: tensor<2x64x32xf32>) -> tensor<2x4x32xf32> attributes {strategy = "matrix-product", plan = {block = 2, columns = 16, rows = 2, splits = 1}} {
  %y = graph.matmul %x, %w : (tensor<2x4x64xf32>, tensor<2x64x32xf32>) -> tensor<2x4x32xf32>
  kernel.return %y : tensor<2x4x32xf32>
}

// -----

// expected-error @+1 {{sums of 64 steps cannot be split into 3 parts; the number of parts must be a power of two}}
kernel.func @f(%x: tensor<4x64xf32>, %w: tensor<64x32xf32>) -> tensor<4x32xf32> attributes {strategy = "matrix-product", plan = {columns = 16, rows = 2, splits = 3}} {
  %y = graph.matmul %x, %w : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  kernel.return %y : tensor<4x32xf32>
}

// -----

// expected-error @+1 {{a tile of 1024 accumulators is larger than the 512}}
kernel.func @f(%x: tensor<4x64xf32>, %w: tensor<64x32xf32>) -> tensor<4x32xf32> attributes {strategy = "matrix-product", plan = {columns = 4096, rows = 4, splits = 1}} {
  %y = graph.matmul %x, %w : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  kernel.return %y : tensor<4x32xf32>
}

// -----

// expected-error @+1 {{the plan has order = "rows", which must be "tiles" or "panels"}}
kernel.func @f(%x: tensor<1x8x8x8xf32>, %p: tensor<256xf32>) -> tensor<1x8x8x32xf32> attributes {strategy = "convolution", plan = {columns = 16, order = "rows", rows = 2, splits = 1}} {
  %w = graph.unpack_panels %p {panel = 16 : i64, tail = 0 : i64} : (tensor<256xf32>) -> tensor<1x1x8x32xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<1x1x8x32xf32>) -> tensor<1x8x8x32xf32>
  kernel.return %y : tensor<1x8x8x32xf32>
}

// -----

// expected-error @+1 {{the plan has columns = 32, but the weights are packed in panels of 16}}
kernel.func @f(%x: tensor<1x8x8x8xf32>, %p: tensor<256xf32>) -> tensor<1x8x8x32xf32> attributes {strategy = "convolution", plan = {columns = 32, order = "tiles", rows = 2, splits = 1}} {
  %w = graph.unpack_panels %p {panel = 16 : i64, tail = 0 : i64} : (tensor<256xf32>) -> tensor<1x1x8x32xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<1x1x8x32xf32>) -> tensor<1x8x8x32xf32>
  kernel.return %y : tensor<1x8x8x32xf32>
}

// -----

// expected-error @+1 {{the plan has 'rows', which is not a key of the strategy}}
kernel.func @f(%x: tensor<4x64xf32>, %w: tensor<64x32xf32>) -> tensor<4x32xf32> attributes {strategy = "loop-nest", plan = {rows = 2}} {
  %y = graph.matmul %x, %w : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  kernel.return %y : tensor<4x32xf32>
}

// -----

// expected-error @+1 {{the strategy 'convolution' does not support this computation on the target 'x86-64-v4'}}
kernel.func @f(%x: tensor<4x64xf32>, %w: tensor<64x32xf32>) -> tensor<4x32xf32> attributes {strategy = "convolution", plan = {rows = 2}} {
  %y = graph.matmul %x, %w : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  kernel.return %y : tensor<4x32xf32>
}

// -----

// expected-error @+1 {{the strategy 'fastest' is unknown}}
kernel.func @f(%x: tensor<4x64xf32>, %w: tensor<64x32xf32>) -> tensor<4x32xf32> attributes {strategy = "fastest"} {
  %y = graph.matmul %x, %w : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  kernel.return %y : tensor<4x32xf32>
}

// -----

// expected-error @+1 {{the arrays for 4096 queries take 671744 bytes, but may use at most 65536 bytes of the stack}}
kernel.func @f(%q: tensor<1x4096x8xf32>, %k: tensor<1x8x32xf32>, %v: tensor<1x32x16xf32>) -> tensor<1x4096x16xf32> attributes {strategy = "attention", plan = {keys = 32, queries = 4096, score_columns = 16, score_rows = 4, value_columns = 16, value_rows = 4}} {
  %s = graph.matmul %q, %k : (tensor<1x4096x8xf32>, tensor<1x8x32xf32>) -> tensor<1x4096x32xf32>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<1x4096x32xf32>) -> tensor<1x4096x32xf32>
  %y = graph.matmul %p, %v : (tensor<1x4096x32xf32>, tensor<1x32x16xf32>) -> tensor<1x4096x16xf32>
  kernel.return %y : tensor<1x4096x16xf32>
}

// -----

// expected-error @+1 {{a tile of 1024 accumulators is larger than the 512 that are supported}}
kernel.func @f(%q: tensor<1x256x8xf32>, %k: tensor<1x8x32xf32>, %v: tensor<1x32x16xf32>) -> tensor<1x256x16xf32> attributes {strategy = "attention", plan = {keys = 32, queries = 256, score_columns = 64, score_rows = 256, value_columns = 16, value_rows = 4}} {
  %s = graph.matmul %q, %k : (tensor<1x256x8xf32>, tensor<1x8x32xf32>) -> tensor<1x256x32xf32>
  %p = graph.softmax %s {axis = 2 : i64} : (tensor<1x256x32xf32>) -> tensor<1x256x32xf32>
  %y = graph.matmul %p, %v : (tensor<1x256x32xf32>, tensor<1x32x16xf32>) -> tensor<1x256x16xf32>
  kernel.return %y : tensor<1x256x16xf32>
}

// -----

// expected-error @+1 {{tiles of 3 outputs are not supported; the size must be 2 or 4}}
kernel.func @f(%x: tensor<1x8x8x8xf32>, %p: tensor<4096xf32>) -> tensor<1x8x8x32xf32> attributes {strategy = "winograd", plan = {block = 8, columns = 16, parts = 1, rows = 8, size = 3}} {
  %u = graph.unpack_panels %p {panel = 16 : i64, tail = 0 : i64} : (tensor<4096xf32>) -> tensor<16x8x32xf32>
  %w = graph.restore_kernel %u {size = 2 : i64} : (tensor<16x8x32xf32>) -> tensor<3x3x8x32xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<3x3x8x32xf32>) -> tensor<1x8x8x32xf32>
  kernel.return %y : tensor<1x8x8x32xf32>
}

// -----

// expected-error @+1 {{the plan has size = 4, but the weights are transformed for size 2}}
kernel.func @f(%x: tensor<1x8x8x8xf32>, %p: tensor<4096xf32>) -> tensor<1x8x8x32xf32> attributes {strategy = "winograd", plan = {block = 8, columns = 16, parts = 1, rows = 8, size = 4}} {
  %u = graph.unpack_panels %p {panel = 16 : i64, tail = 0 : i64} : (tensor<4096xf32>) -> tensor<16x8x32xf32>
  %w = graph.restore_kernel %u {size = 2 : i64} : (tensor<16x8x32xf32>) -> tensor<3x3x8x32xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<3x3x8x32xf32>) -> tensor<1x8x8x32xf32>
  kernel.return %y : tensor<1x8x8x32xf32>
}

// -----

// expected-error @+1 {{a block of 12 tiles must be a multiple of its 8 rows}}
kernel.func @f(%x: tensor<1x8x8x8xf32>, %p: tensor<4096xf32>) -> tensor<1x8x8x32xf32> attributes {strategy = "winograd", plan = {block = 12, columns = 16, parts = 1, rows = 8, size = 2}} {
  %u = graph.unpack_panels %p {panel = 16 : i64, tail = 0 : i64} : (tensor<4096xf32>) -> tensor<16x8x32xf32>
  %w = graph.restore_kernel %u {size = 2 : i64} : (tensor<16x8x32xf32>) -> tensor<3x3x8x32xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<3x3x8x32xf32>) -> tensor<1x8x8x32xf32>
  kernel.return %y : tensor<1x8x8x32xf32>
}

// -----

// expected-error @+1 {{the plan has columns = 32, but the weights are packed in panels of 16}}
kernel.func @f(%x: tensor<1x8x8x8xf32>, %p: tensor<4096xf32>) -> tensor<1x8x8x32xf32> attributes {strategy = "winograd", plan = {block = 8, columns = 32, parts = 1, rows = 8, size = 2}} {
  %u = graph.unpack_panels %p {panel = 16 : i64, tail = 0 : i64} : (tensor<4096xf32>) -> tensor<16x8x32xf32>
  %w = graph.restore_kernel %u {size = 2 : i64} : (tensor<16x8x32xf32>) -> tensor<3x3x8x32xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<3x3x8x32xf32>) -> tensor<1x8x8x32xf32>
  kernel.return %y : tensor<1x8x8x32xf32>
}

// -----

// expected-error @+1 {{a tile of 600 accumulators is larger than the 512 that are supported}}
kernel.func @f(%x: tensor<1x8x8x8xf32>, %p: tensor<4096xf32>) -> tensor<1x8x8x32xf32> attributes {strategy = "winograd", plan = {block = 600, columns = 16, parts = 1, rows = 600, size = 2}} {
  %u = graph.unpack_panels %p {panel = 16 : i64, tail = 0 : i64} : (tensor<4096xf32>) -> tensor<16x8x32xf32>
  %w = graph.restore_kernel %u {size = 2 : i64} : (tensor<16x8x32xf32>) -> tensor<3x3x8x32xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<3x3x8x32xf32>) -> tensor<1x8x8x32xf32>
  kernel.return %y : tensor<1x8x8x32xf32>
}

// -----

// The strategy winograd rejects a convolution whose weights are not
// transformed.
// expected-error @+1 {{the strategy 'winograd' does not support this computation on the target 'x86-64-v4'}}
kernel.func @f(%x: tensor<1x8x8x8xf32>, %p: tensor<2304xf32>) -> tensor<1x8x8x32xf32> attributes {strategy = "winograd", plan = {block = 8, columns = 16, parts = 1, rows = 8, size = 2}} {
  %w = graph.unpack_panels %p {panel = 16 : i64, tail = 0 : i64} : (tensor<2304xf32>) -> tensor<3x3x8x32xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<3x3x8x32xf32>) -> tensor<1x8x8x32xf32>
  kernel.return %y : tensor<1x8x8x32xf32>
}

// -----

// expected-error @+1 {{the plan has columns = 64, but must have as many columns as are summed at a time, 128}}
kernel.func @f(%gates: tensor<9x1x384xf32>, %p: tensor<49152xf32>, %h: tensor<1x128xf32>) -> (tensor<9x1x128xf32>, tensor<1x128xf32>, tensor<384xf32>) attributes {strategy = "recurrence", plan = {columns = 64, order = "forward"}} {
  %r = graph.unpack_panels %p {panel = 128 : i64, tail = 0 : i64} : (tensor<49152xf32>) -> tensor<128x384xf32>
  %y:3 = graph.gru %gates, %r, %h {activations = ["Sigmoid", "Tanh"], alpha = array<f64: 0.0, 0.0>, beta = array<f64: 0.0, 0.0>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (tensor<9x1x384xf32>, tensor<128x384xf32>, tensor<1x128xf32>) -> (tensor<9x1x128xf32>, tensor<1x128xf32>, tensor<384xf32>)
  kernel.return %y#0, %y#1, %y#2 : tensor<9x1x128xf32>, tensor<1x128xf32>, tensor<384xf32>
}

// -----

// The plans of the stages in a row chain are checked like those of separate
// groups.
// expected-error @+1 {{the plan has no 'columns'}}
kernel.func @f(%x: tensor<1x8x8x16xf32>, %v: tensor<3x3x1x16xf32>, %q: tensor<256xf32>) -> tensor<1x8x8x16xf32> attributes {strategy = "row-chain", plan = {parts = 2}} {
  %d = graph.group "depthwise"(%x, %v) {plan = {rows = 4}} : (tensor<1x8x8x16xf32>, tensor<3x3x1x16xf32>) -> tensor<1x8x8x16xf32> {
  ^bb0(%a: tensor<1x8x8x16xf32>, %b: tensor<3x3x1x16xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 16 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x1x16xf32>) -> tensor<1x8x8x16xf32>
    graph.yield %c : tensor<1x8x8x16xf32>
  }
  %y = graph.group "convolution"(%d, %q) {plan = {columns = 16, order = "tiles", rows = 8, splits = 1}} : (tensor<1x8x8x16xf32>, tensor<256xf32>) -> tensor<1x8x8x16xf32> {
  ^bb0(%a: tensor<1x8x8x16xf32>, %b: tensor<256xf32>):
    %w = graph.unpack_panels %b {panel = 16 : i64, tail = 0 : i64} : (tensor<256xf32>) -> tensor<1x1x16x16xf32>
    %c = graph.conv %a, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<1x1x16x16xf32>) -> tensor<1x8x8x16xf32>
    graph.yield %c : tensor<1x8x8x16xf32>
  }
  kernel.return %y : tensor<1x8x8x16xf32>
}

// -----

// expected-error @+1 {{panels of 16 columns do not divide a group, which has 8 output channels}}
kernel.func @f(%x: tensor<1x6x6x32xf32>, %w: tensor<2304xf32>) -> tensor<1x6x6x32xf32> attributes {strategy = "grouped-convolution", plan = {columns = 16, order = "tiles", rows = 2}} {
  %u = graph.unpack_panels %w {panel = 16 : i64, tail = 0 : i64} : (tensor<2304xf32>) -> tensor<3x3x8x32xf32>
  %y = graph.conv %x, %u {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 4 : i64} : (tensor<1x6x6x32xf32>, tensor<3x3x8x32xf32>) -> tensor<1x6x6x32xf32>
  kernel.return %y : tensor<1x6x6x32xf32>
}

// -----

// expected-error @+1 {{the plan has vectors = 3, but there are only 2 vectors in a row of results}}
kernel.func @f(%x: tensor<1x28x28x1xf32>, %w: tensor<5x5x1x6xf32>) -> tensor<1x28x28x6xf32> attributes {strategy = "position-convolution", plan = {channels = 6, lines = 28, parts = 1, vectors = 3}} {
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 2, 2>, groups = 1 : i64} : (tensor<1x28x28x1xf32>, tensor<5x5x1x6xf32>) -> tensor<1x28x28x6xf32>
  kernel.return %y : tensor<1x28x28x6xf32>
}

// -----

// The strategy position-convolution, whose vectors hold positions, rejects 32
// output channels, which would fill vectors themselves.
// expected-error @+1 {{the strategy 'position-convolution' does not support this computation on the target 'x86-64-v4'}}
kernel.func @f(%x: tensor<1x28x28x16xf32>, %w: tensor<3x3x16x32xf32>) -> tensor<1x28x28x32xf32> attributes {strategy = "position-convolution", plan = {channels = 6, lines = 28, parts = 1, vectors = 1}} {
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x28x28x16xf32>, tensor<3x3x16x32xf32>) -> tensor<1x28x28x32xf32>
  kernel.return %y : tensor<1x28x28x32xf32>
}
