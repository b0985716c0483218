// RUN: split-file %s %t
// RUN: %ingot-opt %t/fits.mlir -decide-form-groups=target=hexagon-v67 "-decide-place-in-vtcm=target=hexagon-v67 max-bytes=16384" | FileCheck %s --check-prefix=FITS
// RUN: %ingot-opt %t/rows.mlir -decide-form-groups=target=hexagon-v67 "-decide-place-in-vtcm=target=hexagon-v67 max-bytes=4096" | FileCheck %s --check-prefix=ROWS
// RUN: %ingot-opt %t/rows.mlir -decide-form-groups=target=hexagon-v67 "-decide-place-in-vtcm=target=hexagon-v67 max-bytes=4096" -lower-outline-groups | FileCheck %s --check-prefix=LOWER
// RUN: %ingot-opt %t/rows.mlir -decide-form-groups=target=hexagon-v67 "-decide-place-in-vtcm=target=hexagon-v67 max-bytes=512" | FileCheck %s --check-prefix=SMALL
// RUN: %ingot-opt %t/pad.mlir -decide-form-groups=target=hexagon-v67 "-decide-place-in-vtcm=target=hexagon-v67 max-bytes=2048" | FileCheck %s --check-prefix=PAD
// RUN: %ingot-opt %t/words.mlir -decide-form-groups=target=hexagon-v67 "-decide-place-in-vtcm=target=hexagon-v67 max-bytes=65536" | FileCheck %s --check-prefix=WORDS
// RUN: %ingot-opt %t/images.mlir -decide-form-groups=target=hexagon-v67 "-decide-place-in-vtcm=target=hexagon-v67 max-bytes=4096" | FileCheck %s --check-prefix=IMAGES
// REQUIRES: ingot-opt

// A result that only vector instructions read is stored in VTCM. The input of
// the function is copied to VTCM if all of it fits; for the copy, it is
// reshaped to one row.
// FITS: %[[FLAT:.*]] = graph.reshape %arg0 : {{.*}} -> tensor<1x4096xsi8>
// FITS: %[[COPY:.*]] = graph.group "{{.*}}"(%[[FLAT]]) {second_memory}
// FITS: graph.reshape
// FITS: %[[X:.*]] = graph.reshape %[[COPY]] : {{.*}} -> tensor<1x8x8x64xsi8>
// FITS: %[[P:.*]] = graph.group "{{.*}}"(%[[X]]) {second_memory}
// FITS: graph.max_pool
// FITS: graph.group "{{.*}}"(%[[P]]) :
// FITS-NOT: vtcm_least
//--- fits.mlir
func.func @main(%x: tensor<1x8x8x64xsi8>) -> tensor<1x2x2x64xsi8> {
  %p = graph.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x8x8x64xsi8>) -> tensor<1x4x4x64xsi8>
  %q = graph.max_pool %p {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x4x4x64xsi8>) -> tensor<1x2x2x64xsi8>
  return %q : tensor<1x2x2x64xsi8>
}

// An input that does not fit into VTCM is copied in row bands, each with the
// rows around it that its windows read.
// ROWS: %[[X0:.*]] = graph.slice %arg0 {starts = array<i64: 0, 0, 0, 0>{{.*}} -> tensor<1x[[TOP:[0-9]+]]x8x64xsi8>
// ROWS-NEXT: %[[F0:.*]] = graph.reshape %[[X0]]
// ROWS-NEXT: %[[C0:.*]] = graph.group "{{.*}}"(%[[F0]]) {second_memory}
// ROWS: %[[R0:.*]] = graph.reshape %[[C0]]
// ROWS-NEXT: %[[A0:.*]] = graph.group "{{.*}}"(%[[R0]]) :
// ROWS: graph.max_pool {{.*}}low = array<i64: 1, 1>
// ROWS: %[[X1:.*]] = graph.slice %arg0
// ROWS-NEXT: %[[F1:.*]] = graph.reshape %[[X1]]
// ROWS-NEXT: %[[C1:.*]] = graph.group "{{.*}}"(%[[F1]]) {second_memory}
// ROWS: %[[R1:.*]] = graph.reshape %[[C1]]
// ROWS-NEXT: %[[A1:.*]] = graph.group "{{.*}}"(%[[R1]]) :
// ROWS: graph.concat %[[A0]], %[[A1]]{{.*}} {axis = 1 : i64}

