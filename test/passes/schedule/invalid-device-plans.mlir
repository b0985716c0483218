// RUN: %ingot-opt %s -schedule-kernels=target=sm_80 -split-input-file -verify-diagnostics
// REQUIRES: ingot-opt

// The number of threads that divide a column must be a power of two, because
// they combine their results by halves.
// expected-error @+1 {{the number of parts is 12, but must be a power of two}}
kernel.func @f(%x: tensor<1x9x9x32xf32>) -> tensor<1x1x1x32xf32> attributes {strategy = "block-reduction", plan = {columns = 8, parts = 12, slices = 1}} {
  %y = graph.reduce_mean %x {axes = array<i64: 1, 2>} : (tensor<1x9x9x32xf32>) -> tensor<1x1x1x32xf32>
  kernel.return %y : tensor<1x1x1x32xf32>
}

// -----

// expected-error @+1 {{a block has 16 threads, but must have a multiple of the warp size, and at most 1024}}
kernel.func @f(%x: tensor<1x9x9x32xf32>) -> tensor<1x1x1x32xf32> attributes {strategy = "block-reduction", plan = {columns = 8, parts = 2, slices = 1}} {
  %y = graph.reduce_mean %x {axes = array<i64: 1, 2>} : (tensor<1x9x9x32xf32>) -> tensor<1x1x1x32xf32>
  kernel.return %y : tensor<1x1x1x32xf32>
}
