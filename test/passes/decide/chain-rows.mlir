// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v4 -decide-pack-weights=target=x86-64-v4 -simplify-fold-constants -decide-chain-rows=target=x86-64-v4 | FileCheck %s
// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v4 -decide-pack-weights=target=x86-64-v4 -simplify-fold-constants -decide-chain-rows=target=x86-64-v4 -lower-outline-groups | FileCheck %s --check-prefix=LOWER
// RUN: %ingot-opt %s -decide-form-groups=target=cortex-m4 -decide-pack-weights=target=cortex-m4 -simplify-fold-constants -decide-chain-rows=target=cortex-m4 | FileCheck %s --check-prefix=SMALL
// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v3 -decide-pack-weights=target=x86-64-v3 -simplify-fold-constants -decide-chain-rows=target=x86-64-v3 | FileCheck %s --check-prefix=WIDE
// REQUIRES: ingot-opt

// The tensors between three convolutions do not fit into the L2 cache, so the
// convolutions become the stages of one row chain. They keep their strategies
// and plans, and the last stage also reads the input, for the residual sum.
// CHECK-LABEL: @block(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<1x64x64x16xf32>
// CHECK: %[[Y:.*]] = graph.group "row-chain"({{.*}}) {plan = {parts = 8 : i64}}
// CHECK: ^bb0(
// CHECK: %[[E:.*]] = graph.group "convolution"
// CHECK: graph.yield
// CHECK: %[[D:.*]] = graph.group "depthwise"(%[[E]],
// CHECK: graph.yield
// CHECK: %[[P:.*]] = graph.group "convolution"({{.*}}%[[D]]
// CHECK: graph.add
// CHECK: graph.yield
// CHECK: graph.yield %[[P]]
// CHECK: return %[[Y]]

// The kernel's comment and name list the operators of all stages of the chain.
// LOWER: kernel.func @conv_conv_conv_1x64x64x16
// LOWER-SAME: comment = "{{.*}}conv + relu + conv + conv + add by row-chain, f32[1,64,64,16]{{.*}} -> f32[1,64,64,16]"
// LOWER-SAME: strategy = "row-chain"
// LOWER: kernel.launch @conv_conv_conv_1x64x64x16

// For a target without an L2 cache no row chain is formed.
// SMALL-NOT: row-chain
func.func @block(%x: tensor<1x64x64x16xf32>, %v: tensor<3x3x1x64xf32>) -> tensor<1x64x64x16xf32> {
  %w = graph.constant dense<0.5> : tensor<1x1x16x64xf32> : tensor<1x1x16x64xf32>
  %u = graph.constant dense<0.25> : tensor<1x1x64x16xf32> : tensor<1x1x64x16xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x64x64x16xf32>, tensor<1x1x16x64xf32>) -> tensor<1x64x64x64xf32>
  %r = graph.relu %c : (tensor<1x64x64x64xf32>) -> tensor<1x64x64x64xf32>
  %d = graph.conv %r, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 64 : i64} : (tensor<1x64x64x64xf32>, tensor<3x3x1x64xf32>) -> tensor<1x64x64x64xf32>
  %p = graph.conv %d, %u {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x64x64x64xf32>, tensor<1x1x64x16xf32>) -> tensor<1x64x64x16xf32>
  %y = graph.add %p, %x : (tensor<1x64x64x16xf32>, tensor<1x64x64x16xf32>) -> tensor<1x64x64x16xf32>
  return %y : tensor<1x64x64x16xf32>
}

