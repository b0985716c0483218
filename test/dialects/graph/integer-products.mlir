// Errors of the verifier for products of narrow integers.
//
// REQUIRES: ingot-opt
// RUN: %ingot-opt %s --split-input-file --verify-diagnostics

func.func @narrow_result(%a: tensor<5x8xui8>, %b: tensor<8x6xsi8>) {
  // expected-error @+1 {{multiplies ui8 by si8 into si16; types must be one, integers of at most 16 bits and a result of si32, or bf16, f16 or f8 and a result of f32}}
  %y = graph.matmul %a, %b : (tensor<5x8xui8>, tensor<8x6xsi8>) -> tensor<5x6xsi16>
  return
}

// -----

func.func @wide_operand(%a: tensor<5x8xsi64>, %b: tensor<8x6xsi8>) {
  // expected-error @+1 {{multiplies si64 by si8 into si32}}
  %y = graph.matmul %a, %b : (tensor<5x8xsi64>, tensor<8x6xsi8>) -> tensor<5x6xsi32>
  return
}

// -----

func.func @one_zero(%a: tensor<5x8xui8>, %b: tensor<8x6xsi8>, %az: tensor<ui8>) {
  // expected-error @+1 {{has one zero point; there are two, or none}}
  %y = graph.matmul %a, %b, %az : (tensor<5x8xui8>, tensor<8x6xsi8>, tensor<ui8>) -> tensor<5x6xsi32>
  return
}

// -----

func.func @zero_type(%a: tensor<5x8xui8>, %b: tensor<8x6xsi8>, %z: tensor<ui8>) {
  // expected-error @+1 {{has a zero point of b of ui8, not si8}}
  %y = graph.matmul %a, %b, %z, %z : (tensor<5x8xui8>, tensor<8x6xsi8>, tensor<ui8>, tensor<ui8>) -> tensor<5x6xsi32>
  return
}

// -----

func.func @zero_by_step(%a: tensor<5x8xui8>, %b: tensor<8x6xsi8>, %az: tensor<1x8xui8>, %bz: tensor<si8>) {
  // expected-error @+1 {{has a zero point of a that is neither one number nor one for each row}}
  %y = graph.matmul %a, %b, %az, %bz : (tensor<5x8xui8>, tensor<8x6xsi8>, tensor<1x8xui8>, tensor<si8>) -> tensor<5x6xsi32>
  return
}

// -----

func.func @zero_of_columns(%a: tensor<5x8xui8>, %b: tensor<8x6xsi8>, %az: tensor<ui8>, %bz: tensor<1x5xsi8>) {
  // expected-error @+1 {{has a zero point of b that is neither one number nor one for each column}}
  %y = graph.matmul %a, %b, %az, %bz : (tensor<5x8xui8>, tensor<8x6xsi8>, tensor<ui8>, tensor<1x5xsi8>) -> tensor<5x6xsi32>
  return
}
