// Explicit padding that becomes the padding of a convolution or a pool.
//
// RUN: %ingot-opt %s -canonicalize | FileCheck %s
// REQUIRES: ingot-opt

// CHECK-LABEL: @conv(
// CHECK: graph.conv %arg0, %arg1 {{.*}}low = array<i64: 1, 3>{{.*}} : (tensor<1x6x6x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x7x9x4xf32>
func.func @conv(%x: tensor<1x6x6x2xf32>, %w: tensor<3x3x2x4xf32>) -> tensor<1x7x9x4xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %p = graph.pad %x, %zero {low = array<i64: 0, 1, 2, 0>} : (tensor<1x6x6x2xf32>, tensor<f32>) -> tensor<1x9x10x2xf32>
  %y = graph.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 1>, groups = 1 : i64} : (tensor<1x9x10x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x7x9x4xf32>
  return %y : tensor<1x7x9x4xf32>
}

// A padding in channels-first order, followed by the transpose that the
// importer adds, becomes padding of the convolution as well.
// CHECK-LABEL: @transposed(
// CHECK: %[[T:.*]] = graph.transpose %arg0 {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x2x6x6xf32>)
// CHECK-NEXT: graph.conv %[[T]], %arg1 {{.*}}low = array<i64: 1, 2>
func.func @transposed(%x: tensor<1x2x6x6xf32>, %w: tensor<3x3x2x4xf32>) -> tensor<1x7x8x4xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %p = graph.pad %x, %zero {low = array<i64: 0, 0, 1, 2>} : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x9x10xf32>
  %t = graph.transpose %p {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x2x9x10xf32>) -> tensor<1x9x10x2xf32>
  %y = graph.conv %t, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x9x10x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x7x8x4xf32>
  return %y : tensor<1x7x8x4xf32>
}

// A convolution can only pad with zeros.
// CHECK-LABEL: @conv_of_ones(
// CHECK: graph.pad
func.func @conv_of_ones(%x: tensor<1x6x6x2xf32>, %w: tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32> {
  %one = graph.constant dense<1.0> : tensor<f32> : tensor<f32>
  %p = graph.pad %x, %one {low = array<i64: 0, 1, 1, 0>} : (tensor<1x6x6x2xf32>, tensor<f32>) -> tensor<1x8x8x2xf32>
  %y = graph.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return %y : tensor<1x6x6x4xf32>
}

// A convolution of integers with a zero point pads with the zero point, not with 0.
// CHECK-LABEL: @conv_with_zero_point(
// CHECK: graph.pad
func.func @conv_with_zero_point(%x: tensor<1x6x6x2xui8>, %w: tensor<3x3x2x4xsi8>) -> tensor<1x6x6x4xsi32> {
  %zero = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %p = graph.pad %x, %zero {low = array<i64: 0, 1, 1, 0>} : (tensor<1x6x6x2xui8>, tensor<ui8>) -> tensor<1x8x8x2xui8>
  %y = graph.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64, x_zero = 128 : i64} : (tensor<1x8x8x2xui8>, tensor<3x3x2x4xsi8>) -> tensor<1x6x6x4xsi32>
  return %y : tensor<1x6x6x4xsi32>
}

// CHECK-LABEL: @padded_with_the_zero_point(
// CHECK: graph.conv %arg0, %arg1 {{.*}}low = array<i64: 1, 1>
func.func @padded_with_the_zero_point(%x: tensor<1x6x6x2xui8>, %w: tensor<3x3x2x4xsi8>) -> tensor<1x6x6x4xsi32> {
  %value = graph.constant dense<7> : tensor<ui8> : tensor<ui8>
  %p = graph.pad %x, %value {low = array<i64: 0, 1, 1, 0>} : (tensor<1x6x6x2xui8>, tensor<ui8>) -> tensor<1x8x8x2xui8>
  %y = graph.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64, x_zero = 2 : i64, x_outside = 5 : i64} : (tensor<1x8x8x2xui8>, tensor<3x3x2x4xsi8>) -> tensor<1x6x6x4xsi32>
  return %y : tensor<1x6x6x4xsi32>
}

// CHECK-LABEL: @conv_of_edges(
// CHECK: graph.pad
func.func @conv_of_edges(%x: tensor<1x6x6x2xf32>, %w: tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %p = graph.pad %x, %zero {low = array<i64: 0, 1, 1, 0>, mode = "edge"} : (tensor<1x6x6x2xf32>, tensor<f32>) -> tensor<1x8x8x2xf32>
  %y = graph.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return %y : tensor<1x6x6x4xf32>
}

