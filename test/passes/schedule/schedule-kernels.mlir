// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v4 | FileCheck %s
// RUN: %ingot-opt %s -schedule-kernels=target=generic | FileCheck %s --check-prefix=SCALAR
// REQUIRES: ingot-opt

// On a target without vector registers, kernels contain no vectors.
// SCALAR-NOT: vector<

// Operands and results become buffers. An elementwise kernel computes rows in
// vectors, and the 33rd column separately. The operand that broadcasts (one
// row) is read again for each row.
// CHECK-LABEL: @elementwise(
// CHECK-SAME: %[[X:.*]]: memref<8x33xf32> {{{.*}}kernel.read}, %[[B:.*]]: memref<33xf32> {kernel.name = "addend", kernel.read}, %[[Y:.*]]: memref<8x33xf32>
// CHECK-NOT: extent
// CHECK: %[[ROW:.*]] = kernel.view %[[B]] : memref<33xf32> to memref<1x33xf32>
// CHECK: scf.for %[[I:.*]] = %c0 to %c8 step %c1
// CHECK: scf.for %[[J:.*]] = %c0 to %c32 step %c16
// CHECK-NEXT: %[[L:.*]] = vector.load %[[X]][%[[I]], %[[J]]] : memref<8x33xf32>, vector<16xf32>
// CHECK-NEXT: %[[R:.*]] = vector.load %[[ROW]][%c0, %[[J]]]
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[L]], %[[R]] : vector<16xf32>
// CHECK-NEXT: vector.store %[[S]], %[[Y]][%[[I]], %[[J]]]
// CHECK: memref.store %{{.*}}, %[[Y]][%[[I]], %c32]
// SCALAR-LABEL: @elementwise(
// SCALAR: scf.for
// SCALAR: scf.for %{{.*}} = %c0 to %c33 step %c1
// SCALAR: arith.addf {{.*}} : f32
kernel.func @elementwise(%x: tensor<8x33xf32>, %b: tensor<33xf32>) -> tensor<8x33xf32> attributes {strategy = "elementwise", comment = "add"} {
  %y = graph.add %x, %b : (tensor<8x33xf32>, tensor<33xf32>) -> tensor<8x33xf32>
  kernel.return %y : tensor<8x33xf32>
}

// A kernel that takes longer than starting threads is divided among threads.
// The last arguments are the range of parts that a call computes. The first
// axis has too few elements, so it is divided together with the second.
// CHECK-LABEL: @divided(
// CHECK-SAME: %[[BEGIN:[a-z0-9]+]]: index {kernel.name = "begin"}, %[[END:[a-z0-9]+]]: index {kernel.name = "end"})
// CHECK-SAME: extent = 192 : index
// CHECK: scf.for %[[PART:.*]] = %[[BEGIN]] to %[[END]]
// CHECK: arith.remsi %[[PART]]
// CHECK: arith.divsi %[[PART]]
// CHECK: vector.store
// SCALAR-LABEL: @divided(
// SCALAR-SAME: extent = 192 : index
kernel.func @divided(%x: tensor<3x64x4096xf32>, %b: tensor<64x1xf32>) -> tensor<3x64x4096xf32> attributes {strategy = "elementwise", comment = "add"} {
  %y = graph.add %x, %b : (tensor<3x64x4096xf32>, tensor<64x1xf32>) -> tensor<3x64x4096xf32>
  kernel.return %y : tensor<3x64x4096xf32>
}

// Threads divide the rows of a softmax, which are independent.
// CHECK-LABEL: @softmax(
// CHECK-SAME: extent = 4096 : index
kernel.func @softmax(%x: tensor<4096x128xf32>) -> tensor<4096x128xf32> attributes {strategy = "body", comment = "softmax"} {
  %y = graph.softmax %x {axis = 1 : i64} : (tensor<4096x128xf32>) -> tensor<4096x128xf32>
  kernel.return %y : tensor<4096x128xf32>
}

