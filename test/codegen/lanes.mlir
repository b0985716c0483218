// Multiply-adds by one lane of a vector: an intrinsic where the target has one
// (armv7-a), otherwise a subscript in each multiply-add (armv8-a).
//
// RUN: ingot-translate %s --target armv8-a --name lanes -o %t8.cpp
// RUN: FileCheck %s --check-prefix=PLAIN < %t8.cpp
// RUN: ingot-translate %s --target armv7-a --name lanes -o %t7.cpp
// RUN: FileCheck %s --check-prefix=NAMED < %t7.cpp

module {
  kernel.func @product(%x: memref<4xf32> {kernel.name = "x"}, %w: memref<4x8xf32> {kernel.name = "w"}, %y: memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %f = vector.load %x[%c0] : memref<4xf32>, vector<4xf32>
    %a0 = vector.load %y[%c0] : memref<8xf32>, vector<4xf32>
    %b0 = vector.load %y[%c4] : memref<8xf32>, vector<4xf32>
    %w0 = vector.load %w[%c2, %c0] : memref<4x8xf32>, vector<4xf32>
    %w1 = vector.load %w[%c2, %c4] : memref<4x8xf32>, vector<4xf32>
    %w2 = vector.load %w[%c3, %c0] : memref<4x8xf32>, vector<4xf32>
    %e2 = vector.extract %f[2] : f32 from vector<4xf32>
    %s2 = vector.broadcast %e2 : f32 to vector<4xf32>
    %e3 = vector.extract %f[3] : f32 from vector<4xf32>
    %s3 = vector.broadcast %e3 : f32 to vector<4xf32>
    %a1 = vector.fma %s2, %w0, %a0 : vector<4xf32>
    %b1 = vector.fma %w1, %s2, %b0 : vector<4xf32>
    %a2 = vector.fma %s3, %w2, %a1 : vector<4xf32>
    vector.store %a2, %y[%c0] : memref<8xf32>, vector<4xf32>
    vector.store %b1, %y[%c4] : memref<8xf32>, vector<4xf32>
    kernel.return
  }
  kernel.program @main(%x: memref<4xf32> {kernel.onnx_name = "x"}, %w: memref<4x8xf32> {kernel.onnx_name = "w"},
                  %y: memref<8xf32> {kernel.onnx_name = "y", kernel.output}) {
    kernel.launch @product(%x, %w, %y) : (memref<4xf32>, memref<4x8xf32>, memref<8xf32>) -> ()
    kernel.return
  }
}

// PLAIN-NOT: const float x
// PLAIN: = x0[3] * load_f32x4_u(&w[24]) +
// PLAIN-NEXT: (x0[2] * load_f32x4_u(&w[16]) +
// PLAIN: x0[2]
// NAMED: vmlaq_lane_f32({{.*}}vmlaq_lane_f32(
// NAMED: vget_high_f32(x0), 0)
// NAMED-SAME: vget_high_f32(x0), 1));
// NAMED: vmlaq_lane_f32(t0, load_f32x4_u(&w[20]), vget_high_f32(x0), 0));
