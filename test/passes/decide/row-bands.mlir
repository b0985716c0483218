// RUN: split-file %s %t
// RUN: %ingot-opt %t/chain.mlir -decide-form-groups -decide-pack-weights -simplify-fold-constants -decide-row-bands=max-bytes=5000 | FileCheck %s --check-prefix=CHAIN
// RUN: %ingot-opt %t/chain.mlir -decide-form-groups -decide-pack-weights -simplify-fold-constants -decide-row-bands=max-bytes=3000 | FileCheck %s --check-prefix=BACK
// RUN: %ingot-opt %t/chain.mlir -decide-form-groups -decide-pack-weights -simplify-fold-constants -decide-row-bands=max-bytes=100000 | FileCheck %s --check-prefix=FITS
// RUN: %ingot-opt %t/chain.mlir -decide-form-groups -decide-pack-weights -simplify-fold-constants -decide-row-bands=max-bytes=5000 -lower-outline-groups | FileCheck %s --check-prefix=SHARED
// RUN: %ingot-opt %t/transposed.mlir -decide-form-groups -decide-pack-weights -simplify-fold-constants -decide-row-bands=max-bytes=2000 | FileCheck %s --check-prefix=STRIDES
// RUN: %ingot-opt %t/pool.mlir -decide-form-groups -decide-row-bands=max-bytes=1700 | FileCheck %s --check-prefix=POOL
// RUN: %ingot-opt %t/branches.mlir -decide-form-groups -decide-row-bands=max-bytes=42000 | FileCheck %s --check-prefix=ORDER
// RUN: %ingot-opt %t/tiles.mlir -decide-form-groups=target=x86-64-v4 -decide-pack-weights=target=x86-64-v4 -simplify-fold-constants -decide-row-bands="target=x86-64-v4 max-bytes=3000000" | FileCheck %s --check-prefix=TILES
// RUN: %ingot-opt %t/tiles.mlir -decide-form-groups=target=x86-64-v4 -decide-pack-weights=target=x86-64-v4 -simplify-fold-constants -decide-row-bands=target=x86-64-v4 | FileCheck %s --check-prefix=DEFAULT
// RUN: %ingot-opt %t/chain.mlir -decide-form-groups=target=x86-64-v4 -decide-pack-weights=target=x86-64-v4 -simplify-fold-constants -decide-row-bands=target=x86-64-v4 | FileCheck %s --check-prefix=FITS
// RUN: %ingot-opt %t/softmax.mlir -decide-form-groups -decide-row-bands=max-bytes=20000 | FileCheck %s --check-prefix=SOFTMAX
// RUN: %ingot-opt %t/reversed.mlir -decide-form-groups -decide-row-bands=max-bytes=20000 | FileCheck %s --check-prefix=REVERSED
// REQUIRES: ingot-opt

// The result of the convolution (16 rows of 512 bytes) is never stored as a
// whole. The last row of a band is copied for the next band, which computes the
// rows after it, so nothing is computed twice. The first band has padding
// above; the others do not, and the inner ones are equal.
// CHAIN-NOT: macs_recomputed
// CHAIN: %[[X0:.*]] = graph.slice %arg0 {starts = array<i64: 0, 0, 0, 0>{{.*}} -> tensor<1x5x16x4xf32>
// CHAIN: %[[A0:.*]] = graph.group "convolution"(%{{.*}}, %[[X0]]){{.*}} -> tensor<1x4x16x8xf32>
// CHAIN: graph.conv {{.*}}low = array<i64: 1, 1>
// CHAIN: %[[D0:.*]] = graph.group "depthwise"(%[[A0]]
// CHAIN: graph.conv {{.*}}low = array<i64: 1, 1>
// CHAIN: %[[ROW:.*]] = graph.slice %[[A0]] {starts = array<i64: 0, 3, 0, 0>{{.*}} -> tensor<1x1x16x8xf32>
// CHAIN: %[[FLAT:.*]] = graph.reshape %[[ROW]]
// CHAIN: %[[COPY:.*]] = graph.group {{.*}}(%[[FLAT]])
// CHAIN: %[[KEPT:.*]] = graph.reshape %[[COPY]]
// CHAIN: %[[X1:.*]] = graph.slice %arg0 {starts = array<i64: 0, 3, 0, 0>
// CHAIN: %[[A1:.*]] = graph.group "convolution"(%{{.*}}, %[[X1]])
// CHAIN: graph.conv {{.*}}low = array<i64: 0, 1>
// CHAIN: %[[BOTH:.*]] = graph.concat %[[KEPT]], %[[A1]] {axis = 1 : i64}
// CHAIN: %[[D1:.*]] = graph.group "depthwise"(%[[BOTH]]
// CHAIN: graph.conv {{.*}}low = array<i64: 0, 1>
// CHAIN: %[[ALL:.*]] = graph.concat %[[D0]], %[[D1]], {{.*}} {axis = 1 : i64}
// CHAIN: graph.group {{.*}}(%[[ALL]])

