// RUN: %ingot-opt %s -split-input-file -verify-diagnostics
// REQUIRES: ingot-opt

func.func @half_a_word() {
  // expected-error @+1 {{shapes a tile of 16 rows of 62 bytes, not some rows of whole words}}
  kernel.shape_tiles rows [16] bytes [62]
  return
}

// -----

func.func @no_pair() {
  // expected-error @+1 {{has rows of 2 tiles and bytes of 1}}
  kernel.shape_tiles rows [16, 16] bytes [64]
  return
}

// -----

func.func @nothing_to_release() {
  // expected-error @+1 {{is in a function that gives tiles no shapes}}
  kernel.release_tiles
  return
}

// -----

func.func @no_shapes() {
  // expected-error @+1 {{is where it is not known which shapes tiles have}}
  kernel.clear_tile 0
  return
}

// -----

func.func @released() {
  kernel.shape_tiles rows [16] bytes [64]
  kernel.release_tiles
  // expected-error @+1 {{is where it is not known which shapes tiles have}}
  kernel.clear_tile 0
  return
}

// -----

// After a conditional whose branch configures other tile shapes, the shapes are
// unknown.
func.func @of_a_branch(%c: i1) {
  kernel.shape_tiles rows [16] bytes [64]
  scf.if %c {
    kernel.shape_tiles rows [8] bytes [64]
  }
  // expected-error @+1 {{is where it is not known which shapes tiles have}}
  kernel.clear_tile 0
  return
}

// -----

func.func @beyond(%x: memref<16x64xi8>, %i: index) {
  kernel.shape_tiles rows [16] bytes [64]
  // expected-error @+1 {{is of tile 1, which has been given no shape}}
  kernel.load_tile 1, %x[%i, %i] pitch 64 : memref<16x64xi8>
  return
}

// -----

func.func @rank(%x: memref<16x64xi8>, %i: index) {
  kernel.shape_tiles rows [16] bytes [64]
  // expected-error @+1 {{has 1 indices into 'memref<16x64xi8>'}}
  kernel.store_tile 0, %x[%i] pitch 64 : memref<16x64xi8>
  return
}

// -----

func.func @same() {
  kernel.shape_tiles rows [16, 16] bytes [64, 64]
  // expected-error @+1 {{is of tiles 0, 1 and 1, which are not three}}
  kernel.multiply_tiles 0 plus 1 times 1 of ui8, si8
  return
}

// -----

func.func @steps() {
  kernel.shape_tiles rows [16, 16, 8] bytes [64, 64, 64]
  // expected-error @+1 {{multiplies a tile of 16 rows of 64 bytes by one of 8 rows of 64 bytes, which does not fit the sums: 16 rows of 64 bytes}}
  kernel.multiply_tiles 0 plus 1 times 2 of ui8, si8
  return
}

// -----

func.func @types() {
  kernel.shape_tiles rows [16, 16, 16] bytes [64, 64, 64]
  // expected-error @+1 {{multiplies 'f16' and 'f16'; both must be si8 or ui8, or both bf16}}
  kernel.multiply_tiles 0 plus 1 times 2 of f16, f16
  return
}

// -----

// Inside a loop, tiles have the shapes that were configured before the loop.
func.func @fine(%x: memref<16x256xi8>, %w: memref<64x64xi8>, %y: memref<16x16xi32>, %lo: index, %hi: index, %step: index) {
  kernel.shape_tiles rows [16, 16, 16] bytes [64, 64, 64]
  kernel.clear_tile 0
  scf.for %k = %lo to %hi step %step {
    kernel.load_tile 1, %x[%lo, %k] pitch 256 : memref<16x256xi8>
    kernel.load_tile 2, %w[%k, %lo] pitch 64 : memref<64x64xi8>
    kernel.multiply_tiles 0 plus 1 times 2 of ui8, si8
  }
  kernel.store_tile 0, %y[%lo, %lo] pitch 64 : memref<16x16xi32>
  kernel.release_tiles
  return
}
