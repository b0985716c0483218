// RUN: %ingot-opt %s -decide-form-integer-dots=target=x86-64-v4+vnni | FileCheck %s
// RUN: %ingot-opt %s -decide-form-integer-dots=target=x86-64-v3 | FileCheck %s --check-prefix=PAIRS
// RUN: %ingot-opt %s -decide-form-integer-dots=target=generic | FileCheck %s --check-prefix=GENERIC
// RUN: %ingot-opt %s -decide-form-integer-dots=target=hexagon-v67 | FileCheck %s --check-prefix=HEXAGON
// RUN: %ingot-opt %s -decide-form-integer-dots=target=cortex-m4 | FileCheck %s --check-prefix=CORES
// REQUIRES: ingot-opt

// A matrix multiplication of uint8 by int8, for which the target has an
// instruction, stays as it is.
// CHECK-LABEL: @as_it_is(
// CHECK-NEXT: graph.matmul %arg0, %arg1 : (tensor<5x8xui8>, tensor<8x6xsi8>)
// CHECK-NEXT: return
func.func @as_it_is(%a: tensor<5x8xui8>, %b: tensor<8x6xsi8>) -> tensor<5x6xsi32> {
  %y = graph.matmul %a, %b : (tensor<5x8xui8>, tensor<8x6xsi8>) -> tensor<5x6xsi32>
  return %y : tensor<5x6xsi32>
}

// Zero points are moved out of the matrix multiplication: that of a is
// multiplied by the column sums of b, that of b by the row sums of a. On a
// target without an instruction for int8 dot products, they stay.
// CHECK-LABEL: @zero_points(
// CHECK: %[[AZ:.*]] = graph.cast %arg2 : (tensor<ui8>) -> tensor<si32>
// CHECK: %[[BZ:.*]] = graph.cast %arg3 : (tensor<1x6xsi8>) -> tensor<1x6xsi32>
// CHECK: %[[Y:.*]] = graph.matmul %arg0, %arg1 :
// CHECK: %[[COLUMNS:.*]] = graph.reduce_sum %{{.*}} {axes = array<i64: 0>} : (tensor<8x6xsi32>) -> tensor<1x6xsi32>
// CHECK: %[[STEPS:.*]] = graph.constant dense<8> : tensor<si32>
// CHECK: %[[ALL_ZERO:.*]] = graph.mul %[[BZ]], %[[STEPS]]
// CHECK: %[[REST:.*]] = graph.sub %[[COLUMNS]], %[[ALL_ZERO]]
// CHECK: %[[OF_A:.*]] = graph.mul %[[REST]], %[[AZ]]
// CHECK: %[[WITHOUT_A:.*]] = graph.sub %[[Y]], %[[OF_A]]
// CHECK: %[[ROWS:.*]] = graph.reduce_sum %{{.*}} {axes = array<i64: 1>} : (tensor<5x8xsi32>) -> tensor<5x1xsi32>
// CHECK: %[[OF_B:.*]] = graph.mul %[[ROWS]], %[[BZ]]
// CHECK: graph.sub %[[WITHOUT_A]], %[[OF_B]]
// GENERIC-LABEL: @zero_points(
// GENERIC-NEXT: graph.matmul %arg0, %arg1, %arg2, %arg3
// GENERIC-NEXT: return
func.func @zero_points(%a: tensor<5x8xui8>, %b: tensor<8x6xsi8>, %az: tensor<ui8>, %bz: tensor<1x6xsi8>) -> tensor<5x6xsi32> {
  %y = graph.matmul %a, %b, %az, %bz : (tensor<5x8xui8>, tensor<8x6xsi8>, tensor<ui8>, tensor<1x6xsi8>) -> tensor<5x6xsi32>
  return %y : tensor<5x6xsi32>
}

// A zero point that is a constant 0 is removed.
// CHECK-LABEL: @zeros(
// CHECK: %[[Y:.*]] = graph.matmul %arg0, %arg1 :
// CHECK-NEXT: return %[[Y]]
func.func @zeros(%a: tensor<5x8xui8>, %b: tensor<8x6xsi8>) -> tensor<5x6xsi32> {
  %az = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %bz = graph.constant dense<0> : tensor<1x6xsi8> : tensor<1x6xsi8>
  %y = graph.matmul %a, %b, %az, %bz : (tensor<5x8xui8>, tensor<8x6xsi8>, tensor<ui8>, tensor<1x6xsi8>) -> tensor<5x6xsi32>
  return %y : tensor<5x6xsi32>
}

