// RUN: %ingot-opt %s -schedule-kernels=target=x86-64-v4 | FileCheck %s
// REQUIRES: ingot-opt

// A chain of three convolutions: three rows after the first and one row after
// the second are stored, for each of the four parts that threads may take.
// CHECK-LABEL: kernel.func @chain(
// CHECK-SAME: memref<4x3x64x64xf32> {kernel.name = "scratch0"}
// CHECK-SAME: memref<4x1x64x64xf32> {kernel.name = "scratch1"}
// CHECK-SAME: %[[BEGIN:[a-z0-9]*]]: index {kernel.name = "begin"}, %[[END:[a-z0-9]*]]: index {kernel.name = "end"}
// CHECK-SAME: extent = 4 : index
// CHECK: %[[FIRST:.*]] = arith.muli %[[BEGIN]], %c16
// CHECK: %[[LAST:.*]] = arith.muli %[[END]], %c16
// For each row of the result, the first convolution computes only the rows that
// no earlier result row has read.
// CHECK: scf.for %[[ROW:.*]] = %[[FIRST]] to %[[LAST]] {{.*}} iter_args(%[[MADE:.*]] = %{{.*}}) -> (index)
// CHECK: %[[BELOW:.*]] = arith.minsi
// CHECK: scf.for %[[INPUT:.*]] = %[[MADE]] to %[[BELOW]]
// CHECK: arith.remsi %[[INPUT]], %c3
// CHECK: vector.fma
// CHECK: scf.yield %[[BELOW]] : index
kernel.func @chain(%x: tensor<1x64x64x16xf32>, %p: tensor<1024xf32>, %v: tensor<3x3x1x64xf32>, %q: tensor<1024xf32>) -> tensor<1x64x64x16xf32> attributes {strategy = "row-chain", plan = {parts = 4}} {
  %e = graph.group "convolution"(%x, %p) {plan = {columns = 64, order = "tiles", rows = 4, splits = 1}} : (tensor<1x64x64x16xf32>, tensor<1024xf32>) -> tensor<1x64x64x64xf32> {
  ^bb0(%a: tensor<1x64x64x16xf32>, %b: tensor<1024xf32>):
    %w = graph.unpack_panels %b {panel = 64 : i64, tail = 0 : i64} : (tensor<1024xf32>) -> tensor<1x1x16x64xf32>
    %c = graph.conv %a, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x64x64x16xf32>, tensor<1x1x16x64xf32>) -> tensor<1x64x64x64xf32>
    graph.yield %c : tensor<1x64x64x64xf32>
  }
  %d = graph.group "depthwise"(%e, %v) {plan = {columns = 8}} : (tensor<1x64x64x64xf32>, tensor<3x3x1x64xf32>) -> tensor<1x64x64x64xf32> {
  ^bb0(%a: tensor<1x64x64x64xf32>, %b: tensor<3x3x1x64xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 64 : i64} : (tensor<1x64x64x64xf32>, tensor<3x3x1x64xf32>) -> tensor<1x64x64x64xf32>
    graph.yield %c : tensor<1x64x64x64xf32>
  }
  %y = graph.group "convolution"(%d, %q) {plan = {columns = 16, order = "tiles", rows = 8, splits = 1}} : (tensor<1x64x64x64xf32>, tensor<1024xf32>) -> tensor<1x64x64x16xf32> {
  ^bb0(%a: tensor<1x64x64x64xf32>, %b: tensor<1024xf32>):
    %w = graph.unpack_panels %b {panel = 16 : i64, tail = 0 : i64} : (tensor<1024xf32>) -> tensor<1x1x64x16xf32>
    %c = graph.conv %a, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x64x64x64xf32>, tensor<1x1x64x16xf32>) -> tensor<1x64x64x16xf32>
    graph.yield %c : tensor<1x64x64x16xf32>
  }
  kernel.return %y : tensor<1x64x64x16xf32>
}

// With three images, the parts of a chain divide the rows of all images: a part
// continues from image to image, and in each image starts with the rows that
// its first window reads.
// CHECK-LABEL: kernel.func @images(
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %c48
// CHECK: %[[LAST:.*]] = arith.muli %{{.*}}, %c48
// CHECK: %[[BEHIND:.*]] = arith.addi %[[LAST]], %c63
// CHECK: %[[END:.*]] = arith.divsi %[[BEHIND]], %c64
// CHECK: %[[START:.*]] = arith.divsi %[[FIRST]], %c64
// CHECK: scf.for %[[IMAGE:.*]] = %[[START]] to %[[END]]
// CHECK: %[[ABOVE:.*]] = arith.muli %[[IMAGE]], %c64
// CHECK: %[[BEFORE:.*]] = arith.subi %[[FIRST]], %[[ABOVE]]
// CHECK: %[[FROM:.*]] = arith.maxsi %[[BEFORE]], %c0
// CHECK: %[[AFTER:.*]] = arith.subi %[[LAST]], %[[ABOVE]]
// CHECK: %[[TO:.*]] = arith.minsi %[[AFTER]], %c64
// CHECK: scf.for %[[ROW:.*]] = %[[FROM]] to %[[TO]] {{.*}} iter_args(
kernel.func @images(%x: tensor<3x64x64x16xf32>, %p: tensor<1024xf32>, %v: tensor<3x3x1x64xf32>) -> tensor<3x64x64x64xf32> attributes {strategy = "row-chain", plan = {parts = 4}} {
  %e = graph.group "convolution"(%x, %p) {plan = {columns = 64, order = "tiles", rows = 4, splits = 1}} : (tensor<3x64x64x16xf32>, tensor<1024xf32>) -> tensor<3x64x64x64xf32> {
  ^bb0(%a: tensor<3x64x64x16xf32>, %b: tensor<1024xf32>):
    %w = graph.unpack_panels %b {panel = 64 : i64, tail = 0 : i64} : (tensor<1024xf32>) -> tensor<1x1x16x64xf32>
    %c = graph.conv %a, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64} : (tensor<3x64x64x16xf32>, tensor<1x1x16x64xf32>) -> tensor<3x64x64x64xf32>
    graph.yield %c : tensor<3x64x64x64xf32>
  }
  %d = graph.group "depthwise"(%e, %v) {plan = {columns = 8}} : (tensor<3x64x64x64xf32>, tensor<3x3x1x64xf32>) -> tensor<3x64x64x64xf32> {
  ^bb0(%a: tensor<3x64x64x64xf32>, %b: tensor<3x3x1x64xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 64 : i64} : (tensor<3x64x64x64xf32>, tensor<3x3x1x64xf32>) -> tensor<3x64x64x64xf32>
    graph.yield %c : tensor<3x64x64x64xf32>
  }
  kernel.return %d : tensor<3x64x64x64xf32>
}