// No row chain is formed for tensors that fit into the L2 cache, where the
// images of a batch count one by one, nor for a tensor that two groups read,
// which has to be stored.
// CHECK-LABEL: @small(
// CHECK-NOT: row-chain
// CHECK-LABEL: @small_images(
// CHECK-NOT: row-chain
// CHECK-LABEL: @read_twice(
// CHECK-NOT: row-chain
func.func @small(%x: tensor<1x16x16x16xf32>, %v: tensor<3x3x1x64xf32>) -> tensor<1x16x16x64xf32> {
  %w = graph.constant dense<0.5> : tensor<1x1x16x64xf32> : tensor<1x1x16x64xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x16x16x16xf32>, tensor<1x1x16x64xf32>) -> tensor<1x16x16x64xf32>
  %d = graph.conv %c, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 64 : i64} : (tensor<1x16x16x64xf32>, tensor<3x3x1x64xf32>) -> tensor<1x16x16x64xf32>
  return %d : tensor<1x16x16x64xf32>
}
func.func @small_images(%x: tensor<64x16x16x16xf32>, %v: tensor<3x3x1x64xf32>) -> tensor<64x16x16x64xf32> {
  %w = graph.constant dense<0.5> : tensor<1x1x16x64xf32> : tensor<1x1x16x64xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<64x16x16x16xf32>, tensor<1x1x16x64xf32>) -> tensor<64x16x16x64xf32>
  %d = graph.conv %c, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 64 : i64} : (tensor<64x16x16x64xf32>, tensor<3x3x1x64xf32>) -> tensor<64x16x16x64xf32>
  return %d : tensor<64x16x16x64xf32>
}
func.func @read_twice(%x: tensor<1x64x64x16xf32>, %v: tensor<3x3x1x64xf32>) -> (tensor<1x64x64x64xf32>, tensor<1x64x64x64xf32>) {
  %w = graph.constant dense<0.5> : tensor<1x1x16x64xf32> : tensor<1x1x16x64xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x64x64x16xf32>, tensor<1x1x16x64xf32>) -> tensor<1x64x64x64xf32>
  %d = graph.conv %c, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 64 : i64} : (tensor<1x64x64x64xf32>, tensor<3x3x1x64xf32>) -> tensor<1x64x64x64xf32>
  return %c, %d : tensor<1x64x64x64xf32>, tensor<1x64x64x64xf32>
}

// Several images form a chain like a single one.
// CHECK-LABEL: @images(
// CHECK: graph.group "row-chain"({{.*}}) {plan = {parts = 16 : i64}}
func.func @images(%x: tensor<3x64x64x16xf32>, %v: tensor<3x3x1x64xf32>) -> tensor<3x64x64x64xf32> {
  %w = graph.constant dense<0.5> : tensor<1x1x16x64xf32> : tensor<1x1x16x64xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<3x64x64x16xf32>, tensor<1x1x16x64xf32>) -> tensor<3x64x64x64xf32>
  %d = graph.conv %c, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 64 : i64} : (tensor<3x64x64x64xf32>, tensor<3x3x1x64xf32>) -> tensor<3x64x64x64xf32>
  return %d : tensor<3x64x64x64xf32>
}

// A chain is divided into parts, which threads compute, and each part has rows
// of its own in memory. The L2 cache of x86-64-v3 has space for those of one
// part, but not of all parts, so there are only as many parts as the threads
// need.
// WIDE-LABEL: @wide(
// WIDE: graph.group "row-chain"({{.*}}) {plan = {parts = 4 : i64}}
// With twice as many channels, half of the cache has no space for the rows that
// a window reads.
// WIDE-LABEL: @too_wide(
// WIDE-NOT: row-chain
func.func @wide(%x: tensor<1x112x112x16xf32>, %v: tensor<3x3x1x128xf32>) -> tensor<1x112x112x128xf32> {
  %w = graph.constant dense<0.5> : tensor<1x1x16x128xf32> : tensor<1x1x16x128xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x112x112x16xf32>, tensor<1x1x16x128xf32>) -> tensor<1x112x112x128xf32>
  %d = graph.conv %c, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 128 : i64} : (tensor<1x112x112x128xf32>, tensor<3x3x1x128xf32>) -> tensor<1x112x112x128xf32>
  return %d : tensor<1x112x112x128xf32>
}
func.func @too_wide(%x: tensor<1x112x112x16xf32>, %v: tensor<3x3x1x256xf32>) -> tensor<1x112x112x256xf32> {
  %w = graph.constant dense<0.5> : tensor<1x1x16x256xf32> : tensor<1x1x16x256xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x112x112x16xf32>, tensor<1x1x16x256xf32>) -> tensor<1x112x112x256xf32>
  %d = graph.conv %c, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 256 : i64} : (tensor<1x112x112x256xf32>, tensor<3x3x1x256xf32>) -> tensor<1x112x112x256xf32>
  return %d : tensor<1x112x112x256xf32>
}