// If bands are computed from the bottom to the top of the image, the first row
// of a band is kept for the next band, where it comes after the other rows.
// BACK: %[[A0:.*]] = graph.group "convolution"
// BACK: graph.slice %[[A0]] {starts = array<i64: 0, 0, 0, 0>{{.*}} -> tensor<1x1x16x8xf32>
// BACK: %[[KEPT:.*]] = graph.reshape {{.*}} -> tensor<1x1x16x8xf32>
// BACK: %[[A1:.*]] = graph.group "convolution"
// BACK: graph.concat %[[A1]], %[[KEPT]] {axis = 1 : i64}

// With enough memory, tensors are not divided into bands.
// FITS-NOT: macs_recomputed
// FITS-NOT: graph.slice
// FITS-NOT: graph.concat

// All inner bands share one kernel.
// SHARED: kernel.launch @conv_1x4x16x8(
// SHARED: kernel.launch @copy_1x128(
// SHARED: kernel.launch @conv_1x4x16x8_2(
// SHARED: kernel.launch @copy_1x128(
// SHARED: kernel.launch @conv_1x4x16x8_2(
// SHARED: kernel.launch @copy_1x128(
// SHARED: kernel.launch @conv_1x4x16x8_3(
//--- chain.mlir
func.func @main(%x: tensor<1x16x16x4xf32>, %v: tensor<3x3x1x8xf32>) -> tensor<1x1x1x8xf32> {
  %w = graph.constant dense<0.5> : tensor<3x3x4x8xf32> : tensor<3x3x4x8xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x16x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x16x16x8xf32>
  %r = graph.relu %c : (tensor<1x16x16x8xf32>) -> tensor<1x16x16x8xf32>
  %d = graph.conv %r, %v {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 8 : i64} : (tensor<1x16x16x8xf32>, tensor<3x3x1x8xf32>) -> tensor<1x8x8x8xf32>
  %y = graph.reduce_mean %d {axes = array<i64: 1, 2>} : (tensor<1x8x8x8xf32>) -> tensor<1x1x1x8xf32>
  return %y : tensor<1x1x1x8xf32>
}

// The rows of a channels-first input are not contiguous: a band reads them with
// the strides of the input.
// STRIDES: %[[X:.*]] = graph.slice %arg0 {starts = array<i64: 0, 0, 0, 0>
// STRIDES: graph.group "convolution"({{.*}}%[[X]]{{.*}} {input_strides = [{{.*}}array<i64: 768, 256, 16, 1>
//--- transposed.mlir
func.func @main(%x: tensor<1x3x16x16xf32>) -> tensor<1x1x1x8xf32> {
  %w = graph.constant dense<0.5> : tensor<3x3x3x8xf32> : tensor<3x3x3x8xf32>
  %t = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x16x16xf32>) -> tensor<1x16x16x3xf32>
  %c = graph.conv %t, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x16x3xf32>, tensor<3x3x3x8xf32>) -> tensor<1x16x16x8xf32>
  %p = graph.max_pool %c {kernel = array<i64: 3, 3>, strides = array<i64: 4, 4>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x16x16x8xf32>) -> tensor<1x4x4x8xf32>
  %y = graph.reduce_mean %p {axes = array<i64: 1, 2>} : (tensor<1x4x4x8xf32>) -> tensor<1x1x1x8xf32>
  return %y : tensor<1x1x1x8xf32>
}