// Threads divide the rows of a tree ensemble: trees take long for each vector
// of rows, although the data is small.
// CHECK-LABEL: @trees(
// CHECK-SAME: extent = 16 : index
kernel.func @trees(%x: tensor<2x256xf32>, %feature: tensor<2048xsi32>, %threshold: tensor<2048xf32>, %missing: tensor<2048xsi8>, %kept: tensor<2048xsi32>, %nodes: tensor<65xsi32>, %first: tensor<64xsi32>, %words: tensor<65xsi32>, %weights: tensor<2048xf32>, %targets: tensor<2048xsi32>, %base: tensor<1xf32>) -> tensor<256x1xf32> attributes {strategy = "body", comment = "trees"} {
  %y = graph.forest_masks %x, %feature, %threshold, %missing, %kept, %nodes, %first, %words, %weights, %targets, %base
      : (tensor<2x256xf32>, tensor<2048xsi32>, tensor<2048xf32>, tensor<2048xsi8>, tensor<2048xsi32>, tensor<65xsi32>, tensor<64xsi32>, tensor<65xsi32>, tensor<2048xf32>, tensor<2048xsi32>, tensor<1xf32>) -> tensor<256x1xf32>
  kernel.return %y : tensor<256x1xf32>
}

// Axes that all operands have become one axis. The result may overwrite an
// operand that is read at the same index as the result is written.
// CHECK-LABEL: @merged(
// CHECK-SAME: kernel.may_alias, kernel.name = "x"
// CHECK-SAME: kernel.may_alias, kernel.name = "y"
// CHECK-NOT: kernel.extent
// CHECK: kernel.view %{{.*}} : memref<4x8x16xf32> to memref<512xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c512 step %c16
// CHECK-NOT: scf.for
// CHECK: vector.broadcast
// CHECK: return
kernel.func @merged(%x: tensor<4x8x16xf32>, %s: tensor<1xf32>) -> tensor<4x8x16xf32> attributes {strategy = "elementwise", comment = "mul"} {
  %y = graph.mul %x, %s : (tensor<4x8x16xf32>, tensor<1xf32>) -> tensor<4x8x16xf32>
  kernel.return %y : tensor<4x8x16xf32>
}

// A result that is part of a larger tensor (output_strides) is written with the
// strides of that tensor.
// CHECK-LABEL: @part(
// CHECK-SAME: memref<4x32xf32, strided<[64, 1]>>
// CHECK: vector.store {{.*}} : memref<4x32xf32, strided<[64, 1]>>, vector<16xf32>
kernel.func @part(%x: tensor<4x32xf32>) -> tensor<4x32xf32> attributes {strategy = "elementwise", comment = "", output_strides = array<i64: 64, 1>} {
  %y = graph.neg %x : (tensor<4x32xf32>) -> tensor<4x32xf32>
  kernel.return %y : tensor<4x32xf32>
}

// Operators without a strategy of their own are computed element by element.
// CHECK-LABEL: @loop_nest(
// CHECK: scf.for %[[I:.*]] = %{{.*}} to
// CHECK: scf.for %[[J:.*]] =
// CHECK-NEXT: %[[V:.*]] = memref.load %arg0[%[[J]], %[[I]]]
// CHECK-NEXT: memref.store %[[V]], %arg1[%[[I]], %[[J]]]
kernel.func @loop_nest(%x: tensor<4x6xf32>) -> tensor<6x4xf32> attributes {strategy = "loop-nest", comment = ""} {
  %y = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  kernel.return %y : tensor<6x4xf32>
}

