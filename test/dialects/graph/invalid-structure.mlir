// Errors of the verifiers of recurrent layers, forests, constants and groups.
//
// REQUIRES: ingot-opt
// RUN: %ingot-opt %s --split-input-file --verify-diagnostics

func.func @rnn(%x: tensor<7x2x4xf32>, %y: tensor<4x4xf32>, %z: tensor<2x4xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<4xf32>'}}
  %r:3 = graph.rnn %x, %y, %z {activations = ["Tanh"], alpha = array<f64: 0.0>, beta = array<f64: 0.0>}
      : (tensor<7x2x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>) -> (tensor<7x2x4xf32>, tensor<2x4xf32>, tensor<5xf32>)
  return
}

// -----

func.func @rnn_2(%x: tensor<7x2x4xf32>, %y: tensor<4x4xf32>, %z: tensor<2x4xf32>) {
  // expected-error @+1 {{has the unknown activation `Cosh`}}
  %r:3 = graph.rnn %x, %y, %z {activations = ["Cosh"], alpha = array<f64: 0.0>, beta = array<f64: 0.0>}
      : (tensor<7x2x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>) -> (tensor<7x2x4xf32>, tensor<2x4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @gru(%x: tensor<7x2x12xf32>, %y: tensor<4x12xf32>, %z: tensor<2x4xf32>, %u: tensor<3xf32>) {
  // expected-error @+1 {{has a bias of 'tensor<3xf32>', not of the shape [4]}}
  %r:3 = graph.gru %x, %y, %z, %u
      {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>, activations = ["Sigmoid", "Tanh"], alpha = array<f64: 0.0, 0.0>, beta = array<f64: 0.0, 0.0>}
      : (tensor<7x2x12xf32>, tensor<4x12xf32>, tensor<2x4xf32>, tensor<3xf32>) -> (tensor<7x2x4xf32>, tensor<2x4xf32>, tensor<12xf32>)
  return
}

// -----

func.func @gru_2(%x: tensor<7x2x12xf32>, %y: tensor<4x12xf32>, %z: tensor<2x4xf32>, %u: tensor<4xf32>) {
  // expected-error @+1 {{does not have 2 activations with alpha and beta}}
  %r:3 = graph.gru %x, %y, %z, %u
      {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>, activations = ["Sigmoid"], alpha = array<f64: 0.0>, beta = array<f64: 0.0>}
      : (tensor<7x2x12xf32>, tensor<4x12xf32>, tensor<2x4xf32>, tensor<4xf32>) -> (tensor<7x2x4xf32>, tensor<2x4xf32>, tensor<12xf32>)
  return
}

// -----

func.func @lstm(%x: tensor<7x2x15xf32>, %y: tensor<4x16xf32>, %z: tensor<2x4xf32>, %u: tensor<2x4xf32>) {
  // expected-error @+1 {{has gates of 'tensor<7x2x15xf32>', not of the shape [7, 2, 16]}}
  %r:4 = graph.lstm %x, %y, %z, %u
      {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, activations = ["Sigmoid", "Tanh", "Tanh"], alpha = array<f64: 0.0, 0.0, 0.0>, beta = array<f64: 0.0, 0.0, 0.0>}
      : (tensor<7x2x15xf32>, tensor<4x16xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<7x2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<16xf32>)
  return
}

// -----

func.func @lstm_2(%x: tensor<7x2x16xf32>, %y: tensor<4x16xf32>, %z: tensor<2x4xf32>, %u: tensor<2x4xf32>) {
  // expected-error @+1 {{does not have 3 activations with alpha and beta}}
  %r:4 = graph.lstm %x, %y, %z, %u
      {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, activations = ["Sigmoid", "Tanh"], alpha = array<f64: 0.0, 0.0>, beta = array<f64: 0.0, 0.0>}
      : (tensor<7x2x16xf32>, tensor<4x16xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<7x2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<16xf32>)
  return
}

// -----

func.func @forest(%x: tensor<9x6xf32>, %y: tensor<3xsi32>, %z: tensor<3xf32>, %u: tensor<3xsi8>, %v: tensor<3x2xsi32>, %w: tensor<1xsi32>, %a: tensor<1xsi32>, %b: tensor<4xsi32>, %c: tensor<2xf32>, %d: tensor<2xsi32>, %e: tensor<5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<9x5xf32>'}}
  %r = graph.forest %x, %y, %z, %u, %v, %w, %a, %b, %c, %d, %e {aggregate = "SUM"}
      : (tensor<9x6xf32>, tensor<3xsi32>, tensor<3xf32>, tensor<3xsi8>, tensor<3x2xsi32>, tensor<1xsi32>, tensor<1xsi32>, tensor<4xsi32>, tensor<2xf32>, tensor<2xsi32>, tensor<5xf32>) -> tensor<9x4xf32>
  return
}

// -----

func.func @forest_2(%x: tensor<9x6xf32>, %y: tensor<3xsi32>, %z: tensor<3xf32>, %u: tensor<3xsi8>, %v: tensor<3x2xsi32>, %w: tensor<1xsi32>, %a: tensor<1xsi32>, %b: tensor<4xsi32>, %c: tensor<2xf32>, %d: tensor<2xsi32>, %e: tensor<5xf32>) {
  // expected-error @+1 {{one of: SUM, AVERAGE, MIN, MAX}}
  %r = graph.forest %x, %y, %z, %u, %v, %w, %a, %b, %c, %d, %e {aggregate = "MEDIAN"}
      : (tensor<9x6xf32>, tensor<3xsi32>, tensor<3xf32>, tensor<3xsi8>, tensor<3x2xsi32>, tensor<1xsi32>, tensor<1xsi32>, tensor<4xsi32>, tensor<2xf32>, tensor<2xsi32>, tensor<5xf32>) -> tensor<9x5xf32>
  return
}

// -----

func.func @forest_3(%x: tensor<9x6xf32>, %y: tensor<3xsi32>, %z: tensor<3xf32>, %u: tensor<3xsi8>, %v: tensor<3x2xsi32>, %w: tensor<1xsi32>, %a: tensor<1xsi32>, %b: tensor<3xsi32>, %c: tensor<2xf32>, %d: tensor<2xsi32>, %e: tensor<5xf32>) {
  // expected-error @+1 {{has a table `first` of 'tensor<3xsi32>', not of the shape [4]}}
  %r = graph.forest %x, %y, %z, %u, %v, %w, %a, %b, %c, %d, %e {aggregate = "SUM"}
      : (tensor<9x6xf32>, tensor<3xsi32>, tensor<3xf32>, tensor<3xsi8>, tensor<3x2xsi32>, tensor<1xsi32>, tensor<1xsi32>, tensor<3xsi32>, tensor<2xf32>, tensor<2xsi32>, tensor<5xf32>) -> tensor<9x5xf32>
  return
}

// -----

func.func @forest_masks(%x: tensor<6x9xf32>, %y: tensor<3xsi32>, %z: tensor<3xf32>, %u: tensor<3xsi8>, %v: tensor<3xsi32>, %w: tensor<2xsi32>, %a: tensor<1xsi32>, %b: tensor<2xsi32>, %c: tensor<4xf32>, %d: tensor<4xsi32>, %e: tensor<1xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<9x1xf32>'}}
  %r = graph.forest_masks %x, %y, %z, %u, %v, %w, %a, %b, %c, %d, %e
      : (tensor<6x9xf32>, tensor<3xsi32>, tensor<3xf32>, tensor<3xsi8>, tensor<3xsi32>, tensor<2xsi32>, tensor<1xsi32>, tensor<2xsi32>, tensor<4xf32>, tensor<4xsi32>, tensor<1xf32>) -> tensor<6x1xf32>
  return
}

// -----

func.func @forest_masks_2(%x: tensor<6x9xf32>, %y: tensor<3xsi32>, %z: tensor<3xf32>, %u: tensor<3xsi8>, %v: tensor<3xsi32>, %w: tensor<1xsi32>, %a: tensor<1xsi32>, %b: tensor<2xsi32>, %c: tensor<4xf32>, %d: tensor<4xsi32>, %e: tensor<1xf32>) {
  // expected-error @+1 {{has a table `nodes_of` of 'tensor<1xsi32>', not of the shape [2]}}
  %r = graph.forest_masks %x, %y, %z, %u, %v, %w, %a, %b, %c, %d, %e
      : (tensor<6x9xf32>, tensor<3xsi32>, tensor<3xf32>, tensor<3xsi8>, tensor<3xsi32>, tensor<1xsi32>, tensor<1xsi32>, tensor<2xsi32>, tensor<4xf32>, tensor<4xsi32>, tensor<1xf32>) -> tensor<9x1xf32>
  return
}

// -----

func.func @constant() {
  // expected-error @+1 {{where its operands and attributes make 'tensor<2xf32>'}}
  %r = graph.constant dense<1.0> : tensor<2xf32> : tensor<3xf32>
  return
}

// -----

func.func @constant_2() {
  // expected-error @+1 {{Invalid attribute `value`}}
  %r = "graph.constant"() <{value = 1 : i64}> : () -> tensor<2xf32>
  return
}

// -----

func.func @group_arguments(%x: tensor<4xf32>) {
  // expected-error @+1 {{has other operands than its body has arguments}}
  %r = graph.group "elementwise" (%x) : (tensor<4xf32>) -> tensor<5xf32> {
  ^bb0(%y: tensor<5xf32>):
    %z = graph.relu %y : (tensor<5xf32>) -> tensor<5xf32>
    graph.yield %z : tensor<5xf32>
  }
  return
}

// -----

func.func @group_results(%x: tensor<4xf32>) {
  // expected-error @+1 {{has other results than its body yields}}
  %r = graph.group "elementwise" (%x) : (tensor<4xf32>) -> tensor<5xf32> {
  ^bb0(%y: tensor<4xf32>):
    %z = graph.relu %y : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %z : tensor<4xf32>
  }
  return
}

// -----

func.func @group_strategy(%x: tensor<4xf32>) {
  // expected-error @+1 {{names no strategy}}
  %r = graph.group "" (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%y: tensor<4xf32>):
    %z = graph.relu %y : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %z : tensor<4xf32>
  }
  return
}

// -----

func.func @group_output_strides(%x: tensor<4xf32>) {
  // expected-error @+1 {{has 'output_strides', but not one for each axis}}
  %r = graph.group "elementwise" (%x) {output_strides = array<i64: 1, 1>} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%y: tensor<4xf32>):
    %z = graph.relu %y : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %z : tensor<4xf32>
  }
  return
}

