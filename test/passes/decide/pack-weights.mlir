// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v4 -decide-pack-weights=target=x86-64-v4 | FileCheck %s
// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v4+bf16 -decide-pack-weights=target=x86-64-v4+bf16 | FileCheck %s --check-prefix=NARROW
// RUN: %ingot-opt %s -decide-form-groups=target=generic -decide-pack-weights=target=generic | FileCheck %s --check-prefix=SCALAR
// RUN: %ingot-opt %s -decide-form-groups=target=cortex-m4 -decide-pack-weights=target=cortex-m4 | FileCheck %s --check-prefix=SHORT
// RUN: %ingot-opt %s -decide-form-groups=target=cortex-m55 -decide-pack-weights=target=cortex-m55 | FileCheck %s --check-prefix=SHORT
// RUN: %ingot-opt %s -decide-form-groups=target=hexagon-v67 -decide-pack-weights=target=hexagon-v67 | FileCheck %s --check-prefix=STREAM
// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v3 -decide-pack-weights=target=x86-64-v3 | FileCheck %s --check-prefix=MIXED
// REQUIRES: ingot-opt

// Weights with 40 columns are packed into a panel of three vectors of 16, the
// last of which is half full. Without vectors, a panel is one column. Packed
// weights contain the same values, and at most additional zeros.
// CHECK-LABEL: @convolution(
// CHECK: %[[P:.*]] = graph.pack_panels %{{.*}} {panel = 48 : i64, tail = 40 : i64} : (tensor<3x3x3x40xf32>) -> tensor<1080xf32>
// CHECK-NEXT: graph.group "convolution"(%[[P]], %arg0) {plan = {columns = 48 : i64, {{.*}}}}
// CHECK-NEXT: ^bb0(%[[W:.*]]: tensor<1080xf32>, %[[X:.*]]: tensor<1x8x8x3xf32>)
// CHECK-NEXT: %[[U:.*]] = graph.unpack_panels %[[W]] {panel = 48 : i64, tail = 40 : i64} : (tensor<1080xf32>) -> tensor<3x3x3x40xf32>
// CHECK-NEXT: graph.conv %[[X]], %[[U]]
// SCALAR-LABEL: @convolution(
// SCALAR: graph.pack_panels {{.*}} -> tensor<1080xf32>
func.func @convolution(%x: tensor<1x8x8x3xf32>) -> tensor<1x8x8x40xf32> {
  %w = graph.constant dense<1.0> : tensor<3x3x3x40xf32> : tensor<3x3x3x40xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x40xf32>) -> tensor<1x8x8x40xf32>
  return %c : tensor<1x8x8x40xf32>
}

// Columns that fill their panels leave no tail.
// CHECK-LABEL: @product(
// CHECK: graph.pack_panels %{{.*}} {panel = 16 : i64, tail = 0 : i64} : (tensor<6x16xf32>) -> tensor<96xf32>
// CHECK: graph.matmul
func.func @product(%x: tensor<5x6xf32>) -> tensor<5x16xf32> {
  %w = graph.constant dense<1.0> : tensor<6x16xf32> : tensor<6x16xf32>
  %y = graph.matmul %x, %w : (tensor<5x6xf32>, tensor<6x16xf32>) -> tensor<5x16xf32>
  return %y : tensor<5x16xf32>
}

// A product of one row by 128 columns fits into the registers, but has two
// panels, which two threads can share. 120 columns are one panel: threads
// cannot share panels of different widths.
// CHECK-LABEL: @one_row(
// CHECK: graph.pack_panels %{{.*}} {panel = 64 : i64, tail = 0 : i64} : (tensor<640x128xf32>)
// CHECK: graph.pack_panels %{{.*}} {panel = 128 : i64, tail = 120 : i64} : (tensor<640x120xf32>)
func.func @one_row(%x: tensor<1x640xf32>) -> (tensor<1x128xf32>, tensor<1x120xf32>) {
  %w0 = graph.constant dense<1.0> : tensor<640x128xf32> : tensor<640x128xf32>
  %w1 = graph.constant dense<1.0> : tensor<640x120xf32> : tensor<640x120xf32>
  %y0 = graph.matmul %x, %w0 : (tensor<1x640xf32>, tensor<640x128xf32>) -> tensor<1x128xf32>
  %y1 = graph.matmul %x, %w1 : (tensor<1x640xf32>, tensor<640x120xf32>) -> tensor<1x120xf32>
  return %y0, %y1 : tensor<1x128xf32>, tensor<1x120xf32>
}