// In an average pool computed in bands, only the first band has padding above,
// and only the last one below.
// POOL: graph.average_pool {{.*}}high = array<i64: 0, 1>{{.*}}low = array<i64: 1, 1>
// POOL: graph.average_pool {{.*}}high = array<i64: 0, 1>{{.*}}low = array<i64: 0, 1>
// POOL: graph.average_pool {{.*}}high = array<i64: 1, 1>{{.*}}low = array<i64: 0, 1>
// POOL: graph.average_pool {{.*}}high = array<i64: 0, 0>{{.*}}low = array<i64: 0, 0>
//--- pool.mlir
func.func @main(%x: tensor<1x9x8x4xf32>) -> tensor<1x1x1x4xf32> {
  %a = graph.exp %x : (tensor<1x9x8x4xf32>) -> tensor<1x9x8x4xf32>
  %p = graph.average_pool %a {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, count_padding = true} : (tensor<1x9x8x4xf32>) -> tensor<1x9x8x4xf32>
  %q = graph.average_pool %p {kernel = array<i64: 3, 3>, strides = array<i64: 3, 3>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, count_padding = true} : (tensor<1x9x8x4xf32>) -> tensor<1x3x2x4xf32>
  %y = graph.reduce_mean %q {axes = array<i64: 1, 2>} : (tensor<1x3x2x4xf32>) -> tensor<1x1x1x4xf32>
  return %y : tensor<1x1x1x4xf32>
}

// Two branches are ordered so that the first ends before the second begins.
// Then only one of their wide tensors is stored at a time, and no bands are
// needed.
// ORDER: %[[A:.*]] = graph.group {{.*}} -> tensor<1x16x16x32xf32>
// ORDER: graph.group {{.*}}%[[A]]{{.*}} -> tensor<1x16x16x4xf32>
// ORDER: %[[B:.*]] = graph.group {{.*}} -> tensor<1x16x16x32xf32>
// ORDER: graph.group {{.*}}%[[B]]{{.*}} -> tensor<1x16x16x4xf32>
// ORDER-NOT: graph.slice
//--- branches.mlir
func.func @main(%x: tensor<1x16x16x4xf32>, %v: tensor<3x3x4x32xf32>, %w: tensor<3x3x32x4xf32>) -> (tensor<1x16x16x4xf32>, tensor<1x16x16x4xf32>) {
  %a = graph.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x16x4xf32>, tensor<3x3x4x32xf32>) -> tensor<1x16x16x32xf32>
  %b = graph.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 2, 2>, low = array<i64: 2, 2>, groups = 1 : i64} : (tensor<1x16x16x4xf32>, tensor<3x3x4x32xf32>) -> tensor<1x16x16x32xf32>
  %c = graph.conv %a, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x16x32xf32>, tensor<3x3x32x4xf32>) -> tensor<1x16x16x4xf32>
  %d = graph.conv %b, %w {strides = array<i64: 1, 1>, dilations = array<i64: 2, 2>, low = array<i64: 2, 2>, groups = 1 : i64} : (tensor<1x16x16x32xf32>, tensor<3x3x32x4xf32>) -> tensor<1x16x16x4xf32>
  return %c, %d : tensor<1x16x16x4xf32>, tensor<1x16x16x4xf32>
}

