// Errors of the verifiers of operations on the threads of a warp or a block.
//
// REQUIRES: ingot-opt
// RUN: %ingot-opt %s --split-input-file --verify-diagnostics

func.func @own_memory(%x: memref<8x8xf16>, %i: index) {
  // expected-error @+1 {{which is not shared by the block}}
  %a:4 = kernel.load_matrices %x[%i, %i] : memref<8x8xf16> to i32, i32, i32, i32
  return
}

// -----

func.func @three_matrices(%x: memref<8x8xf16, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{loads 3 matrices, which is not 1, 2 or 4}}
  %a:3 = kernel.load_matrices %x[%i, %i] : memref<8x8xf16, #gpu.address_space<workgroup>> to i32, i32, i32
  return
}

// -----

func.func @transposed_bytes(%x: memref<8x16xi8, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{which are not of 16 bits}}
  %a = kernel.load_matrices %x[%i, %i] transposed : memref<8x16xi8, #gpu.address_space<workgroup>> to i32
  return
}

// -----

func.func @few_registers(%a: i32, %s: f32) {
  // expected-error @+1 {{takes 4, 2 and 4 registers of the operands and sums, not 1, 2 and 4}}
  %d:4 = kernel.warp_product %a times %a, %a plus %s, %s, %s, %s {left = f16, right = f16} : f32
  return
}

// -----

func.func @mixed_factors(%a: i32, %s: f32) {
  // expected-error @+1 {{both must be si8 or ui8, both 8-bit floats, or both f16, bf16 or tf32}}
  %d:4 = kernel.warp_product %a, %a, %a, %a times %a, %a plus %s, %s, %s, %s {left = f16, right = bf16} : f32
  return
}

// -----

func.func @sums_of_bytes(%a: i32, %s: f32) {
  // expected-error @+1 {{sums products of 'si8' as 'f32'}}
  %d:4 = kernel.warp_product %a, %a, %a, %a times %a, %a plus %s, %s, %s, %s {left = si8, right = ui8} : f32
  return
}

// -----

func.func @vector_of_a_tensor(%x: f32, %y: memref<8x8xf32>, %i: index) {
  // expected-error @+1 {{stores 3 numbers to 'memref<8x8xf32>', which are not 16 bytes, nor 4 or 8}}
  kernel.store_vector %x, %x, %x to %y[%i, %i] : memref<8x8xf32>
  return
}

// -----

func.func @vector_of_four(%x: f32, %y: memref<8x8xf16, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{stores 4 numbers to 'memref<8x8xf16, #gpu.address_space<workgroup>>', which are not 16 bytes}}
  kernel.store_vector %x, %x, %x, %x to %y[%i, %i] : memref<8x8xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @vector_of_row(%x: f32, %y: memref<8x8xf32, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{has 1 indices into}}
  kernel.store_vector %x, %x, %x, %x to %y[%i] : memref<8x8xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @copy_to_own(%x: memref<8x8xf16>, %y: memref<8x8xf16>, %i: index) {
  // expected-error @+1 {{which is not shared by the block}}
  kernel.copy_ahead %x[%i, %i] to %y[%i, %i] : memref<8x8xf16>, memref<8x8xf16>
  return
}

// -----

func.func @copy_of_others(%x: memref<8x8xi8>, %y: memref<8x8xf16, #gpu.address_space<workgroup>>, %i: index) {
  // expected-error @+1 {{copies from 'memref<8x8xi8>' to}}
  kernel.copy_ahead %x[%i, %i] to %y[%i, %i] : memref<8x8xi8>, memref<8x8xf16, #gpu.address_space<workgroup>>
  return
}

// -----

kernel.func @close_on_host(%x: memref<4xf32>) {
  // expected-error @+1 {{is in a kernel that runs on no threads of a device}}
  kernel.close_copies
  kernel.return
}

// -----

kernel.func @await_on_host(%x: memref<4xf32>) {
  // expected-error @+1 {{is in a kernel that runs on no threads of a device}}
  kernel.await_copies but 2
  kernel.return
}

// -----

kernel.func @await_inputs_on_host(%x: memref<4xf32>) {
  // expected-error @+1 {{is in a kernel that runs on no threads of a device}}
  kernel.await_inputs
  kernel.return
}

// -----

kernel.func @not_cleared(%counts: memref<4xi32>) attributes {extent = 1 : index, threads = 32 : i64} {
  %i = arith.constant 0 : index
  // expected-error @+1 {{counts in what no launch clears}}
  %n = kernel.count %counts[%i], %i : memref<4xi32>
  kernel.return
}

// -----

kernel.func @counts_of_bytes(%counts: memref<4xi8> {kernel.cleared}) attributes {extent = 1 : index, threads = 32 : i64} {
  %i = arith.constant 0 : index
  // expected-error @+1 {{which is no list of integers of 32 bits}}
  %n = kernel.count %counts[%i], %i : memref<4xi8>
  kernel.return
}

// -----

func.func @pair_of_f32(%x: f32) -> i32 {
  // expected-error @+1 {{rounds to 'f32', not f16 or bf16}}
  %w = kernel.round_pair %x, %x to f32
  return %w : i32
}