// vpdpbusd multiplies uint8 by int8, pmaddwd any 16-bit operands. For vpdpbusd,
// an int8 left operand becomes uint8: the highest bit is flipped, and the zero
// point is 128. This zero point needs only the column sums of the right
// operand, which are constants if the operand is weights.
// CHECK-LABEL: @signed(
// CHECK: %[[A:.*]] = graph.cast %arg0 : (tensor<5x8xsi8>) -> tensor<5x8xui8>
// CHECK: %[[BIT:.*]] = graph.constant dense<128> : tensor<ui8>
// CHECK: %[[TURNED:.*]] = graph.xor %[[A]], %[[BIT]]
// CHECK: %[[HALF:.*]] = graph.constant dense<128> : tensor<si32>
// CHECK: graph.matmul %[[TURNED]], %arg1 : (tensor<5x8xui8>, tensor<8x6xsi8>)
// CHECK: %[[COLUMNS:.*]] = graph.reduce_sum {{.*}} -> tensor<1x6xsi32>
// CHECK: graph.mul %[[COLUMNS]], %[[HALF]]
// CHECK-NOT: reduce_sum
// PAIRS-LABEL: @signed(
// PAIRS-NEXT: graph.matmul %arg0, %arg1 : (tensor<5x8xsi8>, tensor<8x6xsi8>)
func.func @signed(%a: tensor<5x8xsi8>, %b: tensor<8x6xsi8>) -> tensor<5x6xsi32> {
  %y = graph.matmul %a, %b : (tensor<5x8xsi8>, tensor<8x6xsi8>) -> tensor<5x6xsi32>
  return %y : tensor<5x6xsi32>
}

// If b has a zero point, the row sums of a are needed anyway, and b changes
// from uint8 to int8.
// CHECK-LABEL: @unsigned(
// CHECK: %[[B:.*]] = graph.cast %arg1 : (tensor<8x6xui8>) -> tensor<8x6xsi8>
// CHECK: %[[TURNED:.*]] = graph.xor %[[B]]
// CHECK: graph.matmul %arg0, %[[TURNED]] : (tensor<5x8xui8>, tensor<8x6xsi8>)
func.func @unsigned(%a: tensor<5x8xui8>, %b: tensor<8x6xui8>, %bz: tensor<ui8>) -> tensor<5x6xsi32> {
  %az = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %y = graph.matmul %a, %b, %az, %bz : (tensor<5x8xui8>, tensor<8x6xui8>, tensor<ui8>, tensor<ui8>) -> tensor<5x6xsi32>
  return %y : tensor<5x6xsi32>
}

// A convolution without a zero point stays if its channels form whole groups of
// four.
// CHECK-LABEL: @convolution(
// CHECK-NEXT: graph.conv %arg0, %arg1
// CHECK-NEXT: return
func.func @convolution(%x: tensor<1x5x5x8xui8>, %w: tensor<3x3x8x6xsi8>) -> tensor<1x5x5x6xsi32> {
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1} : (tensor<1x5x5x8xui8>, tensor<3x3x8x6xsi8>) -> tensor<1x5x5x6xsi32>
  return %y : tensor<1x5x5x6xsi32>
}

// A convolution with a zero point pads its input with the zero point, whose
// effect on the sums a bias subtracts. Three kernel columns of three channels
// become four columns, and the additional weights are zeros.
// CHECK-LABEL: @convolution_zero(
// CHECK: %[[SUMS:.*]] = graph.reduce_sum %{{.*}} {axes = array<i64: 0, 1, 2>} : (tensor<3x3x3x6xsi32>) -> tensor<1x1x1x6xsi32>
// CHECK: %[[EACH:.*]] = graph.reshape %[[SUMS]]
// CHECK: %[[LESS:.*]] = graph.constant dense<-7> : tensor<si32>
// CHECK: %[[MOVED:.*]] = graph.mul %[[EACH]], %[[LESS]]
// CHECK: %[[BIAS:.*]] = graph.add %arg2, %[[MOVED]]
// CHECK: %[[ZERO:.*]] = graph.constant dense<7> : tensor<ui8>
// CHECK: %[[X:.*]] = graph.pad %arg0, %[[ZERO]] {low = array<i64: 0, 1, 0, 0>} : (tensor<1x5x5x3xui8>, tensor<ui8>) -> tensor<1x7x7x3xui8>
// CHECK: %[[W:.*]] = graph.pad %arg1, %{{.*}} -> tensor<3x4x3x6xsi8>
// CHECK: graph.conv %[[X]], %[[W]], %[[BIAS]] {{{.*}}low = array<i64: 0, 0>, strides = array<i64: 1, 1>} :
// GENERIC-LABEL: @convolution_zero(
// GENERIC-NEXT: graph.conv %arg0, %arg1, %arg2 {{{.*}}x_zero = 7
func.func @convolution_zero(%x: tensor<1x5x5x3xui8>, %w: tensor<3x3x3x6xsi8>, %b: tensor<6xsi32>) -> tensor<1x5x4x6xsi32> {
  %y = graph.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 0>, groups = 1, x_zero = 7} : (tensor<1x5x5x3xui8>, tensor<3x3x3x6xsi8>, tensor<6xsi32>) -> tensor<1x5x4x6xsi32>
  return %y : tensor<1x5x4x6xsi32>
}

