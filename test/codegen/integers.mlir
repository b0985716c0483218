// Integer operations of all widths, wrapping, signed and unsigned.
// Inputs/integers.cpp checks the results.
//
// RUN: ingot-translate %s --name integers -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: %cxx %warnings -fsanitize=undefined -fno-sanitize-recover -include %t.cpp %S/Inputs/integers.cpp -o %t.g++ && %t.g++
// RUN: %clangxx %warnings -fsanitize=undefined -fno-sanitize-recover -include %t.cpp %S/Inputs/integers.cpp -o %t.clang && %t.clang

module {
  // CHECK-LABEL: void i8_ops(const int8_t *__restrict a, const int8_t *__restrict b,
  // CHECK: y[0] = int8_t(uint8_t(uint8_t(a0) + uint8_t(b0)));
  kernel.func @i8_ops(%a: memref<1xi8> {kernel.name = "a"}, %b: memref<1xi8> {kernel.name = "b"}, %y: memref<16xi8> {kernel.name = "y"}) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = arith.constant 2 : index
    %3 = arith.constant 3 : index
    %4 = arith.constant 4 : index
    %5 = arith.constant 5 : index
    %6 = arith.constant 6 : index
    %7 = arith.constant 7 : index
    %8 = arith.constant 8 : index
    %9 = arith.constant 9 : index
    %10 = arith.constant 10 : index
    %11 = arith.constant 11 : index
    %s = arith.constant 3 : i8
    %min = arith.constant -128 : i8
    %p = memref.load %a[%0] : memref<1xi8>
    %q = memref.load %b[%0] : memref<1xi8>
    %add = arith.addi %p, %q : i8
    memref.store %add, %y[%0] : memref<16xi8>
    %sub = arith.subi %p, %q : i8
    memref.store %sub, %y[%1] : memref<16xi8>
    %mul = arith.muli %p, %q : i8
    memref.store %mul, %y[%2] : memref<16xi8>
    %div = arith.divsi %p, %s : i8
    memref.store %div, %y[%3] : memref<16xi8>
    %divu = arith.divui %p, %s : i8
    memref.store %divu, %y[%4] : memref<16xi8>
    %shl = arith.shli %p, %s : i8
    memref.store %shl, %y[%5] : memref<16xi8>
    %shr = arith.shrsi %p, %s : i8
    memref.store %shr, %y[%6] : memref<16xi8>
    %shru = arith.shrui %p, %s : i8
    memref.store %shru, %y[%7] : memref<16xi8>
    %and = arith.andi %p, %q : i8
    %or = arith.ori %and, %s : i8
    %xor = arith.xori %or, %min : i8
    memref.store %xor, %y[%8] : memref<16xi8>
    %max = arith.maxsi %p, %q : i8
    memref.store %max, %y[%9] : memref<16xi8>
    %maxu = arith.maxui %p, %q : i8
    memref.store %maxu, %y[%10] : memref<16xi8>
    memref.store %min, %y[%11] : memref<16xi8>
    kernel.return
  }
  kernel.func @i16_ops(%a: memref<1xi16> {kernel.name = "a"}, %y: memref<4xi16> {kernel.name = "y"}) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = arith.constant 2 : index
    %p = memref.load %a[%0] : memref<1xi16>
    %mul = arith.muli %p, %p : i16
    memref.store %mul, %y[%0] : memref<4xi16>
    %s = arith.constant 15 : i16
    %shl = arith.shli %p, %s : i16
    memref.store %shl, %y[%1] : memref<4xi16>
    %rem = arith.remui %p, %s : i16
    memref.store %rem, %y[%2] : memref<4xi16>
    kernel.return
  }
  // CHECK-LABEL: void i32_ops(
  kernel.func @i32_ops(%a: memref<2xi32> {kernel.name = "a"}, %y: memref<8xi32> {kernel.name = "y"}, %f: memref<4xf32> {kernel.name = "f"}) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = arith.constant 2 : index
    %3 = arith.constant 3 : index
    %4 = arith.constant 4 : index
    %5 = arith.constant 5 : index
    %p = memref.load %a[%0] : memref<2xi32>
    %q = memref.load %a[%1] : memref<2xi32>
    %mul = arith.muli %p, %q : i32
    %add = arith.addi %mul, %q : i32
    memref.store %add, %y[%0] : memref<8xi32>
    %min = arith.constant -2147483648 : i32
    // CHECK: y[1] = INT32_MIN;
    memref.store %min, %y[%1] : memref<8xi32>
    %lt = arith.cmpi ult, %p, %q : i32
    %ltw = arith.extui %lt : i1 to i32
    memref.store %ltw, %y[%2] : memref<8xi32>
    %slt = arith.cmpi slt, %p, %q : i32
    %sltw = arith.extsi %slt : i1 to i32
    memref.store %sltw, %y[%3] : memref<8xi32>
    %x = arith.sitofp %p : i32 to f32
    memref.store %x, %f[%0] : memref<4xf32>
    %u = arith.uitofp %p : i32 to f32
    memref.store %u, %f[%1] : memref<4xf32>
    %bits = arith.constant 0x3f800000 : i32
    %b = arith.bitcast %bits : i32 to f32
    memref.store %b, %f[%2] : memref<4xf32>
    %t = arith.uitofp %slt : i1 to f32
    memref.store %t, %f[%3] : memref<4xf32>
    %abs = math.absi %p : i32
    memref.store %abs, %y[%4] : memref<8xi32>
    %c = arith.constant -2 : i32
    %sel = arith.select %lt, %c, %add : i32
    memref.store %sel, %y[%5] : memref<8xi32>
    kernel.return
  }
  kernel.func @i64_ops(%a: memref<2xi64> {kernel.name = "a"}, %y: memref<8xi64> {kernel.name = "y"}) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = arith.constant 2 : index
    %3 = arith.constant 3 : index
    %4 = arith.constant 4 : index
    %p = memref.load %a[%0] : memref<2xi64>
    %q = memref.load %a[%1] : memref<2xi64>
    %mul = arith.muli %p, %q : i64
    memref.store %mul, %y[%0] : memref<8xi64>
    %min = arith.constant -9223372036854775808 : i64
    memref.store %min, %y[%1] : memref<8xi64>
    %n = arith.trunci %p : i64 to i32
    %w = arith.extsi %n : i32 to i64
    memref.store %w, %y[%2] : memref<8xi64>
    %z = arith.extui %n : i32 to i64
    memref.store %z, %y[%3] : memref<8xi64>
    %idx = arith.index_cast %q : i64 to index
    %c3 = arith.constant 3 : index
    %d = arith.floordivsi %idx, %c3 : index
    %di = arith.index_cast %d : index to i64
    memref.store %di, %y[%4] : memref<8xi64>
    kernel.return
  }
  // bool: one byte in memory, bool in registers.
  kernel.func @bools(%a: memref<2xi1> {kernel.name = "a"}, %y: memref<4xi1> {kernel.name = "y"}) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = arith.constant 2 : index
    %3 = arith.constant 3 : index
    %true = arith.constant true
    %p = memref.load %a[%0] : memref<2xi1>
    %q = memref.load %a[%1] : memref<2xi1>
    %and = arith.andi %p, %q : i1
    %or = arith.ori %and, %q : i1
    memref.store %or, %y[%0] : memref<4xi1>
    %xor = arith.xori %p, %q : i1
    memref.store %xor, %y[%1] : memref<4xi1>
    %not = arith.xori %p, %true : i1
    memref.store %not, %y[%2] : memref<4xi1>
    %lt = arith.cmpi ult, %p, %q : i1
    memref.store %lt, %y[%3] : memref<4xi1>
    kernel.return
  }
  kernel.program @main(
      %a8: memref<1xi8>, %b8: memref<1xi8>, %y8: memref<16xi8> {kernel.output},
      %a16: memref<1xi16>, %y16: memref<4xi16> {kernel.output},
      %a32: memref<2xi32>, %y32: memref<8xi32> {kernel.output}, %f: memref<4xf32> {kernel.output},
      %a64: memref<2xi64>, %y64: memref<8xi64> {kernel.output},
      %a1: memref<2xi1>, %y1: memref<4xi1> {kernel.output}) {
    kernel.launch @i8_ops(%a8, %b8, %y8) : (memref<1xi8>, memref<1xi8>, memref<16xi8>) -> ()
    kernel.launch @i16_ops(%a16, %y16) : (memref<1xi16>, memref<4xi16>) -> ()
    kernel.launch @i32_ops(%a32, %y32, %f) : (memref<2xi32>, memref<8xi32>, memref<4xf32>) -> ()
    kernel.launch @i64_ops(%a64, %y64) : (memref<2xi64>, memref<8xi64>) -> ()
    kernel.launch @bools(%a1, %y1) : (memref<2xi1>, memref<4xi1>) -> ()
    kernel.return
  }
}
