// RUN: %ingot-opt %s -split-input-file -schedule-kernels=target=sm_80 | FileCheck %s
// REQUIRES: ingot-opt

// Sequential work (a scatter of 100,000 elements) runs on the host if a single
// device thread would take longer than the host and the copies. A host kernel
// has no attribute `threads`.
// CHECK-LABEL: module @serial
// CHECK: kernel.func @many(
// CHECK-NOT: threads
// CHECK: kernel.return

// A scatter of a few elements runs on the device: a device thread has finished
// before copies of the elements would have arrived at the host.
// CHECK: kernel.func @few(
// CHECK-SAME: threads = 1 : i64

// A scatter of f16 elements runs on the host, too: host and device have
// functions that convert narrow floats.
// CHECK: kernel.func @halves(
// CHECK-NOT: threads
// CHECK: kernel.return
module @serial {
kernel.func @many(%i: tensor<100000xsi64>, %u: tensor<100000xsi64>) -> tensor<100000xsi64> attributes {strategy = "body"} {
  %0 = graph.constant dense<0> : tensor<100000xsi64> : tensor<100000xsi64>
  %1 = graph.scatter_elements %0, %i, %u {axis = 0 : i64} : (tensor<100000xsi64>, tensor<100000xsi64>, tensor<100000xsi64>) -> tensor<100000xsi64>
  kernel.return %1 : tensor<100000xsi64>
}
kernel.func @few(%i: tensor<12xsi64>, %u: tensor<12xsi64>) -> tensor<12xsi64> attributes {strategy = "body"} {
  %0 = graph.constant dense<0> : tensor<12xsi64> : tensor<12xsi64>
  %1 = graph.scatter_elements %0, %i, %u {axis = 0 : i64} : (tensor<12xsi64>, tensor<12xsi64>, tensor<12xsi64>) -> tensor<12xsi64>
  kernel.return %1 : tensor<12xsi64>
}
kernel.func @halves(%i: tensor<100000xsi64>, %u: tensor<100000xf16>) -> tensor<100000xf16> attributes {strategy = "body"} {
  %0 = graph.constant dense<0.0> : tensor<100000xf16> : tensor<100000xf16>
  %1 = graph.scatter_elements %0, %i, %u {axis = 0 : i64} : (tensor<100000xf16>, tensor<100000xsi64>, tensor<100000xf16>) -> tensor<100000xf16>
  kernel.return %1 : tensor<100000xf16>
}
}

// -----

// Sequential kernels in the bodies of ifs and loops run on the host, too, and
// so do kernels with dynamic sizes whose upper bound is large enough.
// CHECK-LABEL: module @programs
// CHECK: kernel.func @in_body(
// CHECK-NOT: threads
// CHECK: kernel.func @open(
// CHECK-NOT: threads
// CHECK: kernel.func @open_few(
// CHECK-SAME: threads = 1 : i64
// CHECK: kernel.program private @body
module @programs {
kernel.func @in_body(%i: tensor<100000xsi64>, %u: tensor<100000xsi64>) -> tensor<100000xsi64> attributes {strategy = "body"} {
  %0 = graph.constant dense<0> : tensor<100000xsi64> : tensor<100000xsi64>
  %1 = graph.scatter_elements %0, %i, %u {axis = 0 : i64} : (tensor<100000xsi64>, tensor<100000xsi64>, tensor<100000xsi64>) -> tensor<100000xsi64>
  kernel.return %1 : tensor<100000xsi64>
}
kernel.func @open(%x: tensor<100000xsi64>, %i: tensor<100000xsi64, #kernel.sizes<"n" in 0 to 100000 : s0>>, %u: tensor<100000xsi64, #kernel.sizes<"n" in 0 to 100000 : s0>>) -> tensor<100000xsi64> attributes {strategy = "body"} {
  %1 = graph.scatter_elements %x, %i, %u {axis = 0 : i64} : (tensor<100000xsi64>, tensor<100000xsi64, #kernel.sizes<"n" in 0 to 100000 : s0>>, tensor<100000xsi64, #kernel.sizes<"n" in 0 to 100000 : s0>>) -> tensor<100000xsi64>
  kernel.return %1 : tensor<100000xsi64>
}
kernel.func @open_few(%x: tensor<12xsi64>, %i: tensor<12xsi64, #kernel.sizes<"n" in 0 to 12 : s0>>, %u: tensor<12xsi64, #kernel.sizes<"n" in 0 to 12 : s0>>) -> tensor<12xsi64> attributes {strategy = "body"} {
  %1 = graph.scatter_elements %x, %i, %u {axis = 0 : i64} : (tensor<12xsi64>, tensor<12xsi64, #kernel.sizes<"n" in 0 to 12 : s0>>, tensor<12xsi64, #kernel.sizes<"n" in 0 to 12 : s0>>) -> tensor<12xsi64>
  kernel.return %1 : tensor<12xsi64>
}
kernel.program private @body(%i: tensor<100000xsi64>, %u: tensor<100000xsi64>) -> tensor<100000xsi64> {
  %y = kernel.launch @in_body(%i, %u) : (tensor<100000xsi64>, tensor<100000xsi64>) -> tensor<100000xsi64>
  kernel.return %y : tensor<100000xsi64>
}
kernel.program @main(%i: tensor<100000xsi64>, %u: tensor<100000xsi64>) -> tensor<100000xsi64> {
  %y = kernel.launch @in_body(%i, %u) : (tensor<100000xsi64>, tensor<100000xsi64>) -> tensor<100000xsi64>
  kernel.return %y : tensor<100000xsi64>
}
}