// Padding of channels cannot become padding of the window.
// CHECK-LABEL: @channels(
// CHECK: graph.pad
func.func @channels(%x: tensor<1x6x6x1xf32>, %w: tensor<3x3x2x4xf32>) -> tensor<1x4x4x4xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %p = graph.pad %x, %zero {low = array<i64: 0, 0, 0, 1>} : (tensor<1x6x6x1xf32>, tensor<f32>) -> tensor<1x6x6x2xf32>
  %y = graph.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x6x6x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x4x4x4xf32>
  return %y : tensor<1x4x4x4xf32>
}

// A padded tensor that another operator also reads is stored anyway, and
// reading it needs no border checks.
// CHECK-LABEL: @shared(
// CHECK: %[[P:.*]] = graph.pad
// CHECK: graph.conv %[[P]]
func.func @shared(%x: tensor<1x6x6x2xf32>, %w: tensor<3x3x2x4xf32>) -> (tensor<1x6x6x4xf32>, tensor<1x8x8x2xf32>) {
  %zero = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %p = graph.pad %x, %zero {low = array<i64: 0, 1, 1, 0>} : (tensor<1x6x6x2xf32>, tensor<f32>) -> tensor<1x8x8x2xf32>
  %y = graph.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return %y, %p : tensor<1x6x6x4xf32>, tensor<1x8x8x2xf32>
}

// A padding with the lowest value becomes the padding of a max pool.
// CHECK-LABEL: @max_of_lowest(
// CHECK: graph.max_pool %arg0 {{.*}}low = array<i64: 1, 1>
func.func @max_of_lowest(%x: tensor<1x6x6x2xf32>) -> tensor<1x6x6x2xf32> {
  %lowest = graph.constant dense<0xFF800000> : tensor<f32> : tensor<f32>
  %p = graph.pad %x, %lowest {low = array<i64: 0, 1, 1, 0>} : (tensor<1x6x6x2xf32>, tensor<f32>) -> tensor<1x8x8x2xf32>
  %y = graph.max_pool %p {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x8x8x2xf32>) -> tensor<1x6x6x2xf32>
  return %y : tensor<1x6x6x2xf32>
}

// Zeros may be the maximum, so they are not padding of the pool.
// CHECK-LABEL: @max_of_zeros(
// CHECK: graph.pad
func.func @max_of_zeros(%x: tensor<1x6x6x2xf32>) -> tensor<1x6x6x2xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %p = graph.pad %x, %zero {low = array<i64: 0, 1, 1, 0>} : (tensor<1x6x6x2xf32>, tensor<f32>) -> tensor<1x8x8x2xf32>
  %y = graph.max_pool %p {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x8x8x2xf32>) -> tensor<1x6x6x2xf32>
  return %y : tensor<1x6x6x2xf32>
}

// A padding with zeros becomes the padding of a max pool whose values are never
// negative: Keras pads like this after the first ReLU of a ResNet. A pool
// ignores NaN, so where a window contains padding, its maximum is at least 0.
// CHECK-LABEL: @max_of_zeros_behind_relu(
// CHECK-DAG: %[[ROWS:.*]] = graph.constant dense<{{.*}}0.000000e+00{{.*}}0xFF800000{{.*}}0xFF800000{{.*}}> : tensor<1x3x1x1xf32>
// CHECK-DAG: %[[COLUMNS:.*]] = graph.constant dense<{{.*}}0.000000e+00{{.*}}0xFF800000{{.*}}0xFF800000{{.*}}> : tensor<1x1x3x1xf32>
// CHECK: %[[R:.*]] = graph.relu
// CHECK-NEXT: %[[Y:.*]] = graph.max_pool %[[R]] {{.*}}low = array<i64: 1, 1>
// CHECK-NEXT: %[[A:.*]] = graph.maximum %[[Y]], %[[ROWS]]
// CHECK-NEXT: %[[B:.*]] = graph.maximum %[[A]], %[[COLUMNS]]
// CHECK-NEXT: return %[[B]]
func.func @max_of_zeros_behind_relu(%x: tensor<1x6x6x2xf32>) -> tensor<1x3x3x2xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %r = graph.relu %x : (tensor<1x6x6x2xf32>) -> tensor<1x6x6x2xf32>
  %p = graph.pad %r, %zero {low = array<i64: 0, 1, 1, 0>} : (tensor<1x6x6x2xf32>, tensor<f32>) -> tensor<1x8x8x2xf32>
  %y = graph.max_pool %p {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x8x8x2xf32>) -> tensor<1x3x3x2xf32>
  return %y : tensor<1x3x3x2xf32>
}