// A right operand that is not constant is not packed.
// CHECK-LABEL: @unknown(
// CHECK-NEXT: graph.group "matrix-product"(%arg0, %arg1)
// CHECK-NOT: panels
// CHECK: return
func.func @unknown(%x: tensor<5x6xf32>, %w: tensor<6x16xf32>) -> tensor<5x16xf32> {
  %y = graph.matmul %x, %w : (tensor<5x6xf32>, tensor<6x16xf32>) -> tensor<5x16xf32>
  return %y : tensor<5x16xf32>
}

// Constant weights of 32-bit integers are not packed.
// CHECK-LABEL: @integers(
// CHECK-NOT: panels
// CHECK: graph.matmul
func.func @integers(%x: tensor<5x6xsi32>) -> tensor<5x16xsi32> {
  %w = graph.constant dense<1> : tensor<6x16xsi32> : tensor<6x16xsi32>
  %y = graph.matmul %x, %w : (tensor<5x6xsi32>, tensor<6x16xsi32>) -> tensor<5x16xsi32>
  return %y : tensor<5x16xsi32>
}

// The weights of grouped convolutions are not packed.
// CHECK-LABEL: @depthwise(
// CHECK-NOT: panels
// CHECK: graph.conv
func.func @depthwise(%x: tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32> {
  %w = graph.constant dense<1.0> : tensor<3x3x1x16xf32> : tensor<3x3x1x16xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 16 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x1x16xf32>) -> tensor<1x8x8x16xf32>
  return %c : tensor<1x8x8x16xf32>
}

// Matrix multiplications by the same weights share packed weights if their
// panels are equal.
// CHECK-LABEL: @shared(
// CHECK: %[[P:.*]] = graph.pack_panels
// CHECK-NOT: graph.pack_panels
// CHECK: graph.group "matrix-product"(%[[P]], %arg0)
// CHECK: graph.group "matrix-product"(%[[P]], %arg1)
func.func @shared(%x: tensor<5x6xf32>, %z: tensor<5x6xf32>) -> (tensor<5x16xf32>, tensor<5x16xf32>) {
  %w = graph.constant dense<1.0> : tensor<6x16xf32> : tensor<6x16xf32>
  %y = graph.matmul %x, %w : (tensor<5x6xf32>, tensor<6x16xf32>) -> tensor<5x16xf32>
  %v = graph.matmul %z, %w : (tensor<5x6xf32>, tensor<6x16xf32>) -> tensor<5x16xf32>
  return %y, %v : tensor<5x16xf32>, tensor<5x16xf32>
}

// If a group also reads its weights for another purpose, the weights are stored
// both packed and as they are.
// CHECK-LABEL: @read_twice(
// CHECK: %[[W:.*]] = graph.constant
// CHECK: %[[P:.*]] = graph.pack_panels %[[W]]
// CHECK: graph.group "matrix-product"(%[[W]], %arg0, %[[P]])
// CHECK: %[[U:.*]] = graph.unpack_panels %{{.*}} {panel = 16
// CHECK: graph.matmul %{{.*}}, %[[U]]
// CHECK: graph.add
func.func @read_twice(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %w = graph.constant dense<1.0> : tensor<16x16xf32> : tensor<16x16xf32>
  %y = graph.matmul %x, %w : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %z = graph.add %y, %w : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %z : tensor<16x16xf32>
}

