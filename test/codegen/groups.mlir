// Shuffles that take every second group of lanes of two registers: an intrinsic
// where the target has one for this group size. Other shuffles are lists of
// lanes.
//
// RUN: ingot-translate %s --target hexagon-v67 --name groups -o %t.cpp
// RUN: FileCheck %s < %t.cpp

module {
  kernel.func @groups(%x: memref<256xi8> {kernel.name = "x"}, %y: memref<384xi8> {kernel.name = "y"}) {
    %c0 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %a = vector.load %x[%c0] : memref<256xi8>, vector<128xi8>
    %b = vector.load %x[%c128] : memref<256xi8>, vector<128xi8>
    %even = vector.shuffle %a, %b [
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
        64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95,
        128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154, 155, 156, 157, 158, 159,
        192, 193, 194, 195, 196, 197, 198, 199, 200, 201, 202, 203, 204, 205, 206, 207, 208, 209, 210, 211, 212, 213, 214, 215, 216, 217, 218, 219, 220, 221, 222, 223
      ] : vector<128xi8>, vector<128xi8>
    %odd = vector.shuffle %a, %b [
        4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31, 36, 37, 38, 39, 44, 45, 46, 47, 52, 53, 54, 55, 60, 61, 62, 63,
        68, 69, 70, 71, 76, 77, 78, 79, 84, 85, 86, 87, 92, 93, 94, 95, 100, 101, 102, 103, 108, 109, 110, 111, 116, 117, 118, 119, 124, 125, 126, 127,
        132, 133, 134, 135, 140, 141, 142, 143, 148, 149, 150, 151, 156, 157, 158, 159, 164, 165, 166, 167, 172, 173, 174, 175, 180, 181, 182, 183, 188, 189, 190, 191,
        196, 197, 198, 199, 204, 205, 206, 207, 212, 213, 214, 215, 220, 221, 222, 223, 228, 229, 230, 231, 236, 237, 238, 239, 244, 245, 246, 247, 252, 253, 254, 255
      ] : vector<128xi8>, vector<128xi8>
    %other = vector.shuffle %a, %b [
        0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27, 32, 33, 34, 35, 40, 41, 42, 43, 48, 49, 50, 51, 56, 57, 58, 59,
        64, 65, 66, 67, 72, 73, 74, 75, 80, 81, 82, 83, 88, 89, 90, 91, 96, 97, 98, 99, 104, 105, 106, 107, 112, 113, 114, 115, 120, 121, 122, 123,
        128, 129, 130, 131, 136, 137, 138, 139, 144, 145, 146, 147, 152, 153, 154, 155, 160, 161, 162, 163, 168, 169, 170, 171, 176, 177, 178, 179, 184, 185, 186, 187,
        192, 193, 194, 195, 200, 201, 202, 203, 208, 209, 210, 211, 216, 217, 218, 219, 224, 225, 226, 227, 232, 233, 234, 235, 240, 241, 242, 243, 248, 249, 250, 255
      ] : vector<128xi8>, vector<128xi8>
    vector.store %even, %y[%c0] : memref<384xi8>, vector<128xi8>
    vector.store %odd, %y[%c128] : memref<384xi8>, vector<128xi8>
    vector.store %other, %y[%c256] : memref<384xi8>, vector<128xi8>
    kernel.return
  }
  kernel.program @main(%x: memref<256xi8> {kernel.onnx_name = "x"}, %y: memref<384xi8> {kernel.onnx_name = "y", kernel.output}) {
    kernel.launch @groups(%x, %y) : (memref<256xi8>, memref<384xi8>) -> ()
    kernel.return
  }
}

// CHECK: __builtin_HEXAGON_V6_lo_128B(__builtin_HEXAGON_V6_vdealvdd_128B(ingot_hvx([[HIGH:x[0-9]*]]),{{[[:space:]]*}}ingot_hvx([[LOW:x[0-9]*]]), -32))
// CHECK: __builtin_HEXAGON_V6_hi_128B(__builtin_HEXAGON_V6_vdealvdd_128B(ingot_hvx([[HIGH]]),{{[[:space:]]*}}ingot_hvx([[LOW]]), -4))
// CHECK: __builtin_shufflevector([[LOW]], [[HIGH]], 0, 1, 2, 3, 8
