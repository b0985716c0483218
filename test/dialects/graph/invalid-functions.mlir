// Errors of the verifiers of float functions and activations.
//
// REQUIRES: ingot-opt
// RUN: %ingot-opt %s --split-input-file --verify-diagnostics

func.func @floor(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.floor %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @ceil(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.ceil %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @round(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.round %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @sqrt(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.sqrt %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @exp(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.exp %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @log(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.log %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @sin(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.sin %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @cos(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.cos %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @tan(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.tan %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @asin(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.asin %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @acos(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.acos %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @atan(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.atan %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @sinh(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.sinh %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @cosh(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.cosh %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @tanh(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.tanh %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @asinh(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.asinh %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @acosh(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.acosh %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @atanh(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.atanh %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @sigmoid(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.sigmoid %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @hard_swish(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.hard_swish %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @softplus(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.softplus %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @softsign(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.softsign %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @mish(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.mish %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @leaky_relu(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.leaky_relu %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @leaky_relu_2(%x: tensor<8xf32>) {
  // expected-error @+1 {{attribute 'alpha'}}
  %r = graph.leaky_relu %x {alpha = 1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @thresholded_relu(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.thresholded_relu %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @thresholded_relu_2(%x: tensor<8xf32>) {
  // expected-error @+1 {{attribute 'alpha'}}
  %r = graph.thresholded_relu %x {alpha = 1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @hard_sigmoid(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.hard_sigmoid %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @hard_sigmoid_2(%x: tensor<8xf32>) {
  // expected-error @+1 {{attribute 'beta'}}
  %r = graph.hard_sigmoid %x {beta = 1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @swish(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.swish %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @round_to_tf32(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.round_to_tf32 %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @swish_2(%x: tensor<8xf32>) {
  // expected-error @+1 {{attribute 'alpha'}}
  %r = graph.swish %x {alpha = 1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @elu(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.elu %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @elu_2(%x: tensor<8xf32>) {
  // expected-error @+1 {{attribute 'alpha'}}
  %r = graph.elu %x {alpha = 1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @celu(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.celu %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @celu_2(%x: tensor<8xf32>) {
  // expected-error @+1 {{attribute 'alpha'}}
  %r = graph.celu %x {alpha = 1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @selu(%x: tensor<8xsi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor of floating-point values}}
  %r = graph.selu %x : (tensor<8xsi32>) -> tensor<8xsi32>
  return
}

// -----

func.func @selu_2(%x: tensor<8xf32>) {
  // expected-error @+1 {{attribute 'gamma'}}
  %r = graph.selu %x {gamma = 1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @shrink(%x: tensor<8xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8xf32>'}}
  %r = graph.shrink %x : (tensor<8xf32>) -> tensor<8xf16>
  return
}

// -----

func.func @shrink_2(%x: tensor<8xf32>) {
  // expected-error @+1 {{attribute 'bias'}}
  %r = graph.shrink %x {bias = 1 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @gelu(%x: tensor<8xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8xf32>'}}
  %r = graph.gelu %x : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @gelu_2(%x: tensor<8xf32>) {
  // expected-error @+1 {{one of: none, tanh}}
  %r = graph.gelu %x {approximate = "erf"} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @prelu(%x: tensor<8x5xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{has operands that do not broadcast}}
  %r = graph.prelu %x, %y : (tensor<8x5xf32>, tensor<4xf32>) -> tensor<8x5xf32>
  return
}