// Weights of int8 are packed in groups of four K steps, which one instruction
// sums: 6 K steps are two groups, the last one with two rows of zeros. The 40
// columns are two and a half vectors. On a target without such an instruction
// the weights stay as they are.
// CHECK-LABEL: @bytes(
// CHECK: graph.pack_panels %{{.*}} {group = 4 : i64, panel = 48 : i64, tail = 40 : i64} : (tensor<6x40xsi8>) -> tensor<320xsi8>
// CHECK: graph.unpack_panels %{{.*}} {group = 4 : i64, panel = 48 : i64, tail = 40 : i64} : (tensor<320xsi8>) -> tensor<6x40xsi8>
// SCALAR-LABEL: @bytes(
// SCALAR-NOT: panels
// SCALAR: graph.matmul
func.func @bytes(%x: tensor<5x6xui8>) -> tensor<5x40xsi32> {
  %w = graph.constant dense<1> : tensor<6x40xsi8> : tensor<6x40xsi8>
  %y = graph.matmul %x, %w : (tensor<5x6xui8>, tensor<6x40xsi8>) -> tensor<5x40xsi32>
  return %y : tensor<5x40xsi32>
}

// Each time step of an LSTM reads all recurrent weights, eight vectors of
// columns at a time. A megabyte of weights does not stay in the cache between
// time steps, so every other step reads the weights in reverse order.
// CHECK-LABEL: @recurrence(
// CHECK: %[[P:.*]] = graph.pack_panels %{{.*}} {panel = 128 : i64, tail = 0 : i64} : (tensor<256x1024xf32>) -> tensor<262144xf32>
// CHECK-NEXT: graph.group "recurrence"({{.*}}%[[P]], {{.*}}) {plan = {columns = 128 : i64, order = "alternating"}}
// CHECK: graph.unpack_panels
// CHECK: graph.lstm
// SCALAR-LABEL: @recurrence(
// SCALAR: graph.group "body"
func.func @recurrence(%gates: tensor<9x1x1024xf32>, %h: tensor<1x256xf32>, %c: tensor<1x256xf32>) -> tensor<9x1x256xf32> {
  %r = graph.constant dense_resource<recurrent_weights> : tensor<256x1024xf32> : tensor<256x1024xf32>
  %y:4 = graph.lstm %gates, %r, %h, %c {activations = ["Sigmoid", "Tanh", "Tanh"], alpha = array<f64: 0.0, 0.0, 0.0>, beta = array<f64: 0.0, 0.0, 0.0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>} : (tensor<9x1x1024xf32>, tensor<256x1024xf32>, tensor<1x256xf32>, tensor<1x256xf32>) -> (tensor<9x1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1024xf32>)
  return %y#0 : tensor<9x1x256xf32>
}

