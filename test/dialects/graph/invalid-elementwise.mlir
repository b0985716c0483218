// Errors of the verifiers of elementwise operators.
//
// REQUIRES: ingot-opt
// RUN: %ingot-opt %s --split-input-file --verify-diagnostics

func.func @add(%x: tensor<8x5xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8x5xf32>'}}
  %r = graph.add %x, %y : (tensor<8x5xf32>, tensor<5xf32>) -> tensor<100xf32>
  return
}

// -----

func.func @sub(%x: tensor<8x5xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8x5xf32>'}}
  %r = graph.sub %x, %y : (tensor<8x5xf32>, tensor<5xf32>) -> tensor<100xf32>
  return
}

// -----

func.func @mul(%x: tensor<8x5xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8x5xf32>'}}
  %r = graph.mul %x, %y : (tensor<8x5xf32>, tensor<5xf32>) -> tensor<100xf32>
  return
}

// -----

func.func @div(%x: tensor<8x5xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8x5xf32>'}}
  %r = graph.div %x, %y : (tensor<8x5xf32>, tensor<5xf32>) -> tensor<100xf32>
  return
}

// -----

func.func @maximum(%x: tensor<8x5xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8x5xf32>'}}
  %r = graph.maximum %x, %y : (tensor<8x5xf32>, tensor<5xf32>) -> tensor<100xf32>
  return
}

// -----

func.func @minimum(%x: tensor<8x5xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8x5xf32>'}}
  %r = graph.minimum %x, %y : (tensor<8x5xf32>, tensor<5xf32>) -> tensor<100xf32>
  return
}

// -----

func.func @broadcast(%x: tensor<8x5xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{has operands that do not broadcast}}
  %r = graph.add %x, %y : (tensor<8x5xf32>, tensor<4xf32>) -> tensor<8x5xf32>
  return
}

// -----

func.func @element_types(%x: tensor<8xf32>, %y: tensor<8xsi32>) {
  // expected-error @+1 {{has operands of element types 'f32' and 'si32'}}
  %r = graph.add %x, %y : (tensor<8xf32>, tensor<8xsi32>) -> tensor<8xf32>
  return
}

// -----

func.func @mod(%x: tensor<8xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8xf32>'}}
  %r = graph.mod %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xsi32>
  return
}

// -----

