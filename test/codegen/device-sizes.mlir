// Tensors in host memory with dynamic sizes: as many bytes are copied as the
// actual size needs, not as the largest size would.
//
// REQUIRES: ingot
// RUN: %ingot %s --start-from=simplify --target sm_80 --name net -o %t.cu
// RUN: FileCheck %s < %t.cu
// RUN: FileCheck %s --check-prefix=HEADER < %t.h

// HEADER: #define NET_STAGING_BYTES 24320u

// CHECK: ingot_status enqueue(
// CHECK: if (staging) {
// CHECK-NEXT: status = device::copy(memory + 0, staging + 0, (size_t)(io->rows) * 12, stream);
// CHECK: status = device::copy(memory + 12032, staging + 12032, 12, stream);
// CHECK: status = launch(
// CHECK: if (staging) {
// CHECK-NEXT: status = device::copy(staging + 12288, memory + 12288, (size_t)(io->rows) * 12, stream);
module attributes {kernel.target = "sm_80"} {
  func.func @main(%x: tensor<1000x3xf32, #kernel.sizes<"rows" in 0 to 1000 : s0, 3>> {kernel.onnx_name = "x"}, %a: tensor<3xf32> {kernel.onnx_name = "a"})
      -> (tensor<1000x3xf32, #kernel.sizes<"rows" in 0 to 1000 : s0, 3>> {kernel.onnx_name = "y"}) {
    %y = graph.add %x, %a : (tensor<1000x3xf32, #kernel.sizes<"rows" in 0 to 1000 : s0, 3>>, tensor<3xf32>) -> tensor<1000x3xf32, #kernel.sizes<"rows" in 0 to 1000 : s0, 3>>
    return %y : tensor<1000x3xf32, #kernel.sizes<"rows" in 0 to 1000 : s0, 3>>
  }
}
