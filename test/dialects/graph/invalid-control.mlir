// Errors of the verifiers of ifs and loops.
//
// REQUIRES: ingot-opt
// RUN: %ingot-opt %s --split-input-file --verify-diagnostics

func.func private @a(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
func.func @several_conditions(%c: tensor<2xi1>, %x: tensor<4xf32>) {
  // expected-error @+1 {{has a condition of several elements}}
  %r = graph.if %c then @a else @a (%x) : (tensor<2xi1>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_branch(%c: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error @+1 {{runs 'a', which is no private function}}
  %r = graph.if %c then @a else @a (%x) : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @a(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
func.func private @b(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
func.func @other_type(%c: tensor<i1>, %x: tensor<5xf32>) {
  // expected-error @+1 {{runs 'a' as '(tensor<5xf32>) -> tensor<5xf32>', which is '(tensor<4xf32>) -> tensor<4xf32>'}}
  %r = graph.if %c then @a else @b (%x) : (tensor<i1>, tensor<5xf32>) -> tensor<5xf32>
  return
}

// -----

func.func private @step(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
func.func @no_end(%x: tensor<4xf32>) {
  // expected-error @+1 {{has no end}}
  %r = graph.loop @step carried(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @step(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
func.func @not_carried(%x: tensor<4xf32>) {
  // expected-error @+1 {{does not begin its results with what it carries}}
  %r = graph.loop @step count #kernel.sizes<3> carried(%x) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func private @step(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
func.func @several_counts(%x: tensor<4xf32>) {
  // expected-error @+1 {{has several counts}}
  %r = graph.loop @step count #kernel.sizes<3, 4> carried(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @step(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
func.func @several_limits(%n: tensor<2xsi64>, %x: tensor<4xf32>) {
  // expected-error @+1 {{has a limit or a condition of several elements}}
  %r = graph.loop @step limit(%n) carried(%x) : (tensor<2xsi64>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @step(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
func.func @short_parts(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{takes parts of 'tensor<3x4xf32>', which is not as long as the loop}}
  %r = graph.loop @step count #kernel.sizes<4> sliced(%x) : (tensor<3x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func private @step(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
func.func @open_parts(%n: tensor<si64>, %x: tensor<3x4xf32>) {
  // expected-error @+1 {{slices or stacks tensors, and has no count}}
  %r = graph.loop @step limit(%n) sliced(%x) : (tensor<si64>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func private @step(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
func.func @reversed(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{does not say of each sliced and each stacked tensor whether it is reversed}}
  %r = graph.loop @step count #kernel.sizes<3> reversed [true] sliced(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func private @step(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
func.func @counted(%x: tensor<4xf32>) {
  // expected-error @+1 {{runs 'step' as '(tensor<si64>, tensor<4xf32>) -> tensor<4xf32>'}}
  %r = graph.loop @step count #kernel.sizes<3> counted carried(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
