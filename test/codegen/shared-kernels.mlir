// A kernel that several shapes share takes buffers of any size, and after them
// the sizes and strides as integers. Its comment has one line per shape.
//
// RUN: ingot-translate %s --name shared -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: %cxx %warnings -O1 -fsanitize=undefined,address -fno-sanitize-recover -include %t.cpp %S/Inputs/shared-kernels.cpp -o %t.g++ && %t.g++
// RUN: ingot-translate %s --name shared --target cortex-m55 -o %t.m55.cpp
// RUN: FileCheck %s --check-prefix=KEEP < %t.m55.cpp

// Where compilers would merge pointers that advance, an empty asm keeps them
// apart.
// KEEP: const float *next_x = &x[i * x_stride];
// KEEP-NEXT: __asm__("" : "+r"(next_x));

// CHECK: // A: 2x3
// CHECK-NEXT: // B: 1x2
// CHECK-NEXT: {{.*}}void rows(const float *__restrict x, float *__restrict y, ptrdiff_t count,
// CHECK-NEXT: ptrdiff_t x_stride) {
// CHECK-NEXT: for (ptrdiff_t i = 0; i < count; ++i) {
// CHECK: const float *next_x = &x[i * x_stride];
// CHECK: for (ptrdiff_t i_2 = 0; i_2 < x_stride; ++i_2) {
// CHECK: y[i] = acc0;
// CHECK: rows(io->a, io->c, 2, 3);
// CHECK: rows(io->b, io->d, 1, 2);
kernel.func @rows(%x: memref<?xf32> {kernel.name = "x", kernel.read}, %y: memref<?xf32> {kernel.name = "y"},
                        %n: index {kernel.name = "count"}, %m: index {kernel.name = "x_stride"})
    attributes {comment = "A: 2x3\nB: 1x2"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %at = arith.muli %i, %m : index
    %row = kernel.cursor %x[%at] : memref<?xf32> loc(fused<"next_x">["rows"])
    %sum = scf.for %j = %c0 to %m step %c1 iter_args(%s = %none) -> f32 {
      %v = kernel.load_next %row : f32
      %t = arith.addf %s, %v : f32
      scf.yield %t : f32
    }
    memref.store %sum, %y[%i] : memref<?xf32>
  }
  kernel.return
}
kernel.program @main(%a: memref<2x3xf32> {kernel.onnx_name = "a"}, %b: memref<1x2xf32> {kernel.onnx_name = "b"},
                %c: memref<2xf32> {kernel.onnx_name = "c", kernel.output}, %d: memref<1xf32> {kernel.onnx_name = "d", kernel.output}) {
  kernel.launch @rows(%a, %c) {values = array<i64: 2, 3>} : (memref<2x3xf32>, memref<2xf32>) -> ()
  kernel.launch @rows(%b, %d) {values = array<i64: 1, 2>} : (memref<1x2xf32>, memref<1xf32>) -> ()
  kernel.return
}
