// Neighbours that a thread of a device has: its compiler makes one access of them where addresses are known to be
// aligned and nothing stands between two loads or stores.
//
// REQUIRES: ingot
// RUN: %ingot %s --start-from=simplify --target sm_80 --name net -o %t.cu
// RUN: FileCheck %s < %t.cu
// RUN: FileCheck %s --check-prefix=HEADER < %t.h

// HEADER: Inputs and outputs in the memory of the device are at multiples of so many bytes.
// HEADER-NEXT: #define NET_TENSOR_ALIGN 16u

// CHECK: void relu
// CHECK: x0 = static_cast<const uint16_t *>(__builtin_assume_aligned(x0, 16));
// CHECK: y = static_cast<uint16_t *>(__builtin_assume_aligned(y, 16));
// CHECK: const ptrdiff_t element = (device::block() * 128 + device::thread()) * 8;
// CHECK: const uint16_t t{{.*}} = device::narrow_bf16(
// CHECK: y[element] = device::narrow_bf16(
// CHECK: y[element_1] = t
// CHECK-NEXT: y[element_2] = t
// CHECK-NEXT: y[element_3] = t

// CHECK: ingot_status net_run_alone(
// CHECK: } else {
// CHECK: if ((uintptr_t)io->input0 % NET_TENSOR_ALIGN != 0) return INGOT_ERROR_ALIGNMENT;
func.func @main(%x: tensor<1024x1024xbf16>, %v: tensor<1024x1024xbf16>) -> (tensor<1024x1024xbf16>) {
  %s = graph.add %x, %v : (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  %y = graph.relu %s : (tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  return %y : tensor<1024x1024xbf16>
}
