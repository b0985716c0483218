// Errors of the verifiers of random number operators.
//
// REQUIRES: ingot-opt
// RUN: %ingot-opt %s --split-input-file --verify-diagnostics

func.func @random_bits(%key: tensor<ui64>) {
  // expected-error @+1 {{is no tensor of unsigned integers of 32 or 64 bits}}
  %r = graph.random_bits %key {stream = 0 : i64, bits = 8 : i64} : (tensor<ui64>) -> tensor<4xui8>
  return
}

// -----

func.func @random_bits_2(%key: tensor<ui64>) {
  // expected-error @+1 {{has elements of more bits than their type, or of none}}
  %r = graph.random_bits %key {stream = 0 : i64, bits = 33 : i64} : (tensor<ui64>) -> tensor<4xui32>
  return
}

// -----

func.func @random_bits_3(%key: tensor<ui64>) {
  // expected-error @+1 {{has elements of more bits than their type, or of none}}
  %r = graph.random_bits %key {stream = 0 : i64, bits = 0 : i64} : (tensor<ui64>) -> tensor<4xui64>
  return
}

// -----

func.func @random_bits_4(%key: tensor<4xui64>) {
  // expected-error @+1 {{has a key that is no scalar}}
  %r = graph.random_bits %key {stream = 0 : i64, bits = 24 : i64} : (tensor<4xui64>) -> tensor<4xui32>
  return
}