// A convolution followed by a max pool: the maxima of a pool row stay in
// registers while the two rows of the convolution are computed, eight positions
// at a time. Loop bounds leave out kernel rows in the padding. The result of
// the convolution is not stored.
// CHECK-LABEL: @convolution(
// CHECK-NOT: memref.alloca
// CHECK: %[[MAX:.*]]:4 = scf.for {{.*}} = %c0 to %c2
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: scf.for
// CHECK: scf.for
// CHECK: vector.fma
// CHECK-NOT: vector.store
// CHECK: vector.store %[[MAX]]#0
// CHECK-NEXT: vector.store %[[MAX]]#1
// CHECK-NEXT: vector.store %[[MAX]]#2
// CHECK: vector.store %[[MAX]]#3
// CHECK-NEXT: }
kernel.func @convolution(%x: tensor<1x8x8x3xf32>, %p: tensor<432xf32>) -> tensor<1x4x4x16xf32> attributes {strategy = "convolution", plan = {columns = 16, order = "tiles", rows = 8, splits = 1}, comment = ""} {
  %w = graph.unpack_panels %p {panel = 16 : i64, tail = 0 : i64} : (tensor<432xf32>) -> tensor<3x3x3x16xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<1x8x8x16xf32>
  %r = graph.relu %c : (tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  %y = graph.max_pool %r {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x8x8x16xf32>) -> tensor<1x4x4x16xf32>
  kernel.return %y : tensor<1x4x4x16xf32>
}

// In a depthwise convolution, the lanes are channels, and the kernel columns
// are unrolled.
// CHECK-LABEL: @depthwise(
// CHECK: %[[ROW:.*]]:8 = scf.for
// CHECK-COUNT-22: vector.fma
// CHECK-NOT: vector.fma
// CHECK: vector.store %[[ROW]]#0
// CHECK: vector.store %[[ROW]]#7
kernel.func @depthwise(%x: tensor<1x8x8x16xf32>, %w: tensor<3x3x1x16xf32>) -> tensor<1x8x8x16xf32> attributes {strategy = "depthwise", plan = {columns = 8}, comment = ""} {
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 16 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x1x16xf32>) -> tensor<1x8x8x16xf32>
  kernel.return %c : tensor<1x8x8x16xf32>
}

// The whole result of a matrix multiplication fits into registers: 12 rows of
// two vectors. The epilogue is computed in registers, before the only stores.
// CHECK-LABEL: @product(
// CHECK: %[[SUMS:.*]]:24 = scf.for %{{.*}} = %c0 to %c64
// CHECK-NEXT: vector.load {{.*}} memref<64x32xf32>
// CHECK-COUNT-24: vector.fma
// CHECK: scf.yield
// CHECK: %[[BIAS:.*]] = vector.load %arg2
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[SUMS]]#0, %[[BIAS]]
// CHECK-NEXT: vector.store %[[SUM]]
// CHECK-COUNT-23: vector.store
// CHECK-NOT: vector.store
// CHECK: return
// SCALAR-LABEL: @product(
// SCALAR: memref.store
kernel.func @product(%x: tensor<12x64xf32>, %w: tensor<64x32xf32>, %b: tensor<32xf32>) -> tensor<12x32xf32> attributes {strategy = "matrix-product", plan = {columns = 32, rows = 12, splits = 1}, comment = ""} {
  %y = graph.matmul %x, %w : (tensor<12x64xf32>, tensor<64x32xf32>) -> tensor<12x32xf32>
  %z = graph.add %y, %b : (tensor<12x32xf32>, tensor<32xf32>) -> tensor<12x32xf32>
  kernel.return %z : tensor<12x32xf32>
}

// The attribute inplace of a launch lists pairs of an operand and the result
// that may overwrite it.
// CHECK-LABEL: @main(
// CHECK: kernel.launch @elementwise(%arg0, %arg1) {inplace = array<i64: 0, 0>}
kernel.program @main(%x: tensor<8x33xf32>, %b: tensor<33xf32>) -> tensor<8x33xf32> {
  %y = kernel.launch @elementwise(%x, %b) : (tensor<8x33xf32>, tensor<33xf32>) -> tensor<8x33xf32>
  kernel.return %y : tensor<8x33xf32>
}