// The int8 input of a convolution becomes uint8 on a target that multiplies
// uint8 by int8.
// CHECK-LABEL: @convolution_signed(
// CHECK: graph.xor
// CHECK: graph.constant dense<-128> : tensor<si32>
// CHECK: graph.conv %{{.*}} : (tensor<1x5x5x8xui8>, tensor<1x1x8x6xsi8>, tensor<6xsi32>) -> tensor<1x5x5x6xsi32>
func.func @convolution_signed(%x: tensor<1x5x5x8xsi8>, %w: tensor<1x1x8x6xsi8>) -> tensor<1x5x5x6xsi32> {
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1} : (tensor<1x5x5x8xsi8>, tensor<1x1x8x6xsi8>) -> tensor<1x5x5x6xsi32>
  return %y : tensor<1x5x5x6xsi32>
}

// On a target where unsigned weights are twice as fast, weights become
// unsigned, and 128 times the sum over each window is subtracted. That sum is
// computed from the channels of each pixel by a product with ones, and from the
// pixels of a window.
// HEXAGON-LABEL: @convolution_by_words(
// HEXAGON: %[[W:.*]] = graph.xor
// HEXAGON: %[[ONES:.*]] = graph.constant dense<1> : tensor<1x1x64x1xui8>
// HEXAGON: %[[PIXELS:.*]] = graph.conv %arg0, %[[ONES]] {{{.*}} : (tensor<1x5x5x64xui8>, tensor<1x1x64x1xui8>) -> tensor<1x5x5x1xsi32>
// HEXAGON: %[[WINDOW:.*]] = graph.constant dense<1> : tensor<3x3x1x1xsi32>
// HEXAGON: %[[SUMS:.*]] = graph.conv %[[PIXELS]], %[[WINDOW]] {{{.*}}low = array<i64: 1, 1>{{.*}} -> tensor<1x5x5x1xsi32>
// HEXAGON: %[[HALF:.*]] = graph.constant dense<128> : tensor<si32>
// HEXAGON: %[[MOVED:.*]] = graph.mul %[[SUMS]], %[[HALF]]
// HEXAGON: %[[Y:.*]] = graph.conv %arg0, %[[W]] {{{.*}} : (tensor<1x5x5x64xui8>, tensor<3x3x64x64xui8>)
// HEXAGON: graph.sub %[[Y]], %[[MOVED]]
func.func @convolution_by_words(%x: tensor<1x5x5x64xui8>, %w: tensor<3x3x64x64xsi8>) -> tensor<1x5x5x64xsi32> {
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1} : (tensor<1x5x5x64xui8>, tensor<3x3x64x64xsi8>) -> tensor<1x5x5x64xsi32>
  return %y : tensor<1x5x5x64xsi32>
}

// If there are few channels, the sum over each window is one convolution with
// ones, of the size of the window.
// HEXAGON-LABEL: @few_channels_by_words(
// HEXAGON: %[[ONES:.*]] = graph.constant dense<1> : tensor<3x3x8x1xui8>
// HEXAGON: graph.conv %arg0, %[[ONES]] {{{.*}} -> tensor<1x5x5x1xsi32>
// HEXAGON-NOT: tensor<3x3x1x1xsi32>
// HEXAGON: return
func.func @few_channels_by_words(%x: tensor<1x5x5x8xui8>, %w: tensor<3x3x8x64xsi8>) -> tensor<1x5x5x64xsi32> {
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1} : (tensor<1x5x5x8xui8>, tensor<3x3x8x64xsi8>) -> tensor<1x5x5x64xsi32>
  return %y : tensor<1x5x5x64xsi32>
}

// The row sums of the left operand: those of short rows are a matrix
// multiplication by ones, those of long rows are added in vector lanes.
// HEXAGON-LABEL: @matmul_by_words(
// HEXAGON: graph.constant dense<1> : tensor<64x1xui8>
// HEXAGON: graph.matmul %arg0, %{{.*}} : (tensor<5x64xui8>, tensor<64x1xui8>) -> tensor<5x1xsi32>
// HEXAGON-LABEL: @matmul_of_long_rows(
// HEXAGON: graph.reduce_sum %{{.*}} {axes = array<i64: 1>} : (tensor<5x512xsi32>) -> tensor<5x1xsi32>
func.func @matmul_by_words(%a: tensor<5x64xui8>, %b: tensor<64x6xsi8>) -> tensor<5x6xsi32> {
  %y = graph.matmul %a, %b : (tensor<5x64xui8>, tensor<64x6xsi8>) -> tensor<5x6xsi32>
  return %y : tensor<5x6xsi32>
}
func.func @matmul_of_long_rows(%a: tensor<5x512xui8>, %b: tensor<512x6xsi8>) -> tensor<5x6xsi32> {
  %y = graph.matmul %a, %b : (tensor<5x512xui8>, tensor<512x6xsi8>) -> tensor<5x6xsi32>
  return %y : tensor<5x6xsi32>
}

