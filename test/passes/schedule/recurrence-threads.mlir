// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v4 | FileCheck %s
// REQUIRES: ingot-opt

// The predicted time of a step, which threads divide, includes loads of weights
// that are not in the L1 cache: 4,096 vectors in 1.1 cycles each.
// CHECK-LABEL: @divided_step(
// CHECK: kernel.parallel 2 attributes {cycles = 4505 : i64}
kernel.func @divided_step(%gates: tensor<9x1x256xf32>, %p: tensor<65536xf32>, %h: tensor<1x256xf32>) -> (tensor<9x1x256xf32>, tensor<1x256xf32>, tensor<256xf32>) attributes {strategy = "recurrence", plan = {columns = 128, order = "forward"}, comment = ""} {
  %r = graph.unpack_panels %p {panel = 128 : i64, tail = 0 : i64, group = 1 : i64} : (tensor<65536xf32>) -> tensor<256x256xf32>
  %y:3 = graph.rnn %gates, %r, %h {activations = ["Tanh"], alpha = array<f64: 0.0>, beta = array<f64: 0.0>} : (tensor<9x1x256xf32>, tensor<256x256xf32>, tensor<1x256xf32>) -> (tensor<9x1x256xf32>, tensor<1x256xf32>, tensor<256xf32>)
  kernel.return %y#0, %y#1, %y#2 : tensor<9x1x256xf32>, tensor<1x256xf32>, tensor<256xf32>
}