// The kernel of a copy is named `copy`, and the attribute `second_memory` of its launch
// says that its result is in VTCM.
// LOWER: kernel.func @copy_1x
// LOWER: kernel.launch @copy_1x{{.*}}(%{{.*}}) {second_memory}
// LOWER: kernel.launch @max_pool_1x{{.*}}(%{{[0-9]+}}) :

// If not even one row fits into VTCM, nothing is changed, and an attribute
// records how many bytes of VTCM would be enough.
// SMALL: @main{{.*}} attributes {kernel.vtcm_least = [[LEAST:[1-9][0-9]*]] : i64}
// SMALL-NOT: second_memory}
//--- rows.mlir
func.func @main(%x: tensor<1x16x8x64xsi8>) -> tensor<1x16x8x64xsi8> {
  %p = graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>} : (tensor<1x16x8x64xsi8>) -> tensor<1x16x8x64xsi8>
  return %p : tensor<1x16x8x64xsi8>
}

// If a padding is computed in row bands, only the first and the last band pad
// rows.
// PAD: graph.pad {{.*}}low = array<i64: 0, 1, 1, 0>
// PAD: graph.pad {{.*}}low = array<i64: 0, 0, 1, 0>
// PAD: graph.concat
//--- pad.mlir
func.func @main(%x: tensor<1x8x6x64xsi8>) -> tensor<1x10x8x64xsi8> {
  %z = graph.constant dense<7> : tensor<si8> : tensor<si8>
  %p = graph.pad %x, %z {low = array<i64: 0, 1, 1, 0>} : (tensor<1x8x6x64xsi8>, tensor<si8>) -> tensor<1x10x8x64xsi8>
  return %p : tensor<1x10x8x64xsi8>
}

// The operands of an integer matrix multiplication are not copied to VTCM: the
// left one is read word by word through the caches, and constants are streamed.
// WORDS-NOT: second_memory
// WORDS: graph.group "integer-product"(
// WORDS-NOT: second_memory
//--- words.mlir
func.func @main(%x: tensor<64x64xui8>) -> tensor<64x128xsi32> {
  %w = graph.constant dense<3> : tensor<64x128xsi8> : tensor<64x128xsi8>
  %y = graph.matmul %x, %w : (tensor<64x64xui8>, tensor<64x128xsi8>) -> tensor<64x128xsi32>
  return %y : tensor<64x128xsi32>
}

// The row bands of two images would not be contiguous in the result, so a group
// that computes two images is not computed in row bands, even if its operand
// broadcasts to both images or is transposed.
// IMAGES: @broadcast{{.*}}kernel.vtcm_least
// IMAGES-NOT: graph.slice
// IMAGES-NOT: graph.concat
// IMAGES: @transposed{{.*}}kernel.vtcm_least
// IMAGES-NOT: graph.slice
// IMAGES-NOT: graph.concat
//--- images.mlir
func.func @broadcast(%x: tensor<64x128xui8>, %c: tensor<2x1x128xui8>) -> tensor<2x64x128xui8> {
  %y = graph.xor %x, %c : (tensor<64x128xui8>, tensor<2x1x128xui8>) -> tensor<2x64x128xui8>
  return %y : tensor<2x64x128xui8>
}
func.func @transposed(%x: tensor<64x2x128xui8>, %c: tensor<128xui8>) -> tensor<2x64x128xui8> {
  %t = graph.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<64x2x128xui8>) -> tensor<2x64x128xui8>
  %y = graph.xor %t, %c : (tensor<2x64x128xui8>, tensor<128xui8>) -> tensor<2x64x128xui8>
  return %y : tensor<2x64x128xui8>
}
