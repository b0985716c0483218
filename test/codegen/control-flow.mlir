// Loops with carried values, conditionals, while loops, lookup tables and local
// arrays. Inputs/control-flow.cpp computes the same results.
//
// RUN: ingot-translate %s --name control -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: %cxx %warnings -O1 -fsanitize=undefined,address -fno-sanitize-recover -include %t.cpp %S/Inputs/control-flow.cpp -o %t.g++ && %t.g++
// RUN: %clangxx %warnings -O1 -fsanitize=undefined,address -fno-sanitize-recover -include %t.cpp %S/Inputs/control-flow.cpp -o %t.clang && %t.clang

module {
  memref.global "private" constant @table : memref<4xi32> = dense<[1, -2, 3, -4]>

  // Two values that are swapped: both are copied, because neither may be
  // overwritten first.
  // CHECK-LABEL: void fibonacci(
  // CHECK: const int32_t next0 = s1;
  // CHECK-NEXT: const int32_t next1 = {{.*}};
  // CHECK-NEXT: s0 = next0;
  // CHECK-NEXT: s1 = next1;
  kernel.func @fibonacci(%y: memref<1xi32> {kernel.name = "y"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c10 = arith.constant 10 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %r:2 = scf.for %i = %c0 to %c10 step %c1 iter_args(%a = %zero, %b = %one) -> (i32, i32) {
      %s = arith.addi %a, %b : i32
      scf.yield %b, %s : i32, i32
    }
    memref.store %r#0, %y[%c0] : memref<1xi32>
    kernel.return
  }

  // The old value is still read after the new one is computed, so the two
  // cannot share a variable.
  kernel.func @previous(%x: memref<8xf32> {kernel.name = "x"}, %y: memref<8xf32> {kernel.name = "y"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %z = arith.constant 0.0 : f32
    %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %z) -> f32 {
      %v = memref.load %x[%i] : memref<8xf32>
      %n = arith.addf %a, %v : f32
      %d = arith.mulf %n, %a : f32
      memref.store %d, %y[%i] : memref<8xf32>
      scf.yield %n : f32
    }
    kernel.return
  }

  // A running maximum and its index: two carried values, one condition.
  // CHECK-LABEL: void argmax(
  kernel.func @argmax(%x: memref<8xf32> {kernel.name = "x"}, %y: memref<1xi64> {kernel.name = "y"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %low = arith.constant 0xFF800000 : f32
    %none = arith.constant -1 : i64
    %r:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%m = %low, %at = %none) -> (f32, i64) {
      %v = memref.load %x[%i] : memref<8xf32>
      %more = arith.cmpf ogt, %v, %m : f32
      %here = arith.index_cast %i : index to i64
      %m1 = arith.select %more, %v, %m : f32
      %at1 = arith.select %more, %here, %at : i64
      scf.yield %m1, %at1 : f32, i64
    }
    memref.store %r#1, %y[%c0] : memref<1xi64>
    kernel.return
  }

  // The division assigns to its own variable, unless that variable is the
  // divisor.
  // CHECK-LABEL: void quotients(
  // CHECK: acc0 /= x0;
  // CHECK-NEXT: acc1 = x0 / acc1;
  kernel.func @quotients(%x: memref<8xf32> {kernel.name = "x"}, %y: memref<2xf32> {kernel.name = "y"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %one = arith.constant 1.0 : f32
    %r:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %one, %b = %one) -> (f32, f32) {
      %v = memref.load %x[%i] : memref<8xf32>
      %p = arith.divf %a, %v : f32
      %q = arith.divf %v, %b : f32
      scf.yield %p, %q : f32, f32
    }
    memref.store %r#0, %y[%c0] : memref<2xf32>
    memref.store %r#1, %y[%c1] : memref<2xf32>
    kernel.return
  }

  // Conditionals with two results, and one without else.
  // CHECK-LABEL: void branches(
  // CHECK: if ({{.*}}) {
  // CHECK: } else {
  kernel.func @branches(%x: memref<4xf32> {kernel.name = "x"}, %y: memref<4xf32> {kernel.name = "y"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %a = memref.load %x[%c0] : memref<4xf32>
    %b = memref.load %x[%c1] : memref<4xf32>
    %less = arith.cmpf olt, %a, %b : f32
    %r:2 = scf.if %less -> (f32, f32) {
      %s = arith.addf %a, %b : f32
      scf.yield %s, %a : f32, f32
    } else {
      %s = arith.subf %a, %b : f32
      scf.yield %b, %s : f32, f32
    }
    memref.store %r#0, %y[%c0] : memref<4xf32>
    memref.store %r#1, %y[%c1] : memref<4xf32>
    scf.if %less {
      memref.store %a, %y[%c2] : memref<4xf32>
    }
    memref.store %b, %y[%c3] : memref<4xf32>
    kernel.return
  }

  // A load must not move past a store to the same buffer, and the name of a
  // table must not be used for anything else.
  // CHECK-LABEL: void tables(
  // CHECK: const int32_t {{y.*}} = y[0];
  // CHECK: y[0] = table[2];
  kernel.func @tables(%y: memref<4xi32> {kernel.name = "y"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %t = memref.get_global @table : memref<4xi32>
    %old = memref.load %y[%c0] : memref<4xi32>
    %v = memref.load %t[%c2] : memref<4xi32>
    memref.store %v, %y[%c0] : memref<4xi32>
    memref.store %old, %y[%c1] : memref<4xi32>
    kernel.return
  }

  // Collatz: a while loop whose condition comes first.
  // CHECK-LABEL: void collatz(
  // CHECK: for (;;) {
  // CHECK: if (!({{.*}} != 1)) break;
  kernel.func @collatz(%y: memref<1xi32> {kernel.name = "y"}) {
    %c0 = arith.constant 0 : index
    %start = arith.constant 27 : i32
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %three = arith.constant 3 : i32
    %r:2 = scf.while (%n = %start, %steps = %zero) : (i32, i32) -> (i32, i32) {
      %go = arith.cmpi ne, %n, %one : i32
      scf.condition(%go) %n, %steps : i32, i32
    } do {
    ^bb0(%n: i32, %steps: i32):
      %odd = arith.andi %n, %one : i32
      %isOdd = arith.cmpi ne, %odd, %zero : i32
      %half = arith.shrui %n, %one : i32
      %t = arith.muli %n, %three : i32
      %up = arith.addi %t, %one : i32
      %next = arith.select %isOdd, %up, %half : i32
      %more = arith.addi %steps, %one : i32
      scf.yield %next, %more : i32, i32
    }
    memref.store %r#1, %y[%c0] : memref<1xi32>
    kernel.return
  }

  // A local array, and a function that several kernels call.
  // CHECK-LABEL: INGOT_INLINE float square(
  // CHECK: return
  // CHECK-LABEL: void locals(
  // CHECK: alignas(64) float tile[8];
  kernel.func @locals(%x: memref<8xf32> {kernel.name = "x"}, %y: memref<8xf32> {kernel.name = "y"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %tile = memref.alloca() : memref<8xf32> loc(fused<"tile">["locals"])
    scf.for %i = %c0 to %c8 step %c1 {
      %v = memref.load %x[%i] : memref<8xf32>
      %s = func.call @square(%v) : (f32) -> f32
      memref.store %s, %tile[%i] : memref<8xf32>
    }
    scf.for %i = %c0 to %c8 step %c1 {
      %back = arith.subi %c7, %i : index
      %v = memref.load %tile[%back] : memref<8xf32>
      memref.store %v, %y[%i] : memref<8xf32>
    }
    kernel.return
  }
  func.func private @square(%x: f32 {kernel.name = "x"}) -> f32 {
    %s = arith.mulf %x, %x : f32
    return %s : f32
  }

  kernel.program @main(%x: memref<8xf32> {kernel.onnx_name = "x"},
      %fib: memref<1xi32> {kernel.onnx_name = "fib", kernel.output}, %prev: memref<8xf32> {kernel.onnx_name = "prev", kernel.output},
      %arg: memref<1xi64> {kernel.onnx_name = "arg", kernel.output}, %br: memref<4xf32> {kernel.onnx_name = "br", kernel.output},
      %tab: memref<4xi32> {kernel.onnx_name = "tab", kernel.output}, %col: memref<1xi32> {kernel.onnx_name = "col", kernel.output},
      %loc: memref<8xf32> {kernel.onnx_name = "loc", kernel.output}, %n: memref<2xi64> {kernel.onnx_name = "n"},
      %quo: memref<2xf32> {kernel.onnx_name = "quo", kernel.output}) {
    kernel.require_equal %n, dense<[2, -3]> : tensor<2xi64>, "n was bound when the model was compiled" : memref<2xi64>
    kernel.launch @fibonacci(%fib) : (memref<1xi32>) -> ()
    kernel.launch @previous(%x, %prev) : (memref<8xf32>, memref<8xf32>) -> ()
    kernel.launch @argmax(%x, %arg) : (memref<8xf32>, memref<1xi64>) -> ()
    %x4 = kernel.view %x at 8 : memref<8xf32> to memref<4xf32>
    kernel.launch @branches(%x4, %br) : (memref<4xf32>, memref<4xf32>) -> ()
    kernel.launch @tables(%tab) : (memref<4xi32>) -> ()
    kernel.launch @collatz(%col) : (memref<1xi32>) -> ()
    kernel.launch @locals(%x, %loc) : (memref<8xf32>, memref<8xf32>) -> ()
    kernel.launch @quotients(%x, %quo) : (memref<8xf32>, memref<2xf32>) -> ()
    kernel.return
  }
}
