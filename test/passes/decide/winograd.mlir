// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v4 -decide-pack-weights=target=x86-64-v4 | FileCheck %s
// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v3 -decide-pack-weights=target=x86-64-v3 | FileCheck %s --check-prefix=V3
// RUN: %ingot-opt %s -decide-form-groups=target=armv8-a -decide-pack-weights=target=armv8-a | FileCheck %s --check-prefix=LANE
// RUN: %ingot-opt %s -decide-form-groups=target=x86-64-v2 -decide-pack-weights=target=x86-64-v2 | FileCheck %s --check-prefix=NEVER
// RUN: %ingot-opt %s -decide-form-groups=target=cortex-m4 -decide-pack-weights=target=cortex-m4 | FileCheck %s --check-prefix=NEVER
// REQUIRES: ingot-opt

// Windows of 3 x 3 over many channels are computed by Winograd's algorithm on
// targets whose vectors hold many channels and multiply-add in one instruction.
// The weights are transformed and packed before the group.
// CHECK-LABEL: @many_channels(
// CHECK: %[[S:.*]] = graph.sample_kernel %{{.*}} {size = 4 : i64} : (tensor<3x3x64x64xf32>) -> tensor<36x64x64xf32>
// CHECK: %[[P:.*]] = graph.pack_panels %[[S]] {panel = [[PANEL:[0-9]+]] : i64, tail = 0 : i64}
// CHECK: graph.group "winograd"(%[[P]], %arg0) {plan = {block = {{[0-9]+}} : i64, columns = [[PANEL]] : i64, parts = {{[0-9]+}} : i64, rows = {{[0-9]+}} : i64, size = 4 : i64}}
// CHECK-NEXT: ^bb0(%[[W:.*]]: tensor<147456xf32>, %[[X:.*]]: tensor<1x56x56x64xf32>)
// CHECK-NEXT: %[[U:.*]] = graph.unpack_panels %[[W]] {panel = [[PANEL]] : i64
// CHECK-NEXT: %[[R:.*]] = graph.restore_kernel %[[U]] {size = 4 : i64} : (tensor<36x64x64xf32>) -> tensor<3x3x64x64xf32>
// CHECK-NEXT: graph.conv %[[X]], %[[R]]
// V3-LABEL: @many_channels(
// V3: graph.group "winograd"
// LANE-LABEL: @many_channels(
// LANE: graph.group "winograd"{{.*}} size = 4
// NEVER-NOT: winograd
// NEVER-NOT: sample_kernel
func.func @many_channels(%x: tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32> {
  %w = graph.constant dense<1.0> : tensor<3x3x64x64xf32> : tensor<3x3x64x64xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x56x56x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x56x56x64xf32>
  return %c : tensor<1x56x56x64xf32>
}

// With many weights and few positions, tiles are smaller (size = 2), because
// they need fewer transformed weights.
// CHECK-LABEL: @few_positions(
// CHECK: graph.sample_kernel %{{.*}} {size = 2 : i64} : (tensor<3x3x512x512xf32>) -> tensor<16x512x512xf32>
// CHECK: graph.group "winograd"
func.func @few_positions(%x: tensor<1x7x7x512xf32>) -> tensor<1x7x7x512xf32> {
  %w = graph.constant dense<1.0> : tensor<3x3x512x512xf32> : tensor<3x3x512x512xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x7x7x512xf32>, tensor<3x3x512x512xf32>) -> tensor<1x7x7x512xf32>
  return %c : tensor<1x7x7x512xf32>
}

// The 64 tiles of a small image are divided into blocks of 16 tiles, and the
// blocks into two parts, so that two threads have equal work.
// CHECK-LABEL: @small_image(
// CHECK: graph.group "winograd"{{.*}}block = 16 : i64, columns = 16 : i64, parts = 2 : i64, rows = 16 : i64
func.func @small_image(%x: tensor<1x32x32x16xf32>) -> tensor<1x32x32x16xf32> {
  %w = graph.constant dense<1.0> : tensor<3x3x16x16xf32> : tensor<3x3x16x16xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x32x32x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x32x32x16xf32>
  return %c : tensor<1x32x32x16xf32>
}

// With few channels, Winograd's additional pass over the input costs more than
// it saves: on x86-64-v3, 8 channels fill a register and are convolved
// directly. On x86-64-v4 they fill half a register with either algorithm, and
// Winograd's takes 0.52 of the time (on Zen 5).
// CHECK-LABEL: @few_channels(
// CHECK: graph.group "winograd"
// V3-LABEL: @few_channels(
// V3: graph.group "convolution"
func.func @few_channels(%x: tensor<1x56x56x8xf32>) -> tensor<1x56x56x8xf32> {
  %w = graph.constant dense<1.0> : tensor<3x3x8x8xf32> : tensor<3x3x8x8xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x56x56x8xf32>, tensor<3x3x8x8xf32>) -> tensor<1x56x56x8xf32>
  return %c : tensor<1x56x56x8xf32>
}

