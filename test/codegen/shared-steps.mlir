// A kernel that distributes loops in its body among threads takes the caller's
// context as an argument.
//
// RUN: ingot-translate %s --name net > %t.cpp && FileCheck %s < %t.cpp
// RUN: rm -rf %t.dir && mkdir %t.dir && ingot-translate %s --name net --header > %t.dir/model.h
// RUN: %cxx %warnings -I%t.dir -I%runtime -c %t.cpp -o %t.o

// The helper that distributes work among threads comes before the kernels that
// call it.
// CHECK: inline void parallel(const ingot_context *context, ptrdiff_t extent, uint64_t nanoseconds,
// CHECK: void steps(const float *__restrict x, float *__restrict y,
// CHECK-NEXT: const ingot_context *context) {
// CHECK-NEXT: for (ptrdiff_t i = 0; i < 3; ++i) {
// CHECK-NEXT: parallel(context, 8, 0, [=](ptrdiff_t begin, ptrdiff_t end) {
// CHECK-NEXT: for (ptrdiff_t i_2 = begin; i_2 < end; ++i_2) {
// CHECK-NEXT: y[i_2] = x[i_2] + y[i_2];
// CHECK-NEXT: }
// CHECK-NEXT: });
// CHECK: ingot_status run(
// CHECK-NOT: (void)context;
// CHECK: steps(io->x, io->y, context);
module {
  kernel.func @steps(%x: memref<8xf32> {kernel.name = "x", kernel.read}, %y: memref<8xf32> {kernel.name = "y"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    scf.for %step = %c0 to %c3 step %c1 {
      kernel.parallel 8 {
      ^bb0(%begin: index, %end: index):
        scf.for %column = %begin to %end step %c1 {
          %a = memref.load %x[%column] : memref<8xf32>
          %b = memref.load %y[%column] : memref<8xf32>
          %sum = arith.addf %a, %b : f32
          memref.store %sum, %y[%column] : memref<8xf32>
        }
        kernel.return
      }
    }
    kernel.return
  }
  kernel.program @main(%x: memref<8xf32> {kernel.onnx_name = "x", kernel.onnx_type = "float32"},
                       %y: memref<8xf32> {kernel.onnx_name = "y", kernel.onnx_type = "float32", kernel.output})
      attributes {arena_bytes = 0 : i64, arena_align = 64 : i64} {
    kernel.launch @steps(%x, %y) : (memref<8xf32>, memref<8xf32>) -> ()
    kernel.return
  }
}
