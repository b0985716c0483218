// Errors of the verifiers of operators that reduce or normalize along axes.
//
// REQUIRES: ingot-opt
// RUN: %ingot-opt %s --split-input-file --verify-diagnostics

func.func @reduce_sum(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<4x1xf32>'}}
  %r = graph.reduce_sum %x {axes = array<i64: 1>} : (tensor<4x5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_sum_2(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{has axes that do not ascend}}
  %r = graph.reduce_sum %x {axes = array<i64: 1, 0>} : (tensor<4x5xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @reduce_mean(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<4x1xf32>'}}
  %r = graph.reduce_mean %x {axes = array<i64: 1>} : (tensor<4x5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_mean_2(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{has no axis 2 in an operand of rank 2}}
  %r = graph.reduce_mean %x {axes = array<i64: 0, 2>} : (tensor<4x5xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @reduce_prod(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<4x1xf32>'}}
  %r = graph.reduce_prod %x {axes = array<i64: 1>} : (tensor<4x5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_prod_2(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{has axes that do not ascend}}
  %r = graph.reduce_prod %x {axes = array<i64: 1, 0>} : (tensor<4x5xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @reduce_max(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<4x1xf32>'}}
  %r = graph.reduce_max %x {axes = array<i64: 1>} : (tensor<4x5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_max_2(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{has axes that do not ascend}}
  %r = graph.reduce_max %x {axes = array<i64: 1, 0>} : (tensor<4x5xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @reduce_min(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<4x1xf32>'}}
  %r = graph.reduce_min %x {axes = array<i64: 1>} : (tensor<4x5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_min_2(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{has axes that do not ascend}}
  %r = graph.reduce_min %x {axes = array<i64: 1, 0>} : (tensor<4x5xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @reduce_l1(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<4x1xf32>'}}
  %r = graph.reduce_l1 %x {axes = array<i64: 1>} : (tensor<4x5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_l1_2(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{has axes that do not ascend}}
  %r = graph.reduce_l1 %x {axes = array<i64: 1, 0>} : (tensor<4x5xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @reduce_l2(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<4x1xf32>'}}
  %r = graph.reduce_l2 %x {axes = array<i64: 1>} : (tensor<4x5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_l2_2(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{has axes that do not ascend}}
  %r = graph.reduce_l2 %x {axes = array<i64: 1, 0>} : (tensor<4x5xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @reduce_sum_square(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<4x1xf32>'}}
  %r = graph.reduce_sum_square %x {axes = array<i64: 1>} : (tensor<4x5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_sum_square_2(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{has axes that do not ascend}}
  %r = graph.reduce_sum_square %x {axes = array<i64: 1, 0>} : (tensor<4x5xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @reduce_log_sum(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<4x1xf32>'}}
  %r = graph.reduce_log_sum %x {axes = array<i64: 1>} : (tensor<4x5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_log_sum_2(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{has axes that do not ascend}}
  %r = graph.reduce_log_sum %x {axes = array<i64: 1, 0>} : (tensor<4x5xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @arg_max(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<4x1xsi64>'}}
  %r = graph.arg_max %x {axis = 1 : i64, last = false} : (tensor<4x5xf32>) -> tensor<4x1xf32>
  return
}

// -----

func.func @arg_max_2(%x: tensor<4x0xf32>) {
  // expected-error @+1 {{has an axis without elements}}
  %r = graph.arg_max %x {axis = 1 : i64, last = false} : (tensor<4x0xf32>) -> tensor<4x1xsi64>
  return
}

// -----

func.func @arg_max_3(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{has no axis 2 in an operand of rank 2}}
  %r = graph.arg_max %x {axis = 2 : i64, last = false} : (tensor<4x5xf32>) -> tensor<4x1xsi64>
  return
}

// -----

func.func @arg_min(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<4x1xsi64>'}}
  %r = graph.arg_min %x {axis = 1 : i64, last = false} : (tensor<4x5xf32>) -> tensor<4x1xf32>
  return
}

// -----

func.func @arg_min_2(%x: tensor<4x0xf32>) {
  // expected-error @+1 {{has an axis without elements}}
  %r = graph.arg_min %x {axis = 1 : i64, last = false} : (tensor<4x0xf32>) -> tensor<4x1xsi64>
  return
}

// -----

func.func @arg_min_3(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{has no axis 2 in an operand of rank 2}}
  %r = graph.arg_min %x {axis = 2 : i64, last = false} : (tensor<4x5xf32>) -> tensor<4x1xsi64>
  return
}

// -----

func.func @cum_sum(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<4x5xf32>'}}
  %r = graph.cum_sum %x {axis = 1 : i64, exclusive = false, reverse = false} : (tensor<4x5xf32>) -> tensor<4x1xf32>
  return
}

// -----

func.func @cum_sum_2(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{has no axis 2}}
  %r = graph.cum_sum %x {axis = 2 : i64, exclusive = false, reverse = false} : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @cum_prod(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<4x5xf32>'}}
  %r = graph.cum_prod %x {axis = 1 : i64, exclusive = false, reverse = false} : (tensor<4x5xf32>) -> tensor<4x1xf32>
  return
}

// -----

func.func @cum_prod_2(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{has no axis 2}}
  %r = graph.cum_prod %x {axis = 2 : i64, exclusive = false, reverse = false} : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @softmax(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<4x5xf32>'}}
  %r = graph.softmax %x {axis = 1 : i64} : (tensor<4x5xf32>) -> tensor<4x1xf32>
  return
}

// -----

func.func @softmax_2(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{has no axis 2}}
  %r = graph.softmax %x {axis = 2 : i64} : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @log_softmax(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<4x5xf32>'}}
  %r = graph.log_softmax %x {axis = 1 : i64} : (tensor<4x5xf32>) -> tensor<4x1xf32>
  return
}

// -----

func.func @log_softmax_2(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{has no axis 2}}
  %r = graph.log_softmax %x {axis = 2 : i64} : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @layer_norm(%x: tensor<4x5xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{has a scale or bias of 'tensor<4xf32>', not of the shape [5]}}
  %r = graph.layer_norm %x, %y {epsilon = 1.0e-5 : f32, center = true}
      : (tensor<4x5xf32>, tensor<4xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @layer_norm_2(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{attribute 'epsilon'}}
  %r = graph.layer_norm %x {epsilon = 1 : i64, center = true} : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @lrn(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<4x5xf32>'}}
  %r = graph.lrn %x {axis = 1 : i64, size = 3 : i64, alpha = 1.0 : f32, beta = 1.0 : f32, bias = 1.0 : f32}
      : (tensor<4x5xf32>) -> tensor<4x5xf16>
  return
}

// -----

func.func @lrn_2(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{has a window that is not positive}}
  %r = graph.lrn %x {axis = 1 : i64, size = 0 : i64, alpha = 1.0 : f32, beta = 1.0 : f32, bias = 1.0 : f32}
      : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}
