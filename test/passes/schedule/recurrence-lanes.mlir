// RUN: %ingot-opt %s -schedule-kernels=target=armv8-a | FileCheck %s
// REQUIRES: ingot-opt

// Where a multiply-add takes one lane of a vector as factor, one load of the
// state serves four K steps of a recurrent layer.
// CHECK-LABEL: @states(
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c128{{.*}} step %c4 iter_args
// CHECK: %[[STATES:.*]] = vector.load %{{.*}} : memref<1x128xf32>, vector<4xf32>
// CHECK: vector.extract %[[STATES]][0]
// CHECK-COUNT-8: vector.fma
// CHECK: vector.extract %[[STATES]][1]
// CHECK: vector.extract %[[STATES]][3]
kernel.func @states(%gates: tensor<9x1x128xf32>, %p: tensor<16384xf32>, %h: tensor<1x128xf32>) -> (tensor<9x1x128xf32>, tensor<1x128xf32>, tensor<128xf32>) attributes {strategy = "recurrence", plan = {columns = 32, order = "forward"}, comment = ""} {
  %r = graph.unpack_panels %p {panel = 32 : i64, tail = 0 : i64, group = 1 : i64} : (tensor<16384xf32>) -> tensor<128x128xf32>
  %y:3 = graph.rnn %gates, %r, %h {activations = ["Tanh"], alpha = array<f64: 0.0>, beta = array<f64: 0.0>} : (tensor<9x1x128xf32>, tensor<128x128xf32>, tensor<1x128xf32>) -> (tensor<9x1x128xf32>, tensor<1x128xf32>, tensor<128xf32>)
  kernel.return %y#0, %y#1, %y#2 : tensor<9x1x128xf32>, tensor<1x128xf32>, tensor<128xf32>
}
