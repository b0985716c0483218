// RUN: %ingot-opt %s -plan-form-teams=target=x86-64-v3 | FileCheck %s
// RUN: %ingot-opt %s -plan-form-teams=target=generic | FileCheck %s --check-prefix=APART
// RUN: %ingot-opt %s -plan-form-teams=target=cortex-m4 | FileCheck %s --check-prefix=APART
// RUN: %ingot-opt %s -plan-form-teams=target=sm_80 | FileCheck %s --check-prefix=APART
// REQUIRES: ingot-opt

// APART-NOT: team =

kernel.func @shared(%x: memref<64xf32> {kernel.read}, %y: memref<64xf32>, %begin: index, %end: index) attributes {extent = 8 : index} { kernel.return }
kernel.func @small(%x: memref<64xf32> {kernel.read}, %y: memref<64xf32>) { kernel.return }
kernel.func @long(%x: memref<64xf32> {kernel.read}, %y: memref<64xf32>, %begin: index, %end: index) attributes {extent = 8 : index, cycles = 100000000 : i64} { kernel.return }
kernel.func @steps(%x: memref<64xf32> {kernel.read}, %y: memref<64xf32>) {
  kernel.parallel 8 {
  ^bb0(%begin: index, %end: index):
    kernel.return
  }
  kernel.return
}

// A worker group extends from the first launch that threads share to the last
// one, including small launches in between.
// CHECK-LABEL: kernel.program @between
// CHECK: kernel.launch @small(%{{.*}}) :
// CHECK: kernel.launch @shared(%{{.*}}) {team = 0 : i64}
// CHECK: kernel.launch @small(%{{.*}}) {team = 0 : i64}
// CHECK: kernel.arena 256
// CHECK: kernel.launch @shared(%{{.*}}) {team = 0 : i64}
// CHECK: kernel.launch @small(%{{.*}}) :
kernel.program @between(%x: memref<64xf32>, %y: memref<64xf32> {kernel.output}) attributes {arena_bytes = 512, arena_align = 64} {
  %a = kernel.arena 0 : memref<64xf32>
  kernel.launch @small(%x, %a) : (memref<64xf32>, memref<64xf32>) -> ()
  kernel.launch @shared(%x, %a) : (memref<64xf32>, memref<64xf32>) -> ()
  kernel.launch @small(%a, %a) : (memref<64xf32>, memref<64xf32>) -> ()
  %b = kernel.arena 256 : memref<64xf32>
  kernel.launch @shared(%a, %b) : (memref<64xf32>, memref<64xf32>) -> ()
  kernel.launch @small(%b, %y) : (memref<64xf32>, memref<64xf32>) -> ()
  kernel.return
}

// A worker group ends before a long launch, a launch that distributes work
// among threads itself, and an operation that may end the run with an error.
// CHECK-LABEL: kernel.program @ends
// CHECK-COUNT-2: kernel.launch @shared(%{{.*}}) {team = 0 : i64}
// CHECK: kernel.launch @long(%{{.*}}) :
// CHECK-COUNT-2: kernel.launch @shared(%{{.*}}) {team = 1 : i64}
// CHECK: kernel.launch @steps(%{{.*}}) :
// CHECK: kernel.launch @shared(%{{.*}}) :
// CHECK: kernel.read_sizes
// CHECK: kernel.launch @shared(%{{.*}}) :
kernel.program @ends(%x: memref<64xf32>, %n: memref<1xi64>, %y: memref<64xf32> {kernel.output}) attributes {arena_bytes = 0, arena_align = 64} {
  kernel.launch @shared(%x, %y) : (memref<64xf32>, memref<64xf32>) -> ()
  kernel.launch @shared(%x, %y) : (memref<64xf32>, memref<64xf32>) -> ()
  kernel.launch @long(%x, %y) : (memref<64xf32>, memref<64xf32>) -> ()
  kernel.launch @shared(%x, %y) : (memref<64xf32>, memref<64xf32>) -> ()
  kernel.launch @shared(%x, %y) : (memref<64xf32>, memref<64xf32>) -> ()
  kernel.launch @steps(%x, %y) : (memref<64xf32>, memref<64xf32>) -> ()
  kernel.launch @shared(%x, %y) : (memref<64xf32>, memref<64xf32>) -> ()
  kernel.read_sizes %n : memref<1xi64> as #kernel.sizes<"n" in 0 to 8 : s0>
  kernel.launch @shared(%x, %y) : (memref<64xf32>, memref<64xf32>) -> ()
  kernel.return
}