func.func @mod_2(%x: tensor<8xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{attribute 'fmod'}}
  %r = graph.mod %x, %y {fmod = "yes"} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @pow(%x: tensor<8xf32>, %y: tensor<8xsi32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8xf32>'}}
  %r = graph.pow %x, %y : (tensor<8xf32>, tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @neg(%x: tensor<8x5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8x5xf32>'}}
  %r = graph.neg %x : (tensor<8x5xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @abs(%x: tensor<8x5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8x5xf32>'}}
  %r = graph.abs %x : (tensor<8x5xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @sign(%x: tensor<8x5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8x5xf32>'}}
  %r = graph.sign %x : (tensor<8x5xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @reciprocal(%x: tensor<8x5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8x5xf32>'}}
  %r = graph.reciprocal %x : (tensor<8x5xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @relu(%x: tensor<8x5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8x5xf32>'}}
  %r = graph.relu %x : (tensor<8x5xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @erf(%x: tensor<8x5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8x5xf32>'}}
  %r = graph.erf %x : (tensor<8x5xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @equal(%x: tensor<8xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8xi1>'}}
  %r = graph.equal %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @less(%x: tensor<8xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8xi1>'}}
  %r = graph.less %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @less_or_equal(%x: tensor<8xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8xi1>'}}
  %r = graph.less_or_equal %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @greater(%x: tensor<8xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8xi1>'}}
  %r = graph.greater %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @greater_or_equal(%x: tensor<8xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8xi1>'}}
  %r = graph.greater_or_equal %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @is_nan(%x: tensor<8xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8xi1>'}}
  %r = graph.is_nan %x : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @is_inf(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.is_inf %x : (tensor<8xsi32>) -> tensor<8xi1>
  return
}

// -----

func.func @is_inf_2(%x: tensor<8xf32>) {
  // expected-error @+1 {{attribute 'detect_negative'}}
  %r = graph.is_inf %x {detect_negative = true} : (tensor<8xf32>) -> tensor<8xi1>
  return
}

// -----

func.func @and(%x: tensor<8xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of integer values}}
  %r = graph.and %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @or(%x: tensor<8xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of integer values}}
  %r = graph.or %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @xor(%x: tensor<8xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of integer values}}
  %r = graph.xor %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @not(%x: tensor<8xf32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of integer values}}
  %r = graph.not %x : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @bit_shift(%x: tensor<8xui8>, %y: tensor<8xf32>) {
  // expected-error @+1 {{operand #1 must be statically shaped tensor of integer values}}
  %r = graph.bit_shift %x, %y : (tensor<8xui8>, tensor<8xf32>) -> tensor<8xui8>
  return
}

// -----

func.func @bit_shift_2(%x: tensor<8xui8>, %y: tensor<8xui8>) {
  // expected-error @+1 {{one of: LEFT, RIGHT}}
  %r = graph.bit_shift %x, %y {direction = "UP"} : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8>
  return
}

// -----

func.func @mul_high(%x: tensor<8xsi64>, %y: tensor<8xsi64>) {
  // expected-error @+1 {{multiplies integers that are not signed ones of 32 bits}}
  %r = graph.mul_high %x, %y : (tensor<8xsi64>, tensor<8xsi64>) -> tensor<8xsi64>
  return
}

// -----

func.func @where(%x: tensor<8xsi32>, %y: tensor<8xf32>, %z: tensor<8xf32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of 1-bit signless integer values}}
  %r = graph.where %x, %y, %z : (tensor<8xsi32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @where_2(%x: tensor<8xi1>, %y: tensor<8xf32>, %z: tensor<8xf16>) {
  // expected-error @+1 {{has operands of element types 'f32' and 'f16'}}
  %r = graph.where %x, %y, %z : (tensor<8xi1>, tensor<8xf32>, tensor<8xf16>) -> tensor<8xf32>
  return
}

// -----

func.func @cast(%x: tensor<8xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8xsi32>'}}
  %r = graph.cast %x : (tensor<8xf32>) -> tensor<4xsi32>
  return
}

// -----

func.func @cast_2(%x: tensor<8xf32>) {
  // expected-error @+1 {{one of: up, down, nearest}}
  %r = graph.cast %x {round_mode = "even"} : (tensor<8xf32>) -> tensor<8xf8E8M0FNU>
  return
}

// -----

func.func @bit_cast(%x: tensor<8xf32>) {
  // expected-error @+1 {{changes the width of elements}}
  %r = graph.bit_cast %x : (tensor<8xf32>) -> tensor<8xsi16>
  return
}

// -----

func.func @quantize(%x: tensor<8xf32>, %y: tensor<f32>, %z: tensor<ui8>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8xui8>'}}
  %r = graph.quantize %x, %y, %z : (tensor<8xf32>, tensor<f32>, tensor<ui8>) -> tensor<8xsi8>
  return
}

// -----

func.func @quantize_2(%x: tensor<8xf32>, %y: tensor<f32>, %z: tensor<ui8>) {
  // expected-error @+1 {{attribute 'saturate'}}
  %r = graph.quantize %x, %y, %z {saturate = true} : (tensor<8xf32>, tensor<f32>, tensor<ui8>) -> tensor<8xui8>
  return
}

// -----

func.func @dequantize(%x: tensor<8xui8>, %y: tensor<f32>, %z: tensor<si8>) {
  // expected-error @+1 {{has operands of element types 'ui8' and 'si8'}}
  %r = graph.dequantize %x, %y, %z : (tensor<8xui8>, tensor<f32>, tensor<si8>) -> tensor<8xf32>
  return
}

// -----

func.func @dequantize_2(%x: tensor<8xui8>, %y: tensor<f32>, %z: tensor<ui8>) {
  // expected-error @+1 {{has a result that is no float}}
  %r = graph.dequantize %x, %y, %z : (tensor<8xui8>, tensor<f32>, tensor<ui8>) -> tensor<8xsi32>
  return
}
