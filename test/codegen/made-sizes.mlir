// A data-dependent size is read from a buffer, rejected when out of bounds,
// reported to the caller if one of the caller's tensors has this size, and
// passed to kernels.
//
// RUN: ingot-translate %s --name found -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: FileCheck %s --check-prefix=HEADER < %t.h

// HEADER: ptrdiff_t *kept; /* out, size: 0 to 8 */
// HEADER: float *y; {{.*}}float32 [kept]
// HEADER-NOT: inner
// CHECK: struct made_sizes {
// CHECK-NEXT: ptrdiff_t kept;
// CHECK-NEXT: ptrdiff_t inner;
// CHECK: made_sizes made = {};
// CHECK: if ((io->n)[0] < 0 || (io->n)[0] > 8) return INGOT_ERROR_SHAPE;
// CHECK-NEXT: made.kept = ptrdiff_t((io->n)[0]);
// CHECK-NEXT: *io->kept = made.kept;
// CHECK-NEXT: if ((io->n)[1] < 1 || (io->n)[1] > 4) return INGOT_ERROR_SHAPE;
// CHECK-NEXT: made.inner = ptrdiff_t((io->n)[1]);
// CHECK-NEXT: if ((io->n)[2] != 3) return INGOT_ERROR_SHAPE;
// CHECK-NEXT: if (made.kept != made.inner * 2) return INGOT_ERROR_SHAPE;
// CHECK: fill(io->y, made.kept);
module {
  kernel.func @fill(%y: memref<8xf32> {kernel.name = "y"}, %n: index) attributes {sizes = #kernel.sizes<"kept" in 0 to 8 : s0>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1.0 : f32
    scf.for %i = %c0 to %n step %c1 {
      memref.store %one, %y[%i] : memref<8xf32>
    }
    kernel.return
  }
  kernel.program @main(%n: memref<3xi64> {kernel.onnx_name = "n"},
                       %y: memref<8xf32> {kernel.onnx_name = "y", kernel.output, kernel.sizes = #kernel.sizes<"kept" in 0 to 8 : s0>}) {
    kernel.read_sizes %n : memref<3xi64> as #kernel.sizes<"inner" in 1 to 4, "kept" in 0 to 8 : s1, s0, 3>
    kernel.check_sizes #kernel.sizes<"inner" in 1 to 4, "kept" in 0 to 8 : s1, s0 * 2>
    kernel.launch @fill(%y) : (memref<8xf32>) -> ()
    kernel.return
  }
}
