// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v4+bf16 | FileCheck %s
// REQUIRES: ingot-opt

// A recurrent layer with weights of bf16 rounds its state into a scratch buffer
// and multiplies pairs of K steps. Threads divide the four panels after the
// state is rounded.
// CHECK-LABEL: @dots(
// CHECK-SAME: %[[STATE:[a-z0-9]*]]: memref<512xbf16>
// CHECK: arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
// CHECK-NEXT: vector.store %{{.*}}, %[[STATE]]
// CHECK: kernel.parallel 4
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c256{{.*}} iter_args
// CHECK: vector.load %[[STATE]]{{.*}} vector<2xbf16>
// CHECK-COUNT-8: kernel.dot {{.*}} : vector<32xbf16>, vector<16xf32>
// CHECK: vector.store %{{.*}} : memref<512xf32>, vector<16xf32>
kernel.func @dots(%gates: tensor<9x1x512xf32>, %p: tensor<262144xbf16>, %h: tensor<1x512xf32>) -> (tensor<9x1x512xf32>, tensor<1x512xf32>, tensor<512xf32>) attributes {strategy = "recurrence", plan = {columns = 128, order = "forward"}, comment = ""} {
  %r = graph.unpack_panels %p {panel = 128 : i64, tail = 0 : i64, group = 2 : i64} : (tensor<262144xbf16>) -> tensor<512x512xbf16>
  %y:3 = graph.rnn %gates, %r, %h {activations = ["Tanh"], alpha = array<f64: 0.0>, beta = array<f64: 0.0>} : (tensor<9x1x512xf32>, tensor<512x512xbf16>, tensor<1x512xf32>) -> (tensor<9x1x512xf32>, tensor<1x512xf32>, tensor<512xf32>)
  kernel.return %y#0, %y#1, %y#2 : tensor<9x1x512xf32>, tensor<1x512xf32>, tensor<512xf32>
}

// Weights that are not packed are widened when they are loaded. The state is
// rounded all the same.
// CHECK-LABEL: @in_place(
// CHECK: scf.for {{.*}} iter_args
// CHECK: %[[X:.*]] = memref.load %{{.*}} : memref<1x5xf32>
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[X]] : f32 to bf16
// CHECK: arith.extf %[[ROUNDED]] : bf16 to f32
// CHECK: %[[W:.*]] = memref.load %{{.*}} : memref<5x5xbf16>
// CHECK: arith.extf %[[W]] : bf16 to f32
// CHECK: math.fma
kernel.func @in_place(%gates: tensor<9x1x5xf32>, %r: tensor<5x5xbf16>, %h: tensor<1x5xf32>) -> (tensor<9x1x5xf32>, tensor<1x5xf32>, tensor<5xf32>) attributes {strategy = "body", plan = {}, comment = ""} {
  %y:3 = graph.rnn %gates, %r, %h {activations = ["Tanh"], alpha = array<f64: 0.0>, beta = array<f64: 0.0>} : (tensor<9x1x5xf32>, tensor<5x5xbf16>, tensor<1x5xf32>) -> (tensor<9x1x5xf32>, tensor<1x5xf32>, tensor<5xf32>)
  kernel.return %y#0, %y#1, %y#2 : tensor<9x1x5xf32>, tensor<1x5xf32>, tensor<5xf32>
}
