// RUN: %ingot-opt %s -decide-form-groups=target=sm_90a | FileCheck %s
// REQUIRES: ingot-opt

// The plan has tiles that are small enough to keep all multiprocessors busy,
// although smaller tiles multiply less per loaded byte.
// CHECK-LABEL: @all_processors(
// CHECK: graph.group "warpgroup-product"({{.*}}) {plan = {behind = 1 : i64, {{.*}}columns = 64 : i64, {{.*}}rows = 128 : i64
func.func @all_processors(%x: tensor<1024x1024xbf16>, %w: tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16> {
  %y = graph.matmul %x, %w : (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  return %y : tensor<1024x1024xbf16>
}

// 200 tiles of 192 columns take two rounds on the multiprocessors. 150 tiles of
// 256 columns would take two rounds as well, and each round would take longer.
// CHECK-LABEL: @two_rounds(
// CHECK: graph.group "warpgroup-product"({{.*}}) {plan = {behind = 1 : i64, {{.*}}columns = 192 : i64
func.func @two_rounds(%x: tensor<6304x3072xbf16>, %w: tensor<3072x768xbf16>) -> tensor<6304x768xbf16> {
  %y = graph.matmul %x, %w : (tensor<6304x3072xbf16>, tensor<3072x768xbf16>) -> tensor<6304x768xbf16>
  return %y : tensor<6304x768xbf16>
}

// With few tiles and many K steps, several thread blocks divide the K steps of
// a tile.
// CHECK-LABEL: @few_tiles(
// CHECK: graph.group "warpgroup-product"({{.*}}) {plan = {behind = 4 : i64
func.func @few_tiles(%x: tensor<128x3072xbf16>, %w: tensor<3072x768xbf16>) -> tensor<128x768xbf16> {
  %y = graph.matmul %x, %w : (tensor<128x3072xbf16>, tensor<3072x768xbf16>) -> tensor<128x768xbf16>
  return %y : tensor<128x768xbf16>
}