// The smaller recurrent weights of a GRU stay in the cache and are always read
// forward. A GRU sums its last gate separately; if this gate has fewer columns
// than a panel, the weights are not packed.
// CHECK-LABEL: @gru(
// CHECK: graph.group "recurrence"({{.*}}) {plan = {columns = 128 : i64, order = "forward"}}
// CHECK-LABEL: @gru_of_few(
// CHECK: graph.group "body"
func.func @gru(%gates: tensor<9x1x384xf32>, %h: tensor<1x128xf32>) -> tensor<9x1x128xf32> {
  %r = graph.constant dense_resource<weights_of_a_gru> : tensor<128x384xf32> : tensor<128x384xf32>
  %y:3 = graph.gru %gates, %r, %h {activations = ["Sigmoid", "Tanh"], alpha = array<f64: 0.0, 0.0>, beta = array<f64: 0.0, 0.0>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (tensor<9x1x384xf32>, tensor<128x384xf32>, tensor<1x128xf32>) -> (tensor<9x1x128xf32>, tensor<1x128xf32>, tensor<384xf32>)
  return %y#0 : tensor<9x1x128xf32>
}
func.func @gru_of_few(%gates: tensor<9x1x192xf32>, %h: tensor<1x64xf32>) -> tensor<9x1x64xf32> {
  %r = graph.constant dense_resource<few_weights> : tensor<64x192xf32> : tensor<64x192xf32>
  %y:3 = graph.gru %gates, %r, %h {activations = ["Sigmoid", "Tanh"], alpha = array<f64: 0.0, 0.0>, beta = array<f64: 0.0, 0.0>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (tensor<9x1x192xf32>, tensor<64x192xf32>, tensor<1x64xf32>) -> (tensor<9x1x64xf32>, tensor<1x64xf32>, tensor<192xf32>)
  return %y#0 : tensor<9x1x64xf32>
}

// Weights of bf16 are packed in pairs of K steps. Half as many bytes stay in the
// L2 cache.
// NARROW-LABEL: @narrow_recurrence(
// NARROW: graph.pack_panels %{{.*}} {group = 2 : i64, panel = 128 : i64, tail = 0 : i64} : (tensor<256x1024xbf16>) -> tensor<262144xbf16>
// NARROW-NEXT: graph.group "recurrence"({{.*}}) {plan = {columns = 128 : i64, order = "forward"}}
// SCALAR-LABEL: @narrow_recurrence(
// SCALAR: graph.group "body"
func.func @narrow_recurrence(%gates: tensor<9x1x1024xf32>, %h: tensor<1x256xf32>, %c: tensor<1x256xf32>) -> tensor<9x1x256xf32> {
  %r = graph.constant dense_resource<narrow_weights> : tensor<256x1024xbf16> : tensor<256x1024xbf16>
  %y:4 = graph.lstm %gates, %r, %h, %c {activations = ["Sigmoid", "Tanh", "Tanh"], alpha = array<f64: 0.0, 0.0, 0.0>, beta = array<f64: 0.0, 0.0, 0.0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>} : (tensor<9x1x1024xf32>, tensor<256x1024xbf16>, tensor<1x256xf32>, tensor<1x256xf32>) -> (tensor<9x1x256xf32>, tensor<1x256xf32>, tensor<1x256xf32>, tensor<1024xf32>)
  return %y#0 : tensor<9x1x256xf32>
}

// On microcontrollers, whose memory is limited, filters and biases that are
// whole numbers are stored as integers: converting them is cheap compared to
// the multiplications.
// SHORT-LABEL: @whole_numbers(
// SHORT-DAG: %[[W:.*]] = graph.constant dense<{{.*}}[-128, 127]{{.*}}> : tensor<1x3x1x2xsi8>
// SHORT-DAG: %[[B:.*]] = graph.constant dense<[-1000, 32767]> : tensor<2xsi16>
// SHORT: graph.group {{.*}}(%arg0, %[[W]], %[[B]])
// SHORT: graph.cast %{{.*}} : (tensor<1x3x1x2xsi8>) -> tensor<1x3x1x2xf32>
// SHORT: graph.cast %{{.*}} : (tensor<2xsi16>) -> tensor<2xf32>
// CHECK-LABEL: @whole_numbers(
// CHECK-NOT: si8
// CHECK: return
func.func @whole_numbers(%x: tensor<1x8x8x2xf32>) -> tensor<1x8x8x2xf32> {
  %w = graph.constant dense<[[[[-128.0, 127.0]], [[0.0, 1.0]], [[2.0, 3.0]]]]> : tensor<1x3x1x2xf32> : tensor<1x3x1x2xf32>
  %b = graph.constant dense<[-1000.0, 32767.0]> : tensor<2xf32> : tensor<2xf32>
  %c = graph.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 1>, groups = 2 : i64} : (tensor<1x8x8x2xf32>, tensor<1x3x1x2xf32>, tensor<2xf32>) -> tensor<1x8x8x2xf32>
  return %c : tensor<1x8x8x2xf32>
}

// Fractions, numbers of more than 16 bits, and a negative zero stay floats.
// SHORT-LABEL: @other_numbers(
// SHORT-NOT: graph.cast
// SHORT: return
func.func @other_numbers(%x: tensor<1x8x8x2xf32>) -> (tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>) {
  %halves = graph.constant dense<[[[[0.5, 1.0]], [[0.0, 1.0]], [[2.0, 3.0]]]]> : tensor<1x3x1x2xf32> : tensor<1x3x1x2xf32>
  %large = graph.constant dense<[1.0, 32768.0]> : tensor<2xf32> : tensor<2xf32>
  %zeros = graph.constant dense<[[[[-0.0, 1.0]], [[0.0, 1.0]], [[2.0, 3.0]]]]> : tensor<1x3x1x2xf32> : tensor<1x3x1x2xf32>
  %c = graph.conv %x, %halves, %large {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 1>, groups = 2 : i64} : (tensor<1x8x8x2xf32>, tensor<1x3x1x2xf32>, tensor<2xf32>) -> tensor<1x8x8x2xf32>
  %d = graph.conv %x, %zeros {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 1>, groups = 2 : i64} : (tensor<1x8x8x2xf32>, tensor<1x3x1x2xf32>) -> tensor<1x8x8x2xf32>
  return %c, %d : tensor<1x8x8x2xf32>, tensor<1x8x8x2xf32>
}

// Depthwise filters of 48 channels on a target whose registers hold 128: a
// register may start at any channel, so the filters are repeated at the end,
// and so are the biases.
// STREAM-LABEL: @filters(
// STREAM-DAG: graph.pad {{.*}}mode = "wrap"{{.*}} -> tensor<3x3x1x160xsi8>
// STREAM-DAG: graph.pack_panels %{{.*}} {axes = 2 : i64, group = 4 : i64, panel = 160 : i64, tail = 0 : i64} : (tensor<3x3x1x160xsi8>) -> tensor<1920xsi8>
// STREAM-DAG: graph.pack_panels %{{.*}} {panel = 160 : i64, tail = 0 : i64} : (tensor<1x160xsi32>) -> tensor<160xsi32>
// STREAM: graph.group "integer-depthwise"
// STREAM: graph.unpack_panels {{.*}} {axes = 2 : i64, group = 4 : i64, panel = 160 : i64, tail = 160 : i64} : (tensor<1920xsi8>) -> tensor<3x3x1x48xsi8>
func.func @filters(%x: tensor<1x6x6x48xui8>) -> tensor<1x4x4x48xsi32> {
  %w = graph.constant dense<1> : tensor<3x3x1x48xsi8> : tensor<3x3x1x48xsi8>
  %b = graph.constant dense<[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47]]> : tensor<1x48xsi32> : tensor<1x48xsi32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 48 : i64} : (tensor<1x6x6x48xui8>, tensor<3x3x1x48xsi8>) -> tensor<1x4x4x48xsi32>
  %y = graph.add %c, %b : (tensor<1x4x4x48xsi32>, tensor<1x48xsi32>) -> tensor<1x4x4x48xsi32>
  return %y : tensor<1x4x4x48xsi32>
}

// If products by some weights need more than 16 bits, a byte for each group of K
// steps follows the packed weights.
// MIXED-LABEL: @mixed(
// MIXED: %[[PACKED:.*]] = graph.pack_panels {{.*}} -> tensor<64xsi8>
// MIXED: %[[WIDE:.*]] = graph.constant dense<[0, 0, 1, 0]> : tensor<4xsi8>
// MIXED: %[[ALL:.*]] = graph.concat %[[PACKED]], %[[WIDE]]
// MIXED: graph.group "integer-product"({{.*}}%[[ALL]]{{.*}})
// MIXED: graph.unpack_panels {{.*}} : (tensor<68xsi8>) -> tensor<16x1xsi8>
func.func @mixed(%a: tensor<5x16xui8>) -> tensor<5x1xsi32> {
  %b = graph.constant dense<[[0], [127], [127], [1], [0], [127], [2], [0], [127], [127], [0], [0], [127], [-128], [0], [64]]> : tensor<16x1xsi8> : tensor<16x1xsi8>
  %y = graph.matmul %a, %b : (tensor<5x16xui8>, tensor<16x1xsi8>) -> tensor<5x1xsi32>
  return %y : tensor<5x1xsi32>
}
