// Errors of the verifiers of the kernel dialect's vector operations.
//
// REQUIRES: ingot-opt
// RUN: %ingot-opt %s --split-input-file --verify-diagnostics

func.func @dot_group(%a: vector<12xi8>, %sum: vector<4xi32>) {
  // expected-error @+1 {{sums 12 products into 4 lanes, which is not 2, 4, 8 or 16 for each}}
  %y = kernel.dot %a, %a, %sum : vector<12xi8>, vector<4xi32>
  return
}

// -----

func.func @dot_alone(%a: vector<4xi8>, %sum: vector<4xi32>) {
  // expected-error @+1 {{sums 4 products into 4 lanes, which is not 2, 4, 8 or 16 for each}}
  %y = kernel.dot %a, %a, %sum : vector<4xi8>, vector<4xi32>
  return
}

// -----

func.func @dot_wide(%a: vector<8xi32>, %sum: vector<4xi32>) {
  // expected-error @+1 {{operand #0 must be}}
  %y = kernel.dot %a, %a, %sum : vector<8xi32>, vector<4xi32>
  return
}

// -----

func.func @dot_narrow_sum(%a: vector<16xi8>, %sum: vector<4xi8>) {
  // expected-error @+1 {{operand #2 must be a 32-bit integer or float, or a vector of them}}
  %y = kernel.dot %a, %a, %sum : vector<16xi8>, vector<4xi8>
  return
}

// -----

func.func @dot_sum_of_halves(%a: vector<16xi8>, %sum: vector<4xi16>) {
  // expected-error @+1 {{sums of 16 bits are those of pairs of 8-bit integers}}
  %y = kernel.dot %a, %a, %sum : vector<16xi8>, vector<4xi16>
  return
}

// -----

func.func @dot_other_sum(%a: vector<8xbf16>, %sum: vector<4xi32>) {
  // expected-error @+1 {{sums 'vector<8xbf16>' into 'vector<4xi32>'}}
  %y = kernel.dot %a, %a, %sum : vector<8xbf16>, vector<4xi32>
  return
}

// -----

func.func @mul_high(%x: vector<8xi16>) {
  // expected-error @+1 {{operand #0 must be a 32-bit integer or a vector of them}}
  %y = kernel.mul_high %x, %x : vector<8xi16>
  return
}

// -----

func.func @narrow_part(%x: vector<2xi32>) {
  // expected-error @+1 {{takes blocks of 128 bits, not 'vector<2xi32>'}}
  %y = kernel.narrow_signed %x, %x : vector<2xi32> to vector<4xi16>
  return
}

// -----

func.func @narrow_twice(%x: vector<4xi32>) {
  // expected-error @+1 {{makes 'vector<8xi16>' of two 'vector<4xi32>', not 'vector<8xi8>'}}
  %y = kernel.narrow_unsigned %x, %x : vector<4xi32> to vector<8xi8>
  return
}

// -----

func.func @low_bytes(%x: vector<4xi32>) {
  // expected-error @+1 {{takes 2 or 4 bits, not 8}}
  %y = kernel.low_bits 8 of %x : vector<4xi32> to vector<4xf32>
  return
}

// -----

func.func @low_lanes(%x: vector<4xi32>) {
  // expected-error @+1 {{converts 'vector<4xi32>' to 'vector<8xf32>', which has other lanes}}
  %y = kernel.low_bits 4 of %x : vector<4xi32> to vector<8xf32>
  return
}

// -----

func.func @zip_low_part(%x: vector<8xi8>) {
  // expected-error @+1 {{takes blocks of 128 bits, not 'vector<8xi8>'}}
  %y = kernel.zip_low %x, %x : vector<8xi8>
  return
}

// -----

func.func @zip_part(%x: vector<8xi8>) {
  // expected-error @+1 {{takes blocks of 128 bits, not 'vector<8xi8>'}}
  %y = kernel.zip_high %x, %x : vector<8xi8>
  return
}

// -----

func.func @dot_wide_half(%a: vector<8xf16>, %sum: vector<8xf32>) {
  // expected-error @+1 {{sums 'vector<8xf16>' into 'vector<8xf32>'; products of f16 are summed lane by lane}}
  %y = kernel.dot %a, %a, %sum : vector<8xf16>, vector<8xf32>
  return
}

// -----

func.func @dot_matrix(%a: vector<4x4xi8>, %sum: vector<4xi32>) {
  // expected-error @+1 {{operand #0 must be}}
  %y = kernel.dot %a, %a, %sum : vector<4x4xi8>, vector<4xi32>
  return
}

// -----

func.func @exp2(%x: f16) {
  // expected-error @+1 {{operand #0 must be 32-bit float}}
  %y = kernel.exp2 %x : f16
  return
}

// -----

func.func @dot_across_lanes(%a: vector<16xi8>, %sum: vector<4xi32>) {
  // expected-error @+1 {{attribute 'kernel.across_lanes' is for products of signed bytes}}
  %y = kernel.dot unsigned %a, %a, %sum {kernel.across_lanes} : vector<16xi8>, vector<4xi32>
  return
}

// -----

func.func @dot_of_pairs(%a: vector<16xi8>, %sum: vector<2xi32>) {
  // expected-error @+1 {{attribute 'kernel.of_pairs' is for products with four sums}}
  %y = kernel.dot %a, %a, %sum {kernel.of_pairs} : vector<16xi8>, vector<2xi32>
  return
}

// -----

func.func @dot_of_half(%a: vector<16xi8>, %sum: vector<8xi16>) {
  // expected-error @+1 {{attribute 'kernel.upper_half' is for products of 16-bit integers with half as many sums as lanes}}
  %y = kernel.dot %a, %a, %sum {kernel.upper_half = true} : vector<16xi8>, vector<8xi16>
  return
}

// -----

func.func @round_twice(%x: vector<4xf32>) {
  // expected-error @+1 {{converts 'vector<4xf32>' to 'vector<8xi32>'}}
  %y = kernel.round_saturated %x : vector<4xf32> to vector<8xi32>
  return
}

// -----

func.func @add_words(%x: vector<4xi32>) {
  // expected-error @+1 {{must be vector of 16-bit signless integer values}}
  %y = kernel.add_saturated %x, %x : vector<4xi32>
  return
}
