// RUN: %ingot-opt %s -split-input-file -verify-diagnostics
// REQUIRES: ingot-opt

func.func @mbarriers_of_others(%g: memref<4xi64>, %i: index) {
  // expected-error @+1 {{has mbarriers in 'memref<4xi64>', not a list of i64 that the block shares}}
  kernel.arrive %g[%i] : memref<4xi64>
  return
}

// -----

kernel.func @no_cluster(%x: memref<4xf32>) attributes {threads = 128 : i64, extent = 1 : index} {
  // expected-error @+1 {{is about other blocks, but its kernel has no cluster}}
  kernel.cluster_barrier
  kernel.return
}

// -----

kernel.func @arrive_at_others(%x: memref<4xf32>, %i: index) attributes {threads = 128 : i64, extent = 1 : index} {
  %g = memref.alloca() : memref<2xi64, #gpu.address_space<workgroup>>
  // expected-error @+1 {{is about other blocks, but its kernel has no cluster}}
  kernel.arrive %g[%i] of %i : memref<2xi64, #gpu.address_space<workgroup>>
  kernel.return
}

// -----

kernel.func @mbarriers_on_host(%x: memref<4xf32>) {
  // expected-error @+1 {{is in a kernel that runs on no threads of a device}}
  kernel.fence_mbarriers
  kernel.return
}

// -----

func.func @map_of_inner(%x: memref<8x8xf16>) {
  // expected-error @+1 {{maps what is no argument of the kernel}}
  %t = kernel.tiles %x sizes <8, 8> strides [8, 1] box [8, 8] : memref<8x8xf16>
  return
}

// -----

kernel.func @map_of_one_axis(%x: memref<8xf16>) {
  // expected-error @+1 {{maps a tensor of 1 axes, not 2 to 5}}
  %t = kernel.tiles %x sizes <8> strides [1] box [8] : memref<8xf16>
  kernel.return
}

// -----

kernel.func @map_without_stride(%x: memref<8x8xf16>) {
  // expected-error @+1 {{needs a stride for each axis, the last one 1}}
  %t = kernel.tiles %x sizes <8, 8> strides [8, 2] box [8, 8] : memref<8x8xf16>
  kernel.return
}

// -----

kernel.func @map_of_box(%x: memref<8x8xf16>) {
  // expected-error @+1 {{has a box of another rank than the tensor}}
  %t = kernel.tiles %x sizes <8, 8> strides [8, 1] box [8, 8, 1] : memref<8x8xf16>
  kernel.return
}

// -----

kernel.func @map_of_windows(%x: memref<2x8x8xf16>) {
  // expected-error @+1 {{needs low, high and steps of each axis but the first and the last}}
  %t = kernel.tiles %x sizes <2, 8, 8> strides [64, 8, 1] box [8, 8] low [0, 0] high [7] steps [1] : memref<2x8x8xf16>
  kernel.return
}

// -----

kernel.func @copy_to_own(%x: memref<8x8xf16>, %y: memref<8x8xf16>, %i: index) {
  %g = memref.alloca() : memref<2xi64, #gpu.address_space<workgroup>>
  %t = kernel.tiles %x sizes <8, 8> strides [8, 1] box [8, 8] : memref<8x8xf16>
  // expected-error @+1 {{which is not shared by the block}}
  kernel.copy_tile %t[%i, %i] to %y[%i, %i] at %g[%i] : memref<8x8xf16>, memref<2xi64, #gpu.address_space<workgroup>>
  kernel.return
}

// -----

kernel.func @copy_of_rank(%x: memref<8x8xf16>, %i: index) {
  %g = memref.alloca() : memref<2xi64, #gpu.address_space<workgroup>>
  %y = memref.alloca() : memref<8x8xf16, #gpu.address_space<workgroup>>
  %t = kernel.tiles %x sizes <8, 8> strides [8, 1] box [8, 8] : memref<8x8xf16>
  // expected-error @+1 {{has a place of another rank than its map}}
  kernel.copy_tile %t[%i] to %y[%i, %i] at %g[%i] : memref<8x8xf16, #gpu.address_space<workgroup>>, memref<2xi64, #gpu.address_space<workgroup>>
  kernel.return
}

