// RUN: %ingot-opt %s -decide-form-tables=target=hexagon-v67 | FileCheck %s
// RUN: %ingot-opt %s '-decide-form-tables=target=hexagon-v67 strict=true' | FileCheck %s --check-prefix=STRICT
// RUN: %ingot-opt %s -decide-form-tables=target=x86-64-v3 | FileCheck %s --check-prefix=FLOATS
// REQUIRES: ingot-opt

// An expression that depends on one uint8 tensor, even if it is quantized in
// between, is evaluated for all 256 values by the compiler, and becomes a table
// lookup.
// CHECK-LABEL: @swish(
// CHECK-SAME: %[[X:.*]]: tensor<2x200xui8>
// CHECK: %[[ALL:.*]] = graph.constant dense<"0x000102{{.*}}FDFEFF"> : tensor<1x256xui8>
// CHECK: graph.sigmoid {{.*}}tensor<1x256xf32>
// CHECK: graph.mul {{.*}}tensor<1x256xf32>
// CHECK: %[[Y:.*]] = graph.quantize {{.*}} -> tensor<1x256xui8>
// CHECK: %[[TABLE:.*]] = graph.reshape %[[Y]] : (tensor<1x256xui8>) -> tensor<256xui8>
// CHECK: %[[FOUND:.*]] = graph.gather %[[TABLE]], %[[X]] {axis = 0 : i64, in_range}
// CHECK: return %[[FOUND]]
// FLOATS-LABEL: @swish(
// FLOATS-NOT: graph.gather
func.func @swish(%x: tensor<2x200xui8>) -> tensor<2x200xui8> {
  %scale = graph.constant dense<0.05> : tensor<f32> : tensor<f32>
  %small = graph.constant dense<0.004> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<100> : tensor<ui8> : tensor<ui8>
  %none = graph.constant dense<0> : tensor<ui8> : tensor<ui8>
  %d = graph.dequantize %x, %scale, %zero : (tensor<2x200xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x200xf32>
  %s = graph.sigmoid %d : (tensor<2x200xf32>) -> tensor<2x200xf32>
  %q = graph.quantize %s, %small, %none : (tensor<2x200xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x200xui8>
  %e = graph.dequantize %q, %small, %none : (tensor<2x200xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x200xf32>
  %m = graph.mul %d, %e : (tensor<2x200xf32>, tensor<2x200xf32>) -> tensor<2x200xf32>
  %y = graph.quantize %m, %scale, %zero : (tensor<2x200xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x200xui8>
  return %y : tensor<2x200xui8>
}

// The table of a function of int8 is in the order of the bits as uint8.
// CHECK-LABEL: @signed_bytes(
// CHECK-SAME: %[[X:.*]]: tensor<300xsi8>
// CHECK: graph.dequantize {{.*}}tensor<256xsi8>
// CHECK: %[[PLACES:.*]] = graph.bit_cast %[[X]] : (tensor<300xsi8>) -> tensor<300xui8>
// CHECK: graph.gather %{{.*}}, %[[PLACES]]
func.func @signed_bytes(%x: tensor<300xsi8>) -> tensor<300xsi8> {
  %scale = graph.constant dense<0.05> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<3> : tensor<si8> : tensor<si8>
  %d = graph.dequantize %x, %scale, %zero : (tensor<300xsi8>, tensor<f32>, tensor<si8>) -> tensor<300xf32>
  %t = graph.tanh %d : (tensor<300xf32>) -> tensor<300xf32>
  %y = graph.quantize %t, %scale, %zero : (tensor<300xf32>, tensor<f32>, tensor<si8>) -> tensor<300xsi8>
  return %y : tensor<300xsi8>
}

// On a target that computes scales in integers, operators that integer scales
// can express do not become tables.
// CHECK-LABEL: @scaled(
// CHECK-NOT: graph.gather
// STRICT-LABEL: @scaled(
// STRICT: graph.gather
func.func @scaled(%x: tensor<2x200xui8>) -> tensor<2x200xui8> {
  %scale = graph.constant dense<0.05> : tensor<f32> : tensor<f32>
  %other = graph.constant dense<0.1> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<100> : tensor<ui8> : tensor<ui8>
  %d = graph.dequantize %x, %scale, %zero : (tensor<2x200xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x200xf32>
  %r = graph.relu %d : (tensor<2x200xf32>) -> tensor<2x200xf32>
  %y = graph.quantize %r, %other, %zero : (tensor<2x200xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x200xui8>
  return %y : tensor<2x200xui8>
}

// A function of two tensors, or with a constant for each channel, does not
// become a table.
// STRICT-LABEL: @two(
// STRICT-NOT: graph.gather
func.func @two(%x: tensor<2x200xui8>, %y: tensor<2x200xui8>) -> tensor<2x200xui8> {
  %scale = graph.constant dense<0.05> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<100> : tensor<ui8> : tensor<ui8>
  %d = graph.dequantize %x, %scale, %zero : (tensor<2x200xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x200xf32>
  %e = graph.dequantize %y, %scale, %zero : (tensor<2x200xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x200xf32>
  %m = graph.mul %d, %e : (tensor<2x200xf32>, tensor<2x200xf32>) -> tensor<2x200xf32>
  %q = graph.quantize %m, %scale, %zero : (tensor<2x200xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x200xui8>
  return %q : tensor<2x200xui8>
}

// STRICT-LABEL: @channels(
// STRICT-NOT: graph.gather
func.func @channels(%x: tensor<1x2xui8>, %slope: tensor<2xf32>) -> tensor<1x2xui8> {
  %scale = graph.constant dense<[0.05, 0.1]> : tensor<2xf32> : tensor<2xf32>
  %other = graph.constant dense<0.05> : tensor<f32> : tensor<f32>
  %zero = graph.constant dense<100> : tensor<ui8> : tensor<ui8>
  %d = graph.dequantize %x, %scale, %zero : (tensor<1x2xui8>, tensor<2xf32>, tensor<ui8>) -> tensor<1x2xf32>
  %q = graph.quantize %d, %other, %zero : (tensor<1x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2xui8>
  return %q : tensor<1x2xui8>
}