// -----

func.func @group_input_strides(%x: tensor<4xf32>) {
  // expected-error @+1 {{has 2 'input_strides' for 1 operands}}
  %r = graph.group "elementwise" (%x) {input_strides = [array<i64>, array<i64>]} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%y: tensor<4xf32>):
    %z = graph.relu %y : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %z : tensor<4xf32>
  }
  return
}

// -----

func.func @group_input_axes(%x: tensor<4xf32>) {
  // expected-error @+1 {{has 'input_strides' that are neither empty nor one for each axis}}
  %r = graph.group "elementwise" (%x) {input_strides = [array<i64: 4, 1>]} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%y: tensor<4xf32>):
    %z = graph.relu %y : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %z : tensor<4xf32>
  }
  return
}

// -----

func.func @yield(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects parent op 'graph.group'}}
  graph.yield %x : tensor<4xf32>
}

// -----

func.func @sizes() {
  // expected-error @+1 {{the result must be a tensor of integers, with one element for each of the 'sizes'}}
  %r = graph.sizes {sizes = #kernel.sizes<"n" in 1 to 64 : s0, 28>} : () -> tensor<3xsi64>
  return
}

// -----

func.func @too_few(%count: tensor<2xsi64>) {
  // expected-error @+1 {{reads 1 sizes from 2 integers}}
  graph.read_sizes %count {sizes = #kernel.sizes<"n" in 1 to 64 : s0>} : (tensor<2xsi64>) -> ()
  return
}

// -----

func.func @no_pair() {
  // expected-error @+1 {{needs sizes to be equal that are no pairs}}
  graph.check_sizes {pairs = #kernel.sizes<"n" in 1 to 64 : s0>} : () -> ()
  return
}

// -----

func.func @unnamed(%x: tensor<8xf32>) {
  // expected-error @+1 {{has 2 names for 3 parameters}}
  %y = graph.call_external %x {function = "f", names = ["x", "y"], sizes = #kernel.sizes<8>, constants = []}
       : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @no_result(%x: tensor<8xf32>) {
  // expected-error @+1 {{has no result}}
  graph.call_external %x {function = "f", names = ["x"], constants = []} : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @two_calls(%x: tensor<8xf32>) {
  // expected-error @+1 {{has more than one size in 'parallel'}}
  %y = graph.call_external %x {function = "f", names = ["x", "y", "i"], parallel = #kernel.sizes<2, 4>, constants = []}
       : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @gaps(%x: tensor<4x8xf32, #kernel.sizes<"n" in 1 to 8 : 4, s0>>) {
  // expected-error @+1 {{has an input with gaps in memory}}
  %y = graph.call_external %x {function = "f", names = ["x", "y"], constants = []}
       : (tensor<4x8xf32, #kernel.sizes<"n" in 1 to 8 : 4, s0>>) -> tensor<8xf32>
  return
}
