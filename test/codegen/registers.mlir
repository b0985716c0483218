// How kernels keep sums in registers when g++ compiles them for armv8-a: if a
// loop carries 12 or more vectors, nothing is scheduled before registers are
// allocated. The sums of adjacent lanes and products of halves of registers are
// intrinsics.
//
// RUN: ingot-translate %s --target armv8-a --name sums -o %t.cpp
// RUN: FileCheck %s < %t.cpp

// CHECK: // GCC: do not move loads away from their uses before registers are allocated
// CHECK: #define INGOT_UNSCHEDULED __attribute__((optimize("no-schedule-insns")))
// CHECK: INGOT_NOINLINE INGOT_UNSCHEDULED void many(
// CHECK: INGOT_NOINLINE void few(
// CHECK: INGOT_NOINLINE void halves(
// CHECK: vmlal_high_s16(int32x4_t({{.*}}), int16x8_t(x0), int16x8_t(x1))
// CHECK: vpaddq_s32(

module {
  kernel.func @many(%x: memref<64x4xf32> {kernel.name = "x"}, %y: memref<12x4xf32> {kernel.name = "y"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c9 = arith.constant 9 : index
    %c10 = arith.constant 10 : index
    %c11 = arith.constant 11 : index
    %sums:12 = scf.for %i = %c0 to %c64 step %c1 iter_args(%s0 = %zero, %s1 = %zero, %s2 = %zero, %s3 = %zero, %s4 = %zero, %s5 = %zero, %s6 = %zero, %s7 = %zero, %s8 = %zero, %s9 = %zero, %s10 = %zero, %s11 = %zero) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>) {
      %v = vector.load %x[%i, %c0] : memref<64x4xf32>, vector<4xf32>
      %t0 = arith.addf %s0, %v : vector<4xf32>
      %t1 = arith.addf %s1, %v : vector<4xf32>
      %t2 = arith.addf %s2, %v : vector<4xf32>
      %t3 = arith.addf %s3, %v : vector<4xf32>
      %t4 = arith.addf %s4, %v : vector<4xf32>
      %t5 = arith.addf %s5, %v : vector<4xf32>
      %t6 = arith.addf %s6, %v : vector<4xf32>
      %t7 = arith.addf %s7, %v : vector<4xf32>
      %t8 = arith.addf %s8, %v : vector<4xf32>
      %t9 = arith.addf %s9, %v : vector<4xf32>
      %t10 = arith.addf %s10, %v : vector<4xf32>
      %t11 = arith.addf %s11, %v : vector<4xf32>
      scf.yield %t0, %t1, %t2, %t3, %t4, %t5, %t6, %t7, %t8, %t9, %t10, %t11 : vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>
    }
    vector.store %sums#0, %y[%c0, %c0] : memref<12x4xf32>, vector<4xf32>
    vector.store %sums#1, %y[%c1, %c0] : memref<12x4xf32>, vector<4xf32>
    vector.store %sums#2, %y[%c2, %c0] : memref<12x4xf32>, vector<4xf32>
    vector.store %sums#3, %y[%c3, %c0] : memref<12x4xf32>, vector<4xf32>
    vector.store %sums#4, %y[%c4, %c0] : memref<12x4xf32>, vector<4xf32>
    vector.store %sums#5, %y[%c5, %c0] : memref<12x4xf32>, vector<4xf32>
    vector.store %sums#6, %y[%c6, %c0] : memref<12x4xf32>, vector<4xf32>
    vector.store %sums#7, %y[%c7, %c0] : memref<12x4xf32>, vector<4xf32>
    vector.store %sums#8, %y[%c8, %c0] : memref<12x4xf32>, vector<4xf32>
    vector.store %sums#9, %y[%c9, %c0] : memref<12x4xf32>, vector<4xf32>
    vector.store %sums#10, %y[%c10, %c0] : memref<12x4xf32>, vector<4xf32>
    vector.store %sums#11, %y[%c11, %c0] : memref<12x4xf32>, vector<4xf32>
    kernel.return
  }
  kernel.func @few(%x: memref<64x4xf32> {kernel.name = "x"}, %y: memref<11x4xf32> {kernel.name = "y"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c9 = arith.constant 9 : index
    %c10 = arith.constant 10 : index
    %sums:11 = scf.for %i = %c0 to %c64 step %c1 iter_args(%s0 = %zero, %s1 = %zero, %s2 = %zero, %s3 = %zero, %s4 = %zero, %s5 = %zero, %s6 = %zero, %s7 = %zero, %s8 = %zero, %s9 = %zero, %s10 = %zero) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>) {
      %v = vector.load %x[%i, %c0] : memref<64x4xf32>, vector<4xf32>
      %t0 = arith.addf %s0, %v : vector<4xf32>
      %t1 = arith.addf %s1, %v : vector<4xf32>
      %t2 = arith.addf %s2, %v : vector<4xf32>
      %t3 = arith.addf %s3, %v : vector<4xf32>
      %t4 = arith.addf %s4, %v : vector<4xf32>
      %t5 = arith.addf %s5, %v : vector<4xf32>
      %t6 = arith.addf %s6, %v : vector<4xf32>
      %t7 = arith.addf %s7, %v : vector<4xf32>
      %t8 = arith.addf %s8, %v : vector<4xf32>
      %t9 = arith.addf %s9, %v : vector<4xf32>
      %t10 = arith.addf %s10, %v : vector<4xf32>
      scf.yield %t0, %t1, %t2, %t3, %t4, %t5, %t6, %t7, %t8, %t9, %t10 : vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>
    }
    vector.store %sums#0, %y[%c0, %c0] : memref<11x4xf32>, vector<4xf32>
    vector.store %sums#1, %y[%c1, %c0] : memref<11x4xf32>, vector<4xf32>
    vector.store %sums#2, %y[%c2, %c0] : memref<11x4xf32>, vector<4xf32>
    vector.store %sums#3, %y[%c3, %c0] : memref<11x4xf32>, vector<4xf32>
    vector.store %sums#4, %y[%c4, %c0] : memref<11x4xf32>, vector<4xf32>
    vector.store %sums#5, %y[%c5, %c0] : memref<11x4xf32>, vector<4xf32>
    vector.store %sums#6, %y[%c6, %c0] : memref<11x4xf32>, vector<4xf32>
    vector.store %sums#7, %y[%c7, %c0] : memref<11x4xf32>, vector<4xf32>
    vector.store %sums#8, %y[%c8, %c0] : memref<11x4xf32>, vector<4xf32>
    vector.store %sums#9, %y[%c9, %c0] : memref<11x4xf32>, vector<4xf32>
    vector.store %sums#10, %y[%c10, %c0] : memref<11x4xf32>, vector<4xf32>
    kernel.return
  }
  kernel.func @halves(%x: memref<16xi16> {kernel.name = "x"}, %y: memref<4xi32> {kernel.name = "y"}) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %a = vector.load %x[%c0] : memref<16xi16>, vector<8xi16>
    %b = vector.load %x[%c8] : memref<16xi16>, vector<8xi16>
    %s = vector.load %y[%c0] : memref<4xi32>, vector<4xi32>
    %t = kernel.dot %a, %b, %s {kernel.upper_half = true} : vector<8xi16>, vector<4xi32>
    %u = kernel.dot %a, %b, %s {kernel.upper_half = false} : vector<8xi16>, vector<4xi32>
    %even = vector.shuffle %t, %u [0, 2, 4, 6] : vector<4xi32>, vector<4xi32>
    %odd = vector.shuffle %t, %u [1, 3, 5, 7] : vector<4xi32>, vector<4xi32>
    %sum = arith.addi %even, %odd : vector<4xi32>
    vector.store %sum, %y[%c0] : memref<4xi32>, vector<4xi32>
    kernel.return
  }
  kernel.program @main(%x: memref<64x4xf32> {kernel.onnx_name = "x"}, %h: memref<16xi16> {kernel.onnx_name = "h"},
                  %m: memref<12x4xf32> {kernel.onnx_name = "m", kernel.output}, %f: memref<11x4xf32> {kernel.onnx_name = "f", kernel.output},
                  %s: memref<4xi32> {kernel.onnx_name = "s", kernel.output}) {
    kernel.launch @many(%x, %m) : (memref<64x4xf32>, memref<12x4xf32>) -> ()
    kernel.launch @few(%x, %f) : (memref<64x4xf32>, memref<11x4xf32>) -> ()
    kernel.launch @halves(%h, %s) : (memref<16xi16>, memref<4xi32>) -> ()
    kernel.return
  }
}