// -----

func.func @product_of_own(%x: memref<64x64xf16>, %s: memref<32xf32>, %i: index) {
  // expected-error @+1 {{multiplies what the block does not share}}
  kernel.tile_product %x[%i, %i] times %x[%i, %i] plus %s of f16, f16 : memref<64x64xf16>, memref<64x64xf16>, memref<32xf32>
  return
}

// -----

func.func @product_of_turned(%x: memref<64x64xf16, #gpu.address_space<workgroup>>, %y: memref<1x64x64xf16, #gpu.address_space<workgroup>>, %s: memref<64xf32>, %i: index) {
  // expected-error @+1 {{has a turned tile that is not of rows of 64 numbers of 16 bits for all rows or columns}}
  kernel.tile_product %x[%i, %i] times %y[%i, %i, %i] plus %s of f16, f16 right turned : memref<64x64xf16, #gpu.address_space<workgroup>>, memref<1x64x64xf16, #gpu.address_space<workgroup>>, memref<64xf32>
  return
}

// -----

func.func @product_of_sums(%x: memref<64x64xf16, #gpu.address_space<workgroup>>, %s: memref<30xf32>, %i: index) {
  // expected-error @+1 {{adds to 'memref<30xf32>', not a thread's own list of 4 to 128 sums}}
  kernel.tile_product %x[%i, %i] times %x[%i, %i] plus %s of f16, f16 : memref<64x64xf16, #gpu.address_space<workgroup>>, memref<64x64xf16, #gpu.address_space<workgroup>>, memref<30xf32>
  return
}

// -----

func.func @product_of_bytes(%x: memref<64x128xi8, #gpu.address_space<workgroup>>, %s: memref<32xf32>, %i: index) {
  // expected-error @+1 {{sums products of 'si8' as 'f32'}}
  kernel.tile_product %x[%i, %i] times %x[%i, %i] plus %s of si8, si8 : memref<64x128xi8, #gpu.address_space<workgroup>>, memref<64x128xi8, #gpu.address_space<workgroup>>, memref<32xf32>
  return
}

// -----

func.func @words_of_tf32(%w: memref<4xi32>, %x: memref<64x32xf32, #gpu.address_space<workgroup>>, %s: memref<32xf32>, %i: index) {
  // expected-error @+1 {{multiplies words of 'tf32', which is for floats of 16 bits}}
  kernel.tile_product %w[%i] times %x[%i, %i] plus %s of tf32, tf32 : memref<4xi32>, memref<64x32xf32, #gpu.address_space<workgroup>>, memref<32xf32>
  return
}

// -----

func.func @narrow_columns(%w: memref<4xi32>, %x: memref<1x16x32xf16, #gpu.address_space<workgroup>>, %s: memref<32xf32>, %i: index) {
  // expected-error @+1 {{has a turned tile that is not of rows of 64 numbers}}
  kernel.tile_product %w[%i] times %x[%i, %i, %i] plus %s of f16, f16 right turned : memref<4xi32>, memref<1x16x32xf16, #gpu.address_space<workgroup>>, memref<32xf32>
  return
}

// -----

func.func @turned_words(%w: memref<4xi32>, %x: memref<1x16x64xf16, #gpu.address_space<workgroup>>, %s: memref<32xf32>, %i: index) {
  // expected-error @+1 {{turns words of the thread}}
  kernel.tile_product %w[%i] times %x[%i, %i, %i] plus %s of f16, f16 left turned : memref<4xi32>, memref<1x16x64xf16, #gpu.address_space<workgroup>>, memref<32xf32>
  return
}

// -----

