// Errors of the verifiers of operators that move, index or interpolate
// elements.
//
// REQUIRES: ingot-opt
// RUN: %ingot-opt %s --split-input-file --verify-diagnostics

func.func @transpose(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<3x2xf32>'}}
  %r = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @transpose_2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{perm is not a permutation}}
  %r = graph.transpose %x {perm = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @reshape(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{the operand's elements are not those of the result}}
  %r = graph.reshape %x : (tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @room(%x: tensor<8xf32, #kernel.sizes<"n" in 1 to 8 : s0>>) {
  // expected-error @+1 {{a known size that the operand's elements fit into}}
  %r = graph.with_room %x : (tensor<8xf32, #kernel.sizes<"n" in 1 to 8 : s0>>) -> tensor<7xf32>
  return
}

// -----

func.func @room_of_rows(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{needs one axis}}
  %r = graph.with_room %x : (tensor<2x3xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @reshape_2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<6xf32>'}}
  %r = graph.reshape %x : (tensor<2x3xf32>) -> tensor<6xf16>
  return
}

// -----

func.func @slice(%x: tensor<8xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<4xf32>'}}
  %r = graph.slice %x {starts = array<i64: 0>, steps = array<i64: 2>} : (tensor<8xf32>) -> tensor<4xf16>
  return
}

// -----

func.func @slice_2(%x: tensor<8xf32>) {
  // expected-error @+1 {{reaches outside of the operand}}
  %r = graph.slice %x {starts = array<i64: 0>, steps = array<i64: 3>} : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @concat(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<2x7xf32>'}}
  %r = graph.concat %x, %y {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @concat_2(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+1 {{operands differ in more than the axis}}
  %r = graph.concat %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @concat_3(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+1 {{needs operands and an axis of theirs}}
  %r = graph.concat %x, %y {axis = 2 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  return
}

// -----

func.func @pad(%x: tensor<4xf32>, %y: tensor<f16>) {
  // expected-error @+1 {{the value is not one element of the operand's type}}
  %r = graph.pad %x, %y {low = array<i64: 1>} : (tensor<4xf32>, tensor<f16>) -> tensor<8xf32>
  return
}

// -----

func.func @pad_2(%x: tensor<4xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{crops}}
  %r = graph.pad %x, %y {low = array<i64: 5>} : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @pad_3(%x: tensor<4xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{one of: constant, reflect, edge, wrap}}
  %r = graph.pad %x, %y {low = array<i64: 1>, mode = "mirror"} : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @expand(%x: tensor<1x4xf32>) {
  // expected-error @+1 {{the operand does not broadcast to the result}}
  %r = graph.expand %x : (tensor<1x4xf32>) -> tensor<8x5xf32>
  return
}

// -----

func.func @tile(%x: tensor<4xf32>) {
  // expected-error @+1 {{the result's size 6 is not a multiple of the operand's size 4}}
  %r = graph.tile %x : (tensor<4xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @tile_2(%x: tensor<4xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8xf32>'}}
  %r = graph.tile %x : (tensor<4xf32>) -> tensor<8xf16>
  return
}

// -----

func.func @gather(%x: tensor<4x5xf32>, %y: tensor<3xsi64>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<3x5xf32>'}}
  %r = graph.gather %x, %y {axis = 0 : i64} : (tensor<4x5xf32>, tensor<3xsi64>) -> tensor<3x4xf32>
  return
}

// -----

func.func @gather_2(%x: tensor<4x5xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{operand #1 must be statically shaped tensor of integer values}}
  %r = graph.gather %x, %y {axis = 0 : i64} : (tensor<4x5xf32>, tensor<3xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_3(%x: tensor<4x5xf32>, %y: tensor<3xsi64>) {
  // expected-error @+1 {{has no axis -1 in an operand of rank 2}}
  %r = graph.gather %x, %y {axis = -1 : i64} : (tensor<4x5xf32>, tensor<3xsi64>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_elements(%x: tensor<4x5xf32>, %y: tensor<4x3xsi64>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<4x3xf32>'}}
  %r = graph.gather_elements %x, %y {axis = 1 : i64} : (tensor<4x5xf32>, tensor<4x3xsi64>) -> tensor<4x5xf32>
  return
}

// -----

func.func @gather_elements_2(%x: tensor<4x5xf32>, %y: tensor<6x3xsi64>) {
  // expected-error @+1 {{has indices that are longer than the operand}}
  %r = graph.gather_elements %x, %y {axis = 1 : i64} : (tensor<4x5xf32>, tensor<6x3xsi64>) -> tensor<6x3xf32>
  return
}

// -----

func.func @gather_elements_3(%x: tensor<4x5xf32>, %y: tensor<4x3xsi64>) {
  // expected-error @+1 {{has no axis 2 in an operand of rank 2}}
  %r = graph.gather_elements %x, %y {axis = 2 : i64} : (tensor<4x5xf32>, tensor<4x3xsi64>) -> tensor<4x3xf32>
  return
}

// -----

func.func @gather_nd(%x: tensor<4x5xf32>, %y: tensor<3x2xsi64>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<3xf32>'}}
  %r = graph.gather_nd %x, %y {batch_dims = 0 : i64} : (tensor<4x5xf32>, tensor<3x2xsi64>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_nd_2(%x: tensor<4x5xf32>, %y: tensor<4x2xsi64>) {
  // expected-error @+1 {{has indices of more axes than the operand has}}
  %r = graph.gather_nd %x, %y {batch_dims = 1 : i64} : (tensor<4x5xf32>, tensor<4x2xsi64>) -> tensor<4xf32>
  return
}

// -----

func.func @reverse_sequence(%x: tensor<4x5xf32>, %y: tensor<4xsi64>) {
  // expected-error @+1 {{has lengths of 'tensor<4xsi64>', not of the shape [5]}}
  %r = graph.reverse_sequence %x, %y {batch_axis = 1 : i64, time_axis = 0 : i64}
      : (tensor<4x5xf32>, tensor<4xsi64>) -> tensor<4x5xf32>
  return
}

// -----

func.func @reverse_sequence_2(%x: tensor<4x5xf32>, %y: tensor<4xsi64>) {
  // expected-error @+1 {{has one axis for time and batch}}
  %r = graph.reverse_sequence %x, %y {batch_axis = 0 : i64, time_axis = 0 : i64}
      : (tensor<4x5xf32>, tensor<4xsi64>) -> tensor<4x5xf32>
  return
}

// -----

func.func @tensor_scatter(%x: tensor<2x8x4xf32>, %y: tensor<2x9x4xf32>, %z: tensor<2xsi64>) {
  // expected-error @+1 {{the update does not fit, or the axis is the batch}}
  %r = graph.tensor_scatter %x, %y, %z {axis = 1 : i64}
      : (tensor<2x8x4xf32>, tensor<2x9x4xf32>, tensor<2xsi64>) -> tensor<2x8x4xf32>
  return
}

// -----

func.func @tensor_scatter_2(%x: tensor<2x8x4xf32>, %y: tensor<2x3x4xf32>, %z: tensor<2xsi64>) {
  // expected-error @+1 {{has no axis 3 in an operand of rank 3}}
  %r = graph.tensor_scatter %x, %y, %z {axis = 3 : i64}
      : (tensor<2x8x4xf32>, tensor<2x3x4xf32>, tensor<2xsi64>) -> tensor<2x8x4xf32>
  return
}

// -----

func.func @one_hot(%x: tensor<4xsi64>, %y: tensor<3xf32>) {
  // expected-error @+1 {{has values of 'tensor<3xf32>', not of the shape [2]}}
  %r = graph.one_hot %x, %y {axis = 1 : i64} : (tensor<4xsi64>, tensor<3xf32>) -> tensor<4x10xf32>
  return
}

// -----

func.func @one_hot_2(%x: tensor<4xsi64>, %y: tensor<2xf32>) {
  // expected-error @+1 {{does not add one axis to those of the indices}}
  %r = graph.one_hot %x, %y {axis = 2 : i64} : (tensor<4xsi64>, tensor<2xf32>) -> tensor<4x10xf32>
  return
}

// -----

func.func @trilu(%x: tensor<4xf32>) {
  // expected-error @+1 {{needs an operand of two axes or more}}
  %r = graph.trilu %x {k = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @trilu_2(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{attribute 'k'}}
  %r = graph.trilu %x {k = 0.0 : f32} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @col2im(%x: tensor<1x12x6xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<1x3x3x4xf32>'}}
  %r = graph.col2im %x
      {block = array<i64: 2, 2>, counts = array<i64: 2, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>}
      : (tensor<1x12x6xf32>) -> tensor<1x4x3x4xf32>
  return
}

// -----

func.func @col2im_2(%x: tensor<1x12x6xf32>) {
  // expected-error @+1 {{has a stride that is not positive}}
  %r = graph.col2im %x
      {block = array<i64: 2, 2>, counts = array<i64: 2, 3>, strides = array<i64: 1, 0>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>}
      : (tensor<1x12x6xf32>) -> tensor<1x3x3x4xf32>
  return
}

// -----

func.func @scatter_elements(%x: tensor<4x5xf32>, %y: tensor<2x3xsi64>, %z: tensor<2x2xf32>) {
  // expected-error @+1 {{has updates of 'tensor<2x2xf32>', not of the shape [2, 3]}}
  %r = graph.scatter_elements %x, %y, %z {axis = 0 : i64}
      : (tensor<4x5xf32>, tensor<2x3xsi64>, tensor<2x2xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @scatter_elements_2(%x: tensor<4x5xf32>, %y: tensor<2x3xsi64>, %z: tensor<2x3xf32>) {
  // expected-error @+1 {{one of: none, add, mul, max, min}}
  %r = graph.scatter_elements %x, %y, %z {axis = 0 : i64, reduction = "sub"}
      : (tensor<4x5xf32>, tensor<2x3xsi64>, tensor<2x3xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @scatter_nd(%x: tensor<4x5xf32>, %y: tensor<3x1xsi64>, %z: tensor<3x4xf32>) {
  // expected-error @+1 {{has updates of 'tensor<3x4xf32>', not of the shape [3, 5]}}
  %r = graph.scatter_nd %x, %y, %z : (tensor<4x5xf32>, tensor<3x1xsi64>, tensor<3x4xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @scatter_nd_2(%x: tensor<4x5xf32>, %y: tensor<3x1xsi64>, %z: tensor<3x5xf32>) {
  // expected-error @+1 {{one of: none, add, mul, max, min}}
  %r = graph.scatter_nd %x, %y, %z {reduction = "sub"}
      : (tensor<4x5xf32>, tensor<3x1xsi64>, tensor<3x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @topk(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<4x2xsi64>'}}
  %r:2 = graph.topk %x {axis = 1 : i64, largest} : (tensor<4x5xf32>) -> (tensor<4x2xf32>, tensor<4x2xsi32>)
  return
}

// -----

func.func @topk_2(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{selects more elements than the axis has}}
  %r:2 = graph.topk %x {axis = 1 : i64, largest} : (tensor<4x5xf32>) -> (tensor<4x6xf32>, tensor<4x6xsi64>)
  return
}

// -----

func.func @topk_3(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{has no axis 2 in an operand of rank 2}}
  %r:2 = graph.topk %x {axis = 2 : i64, largest} : (tensor<4x5xf32>) -> (tensor<4x2xf32>, tensor<4x2xsi64>)
  return
}

// -----

func.func @det(%x: tensor<2x3x4xf32>) {
  // expected-error @+1 {{needs square matrices}}
  %r:2 = graph.det %x : (tensor<2x3x4xf32>) -> (tensor<2xf32>, tensor<3x4xf32>)
  return
}

// -----

func.func @det_2(%x: tensor<2x3x3xf16>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<3x3xf32>'}}
  %r:2 = graph.det %x : (tensor<2x3x3xf16>) -> (tensor<2xf16>, tensor<3x3xf16>)
  return
}

// -----

func.func @resample(%x: tensor<4x5xf32>, %y: tensor<8x2xsi32>, %z: tensor<8x2xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<8x5xf32>'}}
  %r = graph.resample %x, %y, %z {operandSegmentSizes = array<i32: 1, 1, 1>, axes = array<i64: 0>}
      : (tensor<4x5xf32>, tensor<8x2xsi32>, tensor<8x2xf32>) -> tensor<8x6xf32>
  return
}

// -----

func.func @resample_2(%x: tensor<4x5xf32>, %y: tensor<8x2xsi32>, %z: tensor<8x2xf32>) {
  // expected-error @+1 {{needs positions and weights for each axis}}
  %r = graph.resample %x, %y, %z {operandSegmentSizes = array<i32: 1, 1, 1>, axes = array<i64: 0, 1>}
      : (tensor<4x5xf32>, tensor<8x2xsi32>, tensor<8x2xf32>) -> tensor<8x5xf32>
  return
}

// -----

func.func @grid_sample(%x: tensor<2x8x8x3xf32>, %y: tensor<2x4x5x3xf32>) {
  // expected-error @+1 {{the grid does not have a position for each axis}}
  %r = graph.grid_sample %x, %y {mode = "linear", padding_mode = "zeros"}
      : (tensor<2x8x8x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  return
}

// -----

func.func @grid_sample_2(%x: tensor<2x8x8x3xf32>, %y: tensor<2x4x5x2xf32>) {
  // expected-error @+1 {{one of: nearest, linear, cubic}}
  %r = graph.grid_sample %x, %y {mode = "area", padding_mode = "zeros"}
      : (tensor<2x8x8x3xf32>, tensor<2x4x5x2xf32>) -> tensor<2x4x5x3xf32>
  return
}

// -----

func.func @roi_align(%x: tensor<1x8x8x3xf32>, %y: tensor<6x4xf32>, %z: tensor<6xsi64>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<6x2x2x3xf32>'}}
  %r = graph.roi_align %x, %y, %z {scale = 1.0 : f64, offset = 0.5 : f64, samples = 0 : i64}
      : (tensor<1x8x8x3xf32>, tensor<6x4xf32>, tensor<6xsi64>) -> tensor<5x2x2x3xf32>
  return
}

// -----

func.func @roi_align_2(%x: tensor<1x8x8x3xf32>, %y: tensor<6x4xf32>, %z: tensor<6xsi64>) {
  // expected-error @+1 {{attribute 'samples'}}
  %r = graph.roi_align %x, %y, %z {scale = 1.0 : f64, offset = 0.5 : f64, samples = "all"}
      : (tensor<1x8x8x3xf32>, tensor<6x4xf32>, tensor<6xsi64>) -> tensor<6x2x2x3xf32>
  return
}

// -----

func.func @refill(%x: tensor<8x64xf32, #kernel.sizes<"n" in 1 to 64 : 8, s0>>) {
  // expected-error @+1 {{the operand's elements are not those of the result}}
  %r = graph.refill %x : (tensor<8x64xf32, #kernel.sizes<"n" in 1 to 64 : 8, s0>>) -> tensor<256xf32, #kernel.sizes<"n" in 1 to 64 : s0 * 4>>
  return
}

// -----

func.func @append(%x: tensor<8x4xf32>, %y: tensor<9x4xf32>, %at: tensor<si64>) {
  // expected-error@+1 {{'graph.append' op has rows that do not fit}}
  %r = graph.append %x, %y, %at {axis = 0 : i64}
    : (tensor<8x4xf32>, tensor<9x4xf32>, tensor<si64>) -> tensor<8x4xf32>
  return
}

// -----

// Appending along the second axis is rejected: with a larger second axis, the
// stride of the first axis would change.
func.func @append_2(%x: tensor<2x8x4xf32>, %y: tensor<2x1x4xf32>, %at: tensor<si64>) {
  // expected-error@+1 {{'graph.append' op has other strides than the state}}
  %r = graph.append %x, %y, %at {axis = 1 : i64}
    : (tensor<2x8x4xf32>, tensor<2x1x4xf32>, tensor<si64>) -> tensor<2x9x4xf32>
  return
}

// -----

func.func @shift(%x: tensor<1x6xf32>, %rows: tensor<1x2xf32>) {
  // expected-error @+1 {{where its operands and attributes make 'tensor<1x6xf32>'}}
  %r = graph.shift %x, %rows {axis = 1} : (tensor<1x6xf32>, tensor<1x2xf32>) -> tensor<1x8xf32>
  return
}