// Integers are never NaN, so the maxima need no bound.
// CHECK-LABEL: @max_of_integer_zeros(
// CHECK: %[[R:.*]] = graph.relu
// CHECK-NEXT: %[[Y:.*]] = graph.max_pool %[[R]] {{.*}}low = array<i64: 1, 1>
// CHECK-NEXT: return %[[Y]]
func.func @max_of_integer_zeros(%x: tensor<1x6x6x2xsi8>) -> tensor<1x3x3x2xsi8> {
  %zero = graph.constant dense<0> : tensor<si8> : tensor<si8>
  %r = graph.relu %x : (tensor<1x6x6x2xsi8>) -> tensor<1x6x6x2xsi8>
  %p = graph.pad %r, %zero {low = array<i64: 0, 1, 1, 0>} : (tensor<1x6x6x2xsi8>, tensor<si8>) -> tensor<1x8x8x2xsi8>
  %y = graph.max_pool %p {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x8x8x2xsi8>) -> tensor<1x3x3x2xsi8>
  return %y : tensor<1x3x3x2xsi8>
}

// The padding stays if a window would contain only padding: a maximum of no
// values is undefined.
// CHECK-LABEL: @max_of_nothing(
// CHECK: graph.pad
func.func @max_of_nothing(%x: tensor<1x6x6x2xf32>) -> tensor<1x4x4x2xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %r = graph.relu %x : (tensor<1x6x6x2xf32>) -> tensor<1x6x6x2xf32>
  %p = graph.pad %r, %zero {low = array<i64: 0, 2, 2, 0>} : (tensor<1x6x6x2xf32>, tensor<f32>) -> tensor<1x8x8x2xf32>
  %y = graph.max_pool %p {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x8x8x2xf32>) -> tensor<1x4x4x2xf32>
  return %y : tensor<1x4x4x2xf32>
}

// Zeros that are padded explicitly count for the mean, and count as well when
// they become the padding of the pool.
// CHECK-LABEL: @mean(
// CHECK: graph.average_pool %arg0 {count_padding = true, {{.*}}high = array<i64: 1, 2>, {{.*}}low = array<i64: 1, 1>
func.func @mean(%x: tensor<1x6x6x2xf32>) -> tensor<1x6x7x2xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %p = graph.pad %x, %zero {low = array<i64: 0, 1, 1, 0>} : (tensor<1x6x6x2xf32>, tensor<f32>) -> tensor<1x8x9x2xf32>
  %y = graph.average_pool %p {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, count_padding = false} : (tensor<1x8x9x2xf32>) -> tensor<1x6x7x2xf32>
  return %y : tensor<1x6x7x2xf32>
}

// Explicit padding with zeros is merged with the padding of an average pool
// that counts its own padding.
// CHECK-LABEL: @mean_that_counts(
// CHECK: graph.average_pool %arg0 {count_padding = true, {{.*}}high = array<i64: 2, 2>, {{.*}}low = array<i64: 2, 2>
func.func @mean_that_counts(%x: tensor<1x6x6x2xf32>) -> tensor<1x8x8x2xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %p = graph.pad %x, %zero {low = array<i64: 0, 1, 1, 0>} : (tensor<1x6x6x2xf32>, tensor<f32>) -> tensor<1x8x8x2xf32>
  %y = graph.average_pool %p {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, count_padding = true} : (tensor<1x8x8x2xf32>) -> tensor<1x8x8x2xf32>
  return %y : tensor<1x8x8x2xf32>
}

// Explicit padding, which counts for the mean, is not merged with the padding
// of an average pool that does not count its own.
// CHECK-LABEL: @mean_that_does_not_count(
// CHECK: graph.pad
func.func @mean_that_does_not_count(%x: tensor<1x6x6x2xf32>) -> tensor<1x8x8x2xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32> : tensor<f32>
  %p = graph.pad %x, %zero {low = array<i64: 0, 1, 1, 0>} : (tensor<1x6x6x2xf32>, tensor<f32>) -> tensor<1x8x8x2xf32>
  %y = graph.average_pool %p {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, count_padding = false} : (tensor<1x8x8x2xf32>) -> tensor<1x8x8x2xf32>
  return %y : tensor<1x8x8x2xf32>
}