// Winograd's algorithm computes tiles of four rows: bands start and end at tile
// boundaries of the whole image.
// TILES: graph.group "winograd"{{.*}} -> tensor<1x{{4|8|12|16|20|24|28|32|36|40|44|48}}x160x16xf32>
// TILES: graph.group "winograd"{{.*}} -> tensor<1x{{4|8|12|16|20|24|28|32|36|40|44|48}}x160x16xf32>
// TILES: graph.group "winograd"{{.*}} -> tensor<1x{{4|8|12|16|20|24|28|32|36|40|44|48}}x160x16xf32>
// TILES: graph.group "winograd"{{.*}} -> tensor<1x{{4|8|12|16|20|24|28|32|36|40|44|48}}x160x16xf32>
// TILES: graph.group "winograd"{{.*}} -> tensor<1x{{4|8|12|16|20|24|28|32|36|40|44|48}}x160x16xf32>
// TILES: graph.group "winograd"{{.*}} -> tensor<1x{{4|8|12|16|20|24|28|32|36|40|44|48}}x160x16xf32>

// Without a memory limit, tensors that do not fit into the cache are computed
// in bands as well.
// DEFAULT: graph.group "winograd"
// DEFAULT: graph.slice
// DEFAULT: graph.concat
//--- tiles.mlir
func.func @main(%x: tensor<1x160x160x16xf32>) -> tensor<1x1x1x16xf32> {
  %w = graph.constant dense<0.5> : tensor<3x3x16x16xf32> : tensor<3x3x16x16xf32>
  %a = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x160x160x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x160x160x16xf32>
  %b = graph.conv %a, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x160x160x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x160x160x16xf32>
  %c = graph.conv %b, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x160x160x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x160x160x16xf32>
  %p = graph.max_pool %c {kernel = array<i64: 4, 4>, strides = array<i64: 8, 8>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x160x160x16xf32>) -> tensor<1x20x20x16xf32>
  %y = graph.reduce_mean %p {axes = array<i64: 1, 2>} : (tensor<1x20x20x16xf32>) -> tensor<1x1x1x16xf32>
  return %y : tensor<1x1x1x16xf32>
}

// A softmax along an axis other than the rows is computed in row bands, too.
// SOFTMAX: graph.group {{.*}} -> tensor<1x{{[0-9]+}}x8x16xf32>
// SOFTMAX: graph.softmax {{.*}} -> tensor<1x{{1|2|4|8|16|32}}x8x16xf32>
// SOFTMAX: graph.concat
//--- softmax.mlir
func.func @main(%x: tensor<1x64x8x16xf32>, %w: tensor<1x1x16x1xf32>) -> tensor<1x1x1x1xf32> {
  %s = graph.softmax %x {axis = 3 : i64} : (tensor<1x64x8x16xf32>) -> tensor<1x64x8x16xf32>
  %c = graph.conv %s, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x64x8x16xf32>, tensor<1x1x16x1xf32>) -> tensor<1x64x8x1xf32>
  %y = graph.reduce_mean %c {axes = array<i64: 1, 2>} : (tensor<1x64x8x1xf32>) -> tensor<1x1x1x1xf32>
  return %y : tensor<1x1x1x1xf32>
}

// No bands go through a slice that reverses the rows: the last rows of its
// result are the first of its operand.
// REVERSED: graph.slice {{.*}}steps = array<i64: 1, -1, 1, 1>{{.*}} : (tensor<1x64x16x4xf32>) -> tensor<1x64x16x4xf32>
//--- reversed.mlir
func.func @main(%x: tensor<1x64x16x4xf32>) -> tensor<1x1x1x4xf32> {
  %e = graph.exp %x : (tensor<1x64x16x4xf32>) -> tensor<1x64x16x4xf32>
  %a = graph.max_pool %e {kernel = array<i64: 2, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 0>} : (tensor<1x64x16x4xf32>) -> tensor<1x64x16x4xf32>
  %r = graph.slice %a {starts = array<i64: 0, 63, 0, 0>, steps = array<i64: 1, -1, 1, 1>} : (tensor<1x64x16x4xf32>) -> tensor<1x64x16x4xf32>
  %b = graph.max_pool %r {kernel = array<i64: 2, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 0>} : (tensor<1x64x16x4xf32>) -> tensor<1x64x16x4xf32>
  %y = graph.reduce_mean %b {axes = array<i64: 1, 2>} : (tensor<1x64x16x4xf32>) -> tensor<1x1x1x4xf32>
  return %y : tensor<1x1x1x4xf32>
}
