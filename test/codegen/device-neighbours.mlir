// Neighbouring elements of one device thread: the device compiler merges their
// accesses into one where addresses are known to be aligned and nothing comes
// between two loads or stores.
//
// REQUIRES: ingot
// RUN: %ingot %s --start-from=simplify --target sm_80 --name net -o %t.cu
// RUN: FileCheck %s < %t.cu
// RUN: FileCheck %s --check-prefix=HEADER < %t.h

// HEADER: Alignment in bytes of inputs and outputs in device memory.
// HEADER-NEXT: #define NET_TENSOR_ALIGN 16u

// CHECK: void relu
// CHECK: x = static_cast<const uint16_t *>(__builtin_assume_aligned(x, 16));
// CHECK: y = static_cast<uint16_t *>(__builtin_assume_aligned(y, 16));
// CHECK: const ptrdiff_t element = (device::block() * 128 + device::thread()) * 8;
// CHECK: const uint16_t t{{.*}} = device::narrow_bf16(
// CHECK: y[element] = device::narrow_bf16(
// CHECK: y[element_1] = t
// CHECK-NEXT: y[element_2] = t
// CHECK-NEXT: y[element_3] = t

// The scales of a layer normalization are loaded before any result is rounded
// to bf16.
// CHECK: void layer_norm
// CHECK: const float [[S0:scale[0-9]+]] = scale[term];
// CHECK-NEXT: const float [[S1:scale[0-9]+]] = scale[term_1];
// CHECK-NOT: narrow
// CHECK: = bias[term_7];
// CHECK: device::divide_f32(1.0f, device::root_f32(
// CHECK: const uint16_t t{{.*}} = device::narrow_bf16({{.*}}[[S1]]

// CHECK: ingot_status net_run_alone(
// CHECK: } else {
// CHECK: if (reinterpret_cast<uintptr_t>(io->input0) % NET_TENSOR_ALIGN != 0) {
func.func @main(%x: tensor<1024x1024xbf16>, %v: tensor<1024x1024xbf16>, %scale: tensor<1024xf32>, %bias: tensor<1024xf32>) -> (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) {
  %s = graph.add %x, %v : (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  %y = graph.relu %s : (tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  %n = graph.layer_norm %x, %scale, %bias {center = true, epsilon = 1.0e-05 : f32} : (tensor<1024x1024xbf16>, tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024x1024xbf16>
  return %y, %n : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>
}
