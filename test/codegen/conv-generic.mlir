// A whole model on the scalar target: loops, a window with padding, weights in
// the source, a buffer in the arena, the checks of run().
//
// RUN: ingot-translate %s --name mnist | FileCheck %s
// RUN: ingot-translate %s --name mnist --header | FileCheck %s --check-prefix=HEADER

module attributes {ingot.arena_bytes = 128 : i64, ingot.arena_align = 64 : i64} {
  memref.global "private" constant @conv1_weight : memref<3x3xf32> =
    dense<[[0.0, 0.1, -0.0], [1.0, 16777216.0, 0x7F800000], [-2.5, 3.40282347e+38, 1.4e-45]]>
  memref.global "private" constant @bias : memref<1xf32> = dense<0.5>
  func.func private @conv_4x4(
      %x: memref<4x4xf32> {kernel.name = "x"},
      %w: memref<3x3xf32> {kernel.name = "w"},
      %b: memref<1xf32> {kernel.name = "bias"},
      %y: memref<4x4xf32> {kernel.name = "y"}, %begin: index, %end: index)
      attributes {kernel.extent = 4 : index,
                  kernel.comment = "Convolution28 + ReLU32: f32[1,1,4,4] -> f32[1,1,4,4]\ndirect, 3x3"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    scf.for %i = %begin to %end step %c1 {
      scf.for %j = %c0 to %c4 step %c1 {
        %init = memref.load %b[%c0] : memref<1xf32>
        %sum = scf.for %k = %c0 to %c3 step %c1 iter_args(%a = %init) -> f32 {
          %sum1 = scf.for %l = %c0 to %c3 step %c1 iter_args(%a1 = %a) -> f32 {
            %p = arith.addi %i, %k : index
            %ih = arith.subi %p, %c1 : index
            %q = arith.addi %j, %l : index
            %iw = arith.subi %q, %c1 : index
            %in0 = arith.cmpi ult, %ih, %c4 : index
            %in1 = arith.cmpi ult, %iw, %c4 : index
            %in = arith.andi %in0, %in1 : i1
            %v = scf.if %in -> f32 {
              %e = memref.load %x[%ih, %iw] : memref<4x4xf32>
              scf.yield %e : f32
            } else {
              scf.yield %zero : f32
            }
            %f = memref.load %w[%k, %l] : memref<3x3xf32>
            %m = arith.mulf %v, %f : f32
            %n = arith.addf %a1, %m : f32
            scf.yield %n : f32
          }
          scf.yield %sum1 : f32
        }
        %r = arith.maximumf %sum, %zero : f32
        memref.store %r, %y[%i, %j] : memref<4x4xf32>
      }
    }
    return
  }
  func.func @main(%arg0: memref<1x1x4x4xf32> {ingot.onnx_name = "Input3", ingot.type = "float32"},
                  %arg1: memref<1x16xf32> {ingot.onnx_name = "head/out:0", ingot.type = "float32", ingot.output}) {
    %w = memref.get_global @conv1_weight : memref<3x3xf32>
    %b = memref.get_global @bias : memref<1xf32>
    %x = kernel.view %arg0 : memref<1x1x4x4xf32> to memref<4x4xf32>
    %a = kernel.arena 64 : memref<4x4xf32>
    kernel.launch @conv_4x4(%x, %w, %b, %a) : (memref<4x4xf32>, memref<3x3xf32>, memref<1xf32>, memref<4x4xf32>) -> () loc("Convolution28")
    %y = kernel.view %arg1 : memref<1x16xf32> to memref<4x4xf32>
    kernel.launch @conv_4x4(%a, %w, %b, %y) : (memref<4x4xf32>, memref<3x3xf32>, memref<1xf32>, memref<4x4xf32>) -> ()
    return
  }
}