func.func @sums_of_block(%s: memref<32xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{which is not the thread's own}}
  kernel.begin_products %s : memref<32xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @odd_registers() {
  // expected-error @+1 {{sets 42 registers, no multiple of 8}}
  kernel.set_registers 42
  return
}

// -----

func.func @unrolled() {
  // expected-error @+1 {{attribute 'kernel.unrolled' says true or false of loops}}
  kernel.fence_mbarriers {kernel.unrolled = true}
  return
}

// -----

func.func @unroll_count(%end: index) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{attribute "kernel.unroll_count" is a number above 1, of loops}}
  scf.for %i = %c0 to %end step %end {
  } {kernel.unroll_count = 1 : i64}
  return
}

// -----

func.func @mbarrier_of_others(%g: memref<4xi64>, %i: index) {
  // expected-error @+1 {{has mbarriers in 'memref<4xi64>', not a list of i64 that the block shares}}
  kernel.init_mbarrier %g[%i] for 1 : memref<4xi64>
  return
}

// -----

func.func @bytes_of_others(%g: memref<4xi64>, %i: index) {
  // expected-error @+1 {{has mbarriers in 'memref<4xi64>', not a list of i64 that the block shares}}
  kernel.expect_bytes %g[%i], 128 : memref<4xi64>
  return
}

// -----

func.func @wait_of_others(%g: memref<4xi64>, %i: index) {
  // expected-error @+1 {{has mbarriers in 'memref<4xi64>', not a list of i64 that the block shares}}
  kernel.wait_mbarrier %g[%i], %i : memref<4xi64>
  return
}

// -----

kernel.func @products_on_host(%x: memref<4xf32>) {
  // expected-error @+1 {{is in a kernel that runs on no threads of a device}}
  kernel.close_products
  kernel.return
}

// -----

func.func @too_many_groups() {
  // expected-error @+1 {{attribute 'newest' failed to satisfy constraint}}
  kernel.await_products but 9
  return
}

// -----

kernel.func @send_to_own(%n: index) attributes {threads = 128 : i64, extent = 2 : index, cluster = 2 : i64} {
  %a = arith.constant 0.0 : f32
  %g = memref.alloca() : memref<4xi64, #gpu.address_space<workgroup>>
  %own = memref.alloca() : memref<2x4xf32>
  // expected-error @+1 {{not four numbers to a row of four of them that blocks share}}
  kernel.send %a, %a, %a, %a to %own[%n, %n] of %n at %g[%n] : (f32, f32, f32, f32) to memref<2x4xf32>, memref<4xi64, #gpu.address_space<workgroup>>
  kernel.return
}

// -----

kernel.func @send_three(%n: index) attributes {threads = 128 : i64, extent = 2 : index, cluster = 2 : i64} {
  %a = arith.constant 0.0 : f32
  %g = memref.alloca() : memref<4xi64, #gpu.address_space<workgroup>>
  %parts = memref.alloca() : memref<4x4xf32, #gpu.address_space<workgroup>>
  // expected-error @+1 {{not four numbers to a row of four of them that blocks share}}
  kernel.send %a, %a, %a to %parts[%n, %n] of %n at %g[%n] : (f32, f32, f32) to memref<4x4xf32, #gpu.address_space<workgroup>>, memref<4xi64, #gpu.address_space<workgroup>>
  kernel.return
}

// -----

kernel.func @send_without_cluster(%n: index) attributes {threads = 128 : i64, extent = 2 : index} {
  %a = arith.constant 0.0 : f32
  %g = memref.alloca() : memref<4xi64, #gpu.address_space<workgroup>>
  %parts = memref.alloca() : memref<4x4xf32, #gpu.address_space<workgroup>>
  // expected-error @+1 {{is about other blocks, but its kernel has no cluster}}
  kernel.send %a, %a, %a, %a to %parts[%n, %n] of %n at %g[%n] : (f32, f32, f32, f32) to memref<4x4xf32, #gpu.address_space<workgroup>>, memref<4xi64, #gpu.address_space<workgroup>>
  kernel.return
}