// A kernel that reads a tensor without elements reads zeros, because no index
// is valid.
// CHECK-LABEL: @nothing(
// CHECK-NOT: memref.load
// CHECK: store %{{.*}}, %{{.*}} : memref<2xi8>
kernel.func @nothing(%i: tensor<2xsi64>) -> tensor<2xsi8> attributes {strategy = "loop-nest", comment = "gather_nd"} {
  %x = graph.constant dense<> : tensor<0x2xsi8> : tensor<0x2xsi8>
  %k = graph.constant dense<0> : tensor<1xsi64> : tensor<1xsi64>
  %y = graph.gather_nd %x, %k {batch_dims = 0 : i64} : (tensor<0x2xsi8>, tensor<1xsi64>) -> tensor<2xsi8>
  kernel.return %y : tensor<2xsi8>
}

// A concatenation along the vectorized axis: one loop for each operand, whose
// columns start at 0, so that no operand has to be selected. The one column of
// the second operand that fills no vector is computed separately.
// CHECK-LABEL: @joined(
// CHECK-SAME: %[[A:.*]]: memref<5x32xf32> {{{.*}}kernel.read}, %[[B:.*]]: memref<5x17xf32> {{{.*}}kernel.read}, %[[S:.*]]: memref<49xf32> {{{.*}}kernel.read}, %[[Y:.*]]: memref<5x49xf32>
// CHECK-NOT: scf.if
// CHECK: vector.load %[[A]]{{.*}} vector<16xf32>
// CHECK: vector.load %[[S]]{{.*}} vector<16xf32>
// CHECK: vector.store {{.*}}, %[[Y]]{{.*}} vector<16xf32>
// CHECK-NOT: %[[A]]
// CHECK: vector.load %[[B]]{{.*}} vector<16xf32>
// CHECK: vector.store {{.*}}, %[[Y]]{{.*}} vector<16xf32>
// CHECK: memref.load %[[B]]
// CHECK-NOT: scf.if
// CHECK: kernel.return
kernel.func @joined(%a: tensor<5x32xf32>, %b: tensor<5x17xf32>, %s: tensor<49xf32>) -> tensor<5x49xf32> attributes {strategy = "loop-nest"} {
  %c = graph.concat %a, %b {axis = 1 : i64} : (tensor<5x32xf32>, tensor<5x17xf32>) -> tensor<5x49xf32>
  %m = graph.mul %c, %s : (tensor<5x49xf32>, tensor<49xf32>) -> tensor<5x49xf32>
  %y = graph.relu %m : (tensor<5x49xf32>) -> tensor<5x49xf32>
  kernel.return %y : tensor<5x49xf32>
}

// Each element is selected from the operands of a concatenation if its columns
// are sliced, so that they are not those of the operands, or if an operand is
// narrower than a vector.
// CHECK-LABEL: @other_columns(
// CHECK: scf.if
// CHECK-LABEL: @narrow_parts(
// CHECK: scf.if
kernel.func @other_columns(%a: tensor<5x32xf32>, %b: tensor<5x16xf32>) -> tensor<5x32xf32> attributes {strategy = "loop-nest"} {
  %c = graph.concat %a, %b {axis = 1 : i64} : (tensor<5x32xf32>, tensor<5x16xf32>) -> tensor<5x48xf32>
  %s = graph.slice %c {starts = array<i64: 0, 8>, steps = array<i64: 1, 1>} : (tensor<5x48xf32>) -> tensor<5x32xf32>
  %y = graph.relu %s : (tensor<5x32xf32>) -> tensor<5x32xf32>
  kernel.return %y : tensor<5x32xf32>
}
kernel.func @narrow_parts(%a: tensor<5x8xf32>, %b: tensor<5x8xf32>) -> tensor<5x16xf32> attributes {strategy = "loop-nest"} {
  %c = graph.concat %a, %b {axis = 1 : i64} : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x16xf32>
  %y = graph.relu %c : (tensor<5x16xf32>) -> tensor<5x16xf32>
  kernel.return %y : tensor<5x16xf32>
}