// A depthwise convolution, on a target whose int8 instructions support it: the
// input is padded with its zero point, whose effect on the sums a bias
// subtracts.
// HEXAGON-LABEL: @depthwise(
// HEXAGON: graph.reduce_sum
// HEXAGON: %[[X:.*]] = graph.pad %arg0, %{{.*}} {low = array<i64: 0, 1, 1, 0>} : (tensor<1x5x5x64xui8>, tensor<ui8>) -> tensor<1x7x7x64xui8>
// HEXAGON: graph.conv %[[X]], %arg1, %{{.*}} {{{.*}}groups = 64 : i64, low = array<i64: 0, 0>, {{.*}} -> tensor<1x5x5x64xsi32>
// CHECK-LABEL: @depthwise(
// CHECK: %[[X:.*]] = graph.pad %arg0
// CHECK: graph.conv %[[X]], %arg1, %{{.*}} {{{.*}}low = array<i64: 0, 0>
// PAIRS-LABEL: @depthwise(
// PAIRS-NEXT: graph.conv %arg0, %arg1
func.func @depthwise(%x: tensor<1x5x5x64xui8>, %w: tensor<3x3x1x64xsi8>) -> tensor<1x5x5x64xsi32> {
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 64 : i64, x_zero = 7 : i64}
      : (tensor<1x5x5x64xui8>, tensor<3x3x1x64xsi8>) -> tensor<1x5x5x64xsi32>
  return %y : tensor<1x5x5x64xsi32>
}

// The input of a depthwise convolution without a zero point is not padded: the
// kernel treats columns outside of the input as zeros.
// CHECK-LABEL: @depthwise_from_zero(
// CHECK-NEXT: graph.conv %arg0, %arg1
// HEXAGON-LABEL: @depthwise_from_zero(
// HEXAGON: graph.pad %arg0
func.func @depthwise_from_zero(%x: tensor<1x5x5x64xui8>, %w: tensor<3x3x1x64xsi8>) -> tensor<1x5x5x64xsi32> {
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 64 : i64}
      : (tensor<1x5x5x64xui8>, tensor<3x3x1x64xsi8>) -> tensor<1x5x5x64xsi32>
  return %y : tensor<1x5x5x64xsi32>
}

// On Cortex-M, a convolution copies its input and writes the zero point into
// the copy where the window is outside of the input. The bias subtracts the
// zero point times the sums of the weights. Neither channels nor kernel columns
// are padded.
// CORES-LABEL: @zero_outside(
// CORES-NOT: graph.pad
// CORES: graph.conv %arg0, %{{[a-z0-9]*}}, %{{[a-z0-9]*}} {{.*}}low = array<i64: 1, 1>{{.*}}x_outside = 7 : i64} : (tensor<1x5x5x3xui8>, tensor<3x3x3x8xsi8>, tensor<8xsi32>)
// CORES-NOT: graph.pad
// CORES: return
func.func @zero_outside(%x: tensor<1x5x5x3xui8>) -> tensor<1x5x5x8xsi32> {
  %w = graph.constant dense<1> : tensor<3x3x3x8xsi8> : tensor<3x3x3x8xsi8>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1, x_zero = 7} : (tensor<1x5x5x3xui8>, tensor<3x3x3x8xsi8>) -> tensor<1x5x5x8xsi32>
  return %y : tensor<1x5x5x8xsi32>
}

// On a target where partly filled registers are slow, the number of computed
// columns is rounded up.
// HEXAGON-LABEL: @columns(
// HEXAGON: %[[WIDE:.*]] = graph.pad %arg1, %{{.*}} : (tensor<4x64x24xui8>, tensor<ui8>) -> tensor<4x64x32xui8>
// HEXAGON: %[[ALL:.*]] = graph.matmul %arg0, %[[WIDE]] : {{.*}} -> tensor<4x64x32xsi32>
// HEXAGON: graph.slice %[[ALL]] {{.*}} -> tensor<4x64x24xsi32>
// CHECK-LABEL: @columns(
// CHECK-NOT: graph.pad
func.func @columns(%a: tensor<4x64x64xui8>, %b: tensor<4x64x24xui8>) -> tensor<4x64x24xsi32> {
  %y = graph.matmul %a, %b : (tensor<4x64x64xui8>, tensor<4x64x24xui8>) -> tensor<4x64x24xsi32>
  return %y : tensor<4x64x24xsi32>
}