// A single output position is convolved directly: Winograd's algorithm would
// compute a whole tile.
// CHECK-LABEL: @one_position(
// CHECK: graph.group "convolution"
// LANE-LABEL: @one_position(
// LANE: graph.group "convolution"
func.func @one_position(%x: tensor<1x1x1x64xf32>) -> tensor<1x1x1x64xf32> {
  %w = graph.constant dense<1.0> : tensor<3x3x64x64xf32> : tensor<3x3x64x64xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x1x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x1x1x64xf32>
  return %c : tensor<1x1x1x64xf32>
}

// With 1024 channels of equal weights, sums in large tiles have an error of
// 9.2e-6 of the results, and with 1280 channels 1.03e-5, which is more than the
// allowed 1e-5.
// CHECK-LABEL: @exact(
// CHECK: graph.group "winograd"{{.*}} size = 4
func.func @exact(%x: tensor<1x56x56x1024xf32>) -> tensor<1x56x56x64xf32> {
  %w = graph.constant dense<1.0> : tensor<3x3x1024x64xf32> : tensor<3x3x1024x64xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x56x56x1024xf32>, tensor<3x3x1024x64xf32>) -> tensor<1x56x56x64xf32>
  return %c : tensor<1x56x56x64xf32>
}
// CHECK-LABEL: @too_inexact(
// CHECK: graph.group "winograd"{{.*}} size = 2
func.func @too_inexact(%x: tensor<1x56x56x1280xf32>) -> tensor<1x56x56x64xf32> {
  %w = graph.constant dense<1.0> : tensor<3x3x1280x64xf32> : tensor<3x3x1280x64xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x56x56x1280xf32>, tensor<3x3x1280x64xf32>) -> tensor<1x56x56x64xf32>
  return %c : tensor<1x56x56x64xf32>
}

// Winograd's algorithm does not apply to strided or dilated windows.
// CHECK-LABEL: @strides(
// CHECK: graph.group "convolution"
func.func @strides(%x: tensor<1x56x56x64xf32>) -> tensor<1x28x28x64xf32> {
  %w = graph.constant dense<1.0> : tensor<3x3x64x64xf32> : tensor<3x3x64x64xf32>
  %c = graph.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x56x56x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x28x28x64xf32>
  return %c : tensor<1x28x28x64xf32>
}
// CHECK-LABEL: @dilations(
// CHECK: graph.group "convolution"
func.func @dilations(%x: tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32> {
  %w = graph.constant dense<1.0> : tensor<3x3x64x64xf32> : tensor<3x3x64x64xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 2, 2>, low = array<i64: 2, 2>, groups = 1 : i64} : (tensor<1x56x56x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x56x56x64xf32>
  return %c : tensor<1x56x56x64xf32>
}

// Winograd's algorithm is used only for constant weights.
// CHECK-LABEL: @unknown_weights(
// CHECK: graph.group "loop-nest"
func.func @unknown_weights(%x: tensor<1x8x8x64xf32>, %w: tensor<3x3x64x64xf32>) -> tensor<1x8x8x64xf32> {
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x8x8x64xf32>
  return %c : tensor<1x8x8x64xf32>
}

// Winograd's algorithm supports dynamic sizes.
// CHECK-LABEL: @dynamic_size(
// CHECK: graph.group "winograd"
func.func @dynamic_size(%x: tensor<4x56x56x64xf32, #kernel.sizes<"n" in 1 to 4 : s0, 56, 56, 64>>) -> tensor<4x56x56x64xf32, #kernel.sizes<"n" in 1 to 4 : s0, 56, 56, 64>> {
  %w = graph.constant dense<1.0> : tensor<3x3x64x64xf32> : tensor<3x3x64x64xf32>
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64} : (tensor<4x56x56x64xf32, #kernel.sizes<"n" in 1 to 4 : s0, 56, 56, 64>>, tensor<3x3x64x64xf32>) -> tensor<4x56x56x64xf32, #kernel.sizes<"n" in 1 to 4 : s0, 56, 56, 64>>
  return %c : tensor<4x56x56x64xf32, #kernel.sizes<"n" in 1 to 4 : s0, 56, 56, 64>>
}
