// Consecutive launches of one worker group become one call of the caller's
// parallel_for. A launch in it that is too small for several threads runs on
// one.
//
// RUN: rm -rf %t && mkdir %t
// RUN: ingot-translate %s --name net --weights object -o %t/net.cpp && FileCheck %s < %t/net.cpp
// RUN: %cxx %warnings -I%t -I%runtime -pthread %t/net.cpp %t/net.weights.o %S/Inputs/teams.cpp -o %t/net && %t/net
// RUN: %clangxx %warnings -I%t -I%runtime -pthread %t/net.cpp %t/net.weights.o %S/Inputs/teams.cpp -o %t/net && %t/net
// RUN: ingot-translate %s --name net --weights object --trace -o %t/net.cpp && FileCheck %s --check-prefix=TRACE < %t/net.cpp
// RUN: %clangxx %warnings -DTRACE -I%t -I%runtime -pthread %t/net.cpp %t/net.weights.o %S/Inputs/teams.cpp -o %t/net && %t/net

// CHECK-NOT: inline void parallel(
// CHECK: inline bool pays_to_fork(
// CHECK: class Team {
// CHECK: inline void in_team(const ingot_context *context, uint64_t nanoseconds, const Body &body) {
// A pointer to a weight is declared in the worker group that reads the weight,
// or before the worker groups if several of them read it.
// CHECK: ingot_status run(
// CHECK: const float *const both = constants_at<float, {{[0-9]+}}>(net_weights
// CHECK: float *const [[A:value[0-9]]] = buffer_at<float>(memory, 0);
// A buffer that is used again later is declared before the worker group.
// CHECK-NEXT: float *const [[C:value[0-9]]] = buffer_at<float>(memory, 128);
// The time per fork at 3 GHz: 6,000 cycles; the three launches cost one fork
// and two halves.
// CHECK-NEXT: in_team(context, 1000, [=](Team &team) {
// CHECK-NEXT: const float *const one = constants_at<float, {{[0-9]+}}>(net_weights
// CHECK-NEXT: team.share(8, [=](ptrdiff_t begin, ptrdiff_t end) {
// CHECK-NEXT: shared(io->x, both, [[A]], begin, end);
// CHECK-NEXT: });
// CHECK-NEXT: float *const [[B:value[0-9]]] = buffer_at<float>(memory, 64);
// CHECK-NEXT: team.once([=] { small([[A]], one, [[B]]); });
// CHECK-NEXT: team.share(8, [=](ptrdiff_t begin, ptrdiff_t end) {
// CHECK-NEXT: shared([[B]], one, [[C]], begin, end);
// CHECK-NEXT: });
// CHECK-NEXT: });
// CHECK-NEXT: small([[C]], both, [[A]]);
// CHECK-NEXT: in_team(context, 1334, [=](Team &team) {
// CHECK-NEXT: team.share(8, [=](ptrdiff_t begin, ptrdiff_t end) {
// CHECK-NEXT: shared([[A]], both, [[C]], begin, end);
// CHECK-NEXT: });
// CHECK-NEXT: team.share(8, [=](ptrdiff_t begin, ptrdiff_t end) {
// CHECK-NEXT: shared([[C]], both, io->y, begin, end);
// CHECK-NEXT: });
// CHECK-NEXT: });
// CHECK-NEXT: return INGOT_OK;

// TRACE: in_team(context
// TRACE: context->trace(context->trace_user, 0, 0); });
// TRACE-NEXT: team.share(8
// TRACE: context->trace(context->trace_user, 0, 1); });

module {
  memref.global "private" constant @one : memref<8xf32> = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]>
  memref.global "private" constant @both : memref<8xf32> = dense<2.0>
  kernel.func @shared(%x: memref<8xf32> {kernel.name = "x", kernel.read}, %w: memref<8xf32> {kernel.name = "w", kernel.read},
                      %y: memref<8xf32> {kernel.name = "y"}, %begin: index, %end: index) attributes {cycles = 3000 : i64, extent = 8 : index} {
    %c1 = arith.constant 1 : index
    scf.for %i = %begin to %end step %c1 {
      %a = memref.load %x[%i] : memref<8xf32>
      %b = memref.load %w[%i] : memref<8xf32>
      %sum = arith.addf %a, %b : f32
      memref.store %sum, %y[%i] : memref<8xf32>
    }
    kernel.return
  }
  kernel.func @small(%x: memref<8xf32> {kernel.name = "x", kernel.read}, %w: memref<8xf32> {kernel.name = "w", kernel.read},
                     %y: memref<8xf32> {kernel.name = "y"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %a = memref.load %x[%i] : memref<8xf32>
      %b = memref.load %w[%i] : memref<8xf32>
      %product = arith.mulf %a, %b : f32
      memref.store %product, %y[%i] : memref<8xf32>
    }
    kernel.return
  }
  kernel.program @main(%x: memref<8xf32> {kernel.onnx_name = "x", kernel.onnx_type = "float32"},
                       %y: memref<8xf32> {kernel.onnx_name = "y", kernel.onnx_type = "float32", kernel.output})
      attributes {arena_bytes = 192 : i64, arena_align = 64 : i64} {
    %one = memref.get_global @one : memref<8xf32>
    %both = memref.get_global @both : memref<8xf32>
    %a = kernel.arena 0 : memref<8xf32>
    kernel.launch @shared(%x, %both, %a) {team = 0 : i64} : (memref<8xf32>, memref<8xf32>, memref<8xf32>) -> ()
    %b = kernel.arena 64 : memref<8xf32>
    kernel.launch @small(%a, %one, %b) {team = 0 : i64} : (memref<8xf32>, memref<8xf32>, memref<8xf32>) -> ()
    %c = kernel.arena 128 : memref<8xf32>
    kernel.launch @shared(%b, %one, %c) {team = 0 : i64} : (memref<8xf32>, memref<8xf32>, memref<8xf32>) -> ()
    kernel.launch @small(%c, %both, %a) : (memref<8xf32>, memref<8xf32>, memref<8xf32>) -> ()
    kernel.launch @shared(%a, %both, %c) {team = 1 : i64} : (memref<8xf32>, memref<8xf32>, memref<8xf32>) -> ()
    kernel.launch @shared(%c, %both, %y) {team = 1 : i64} : (memref<8xf32>, memref<8xf32>, memref<8xf32>) -> ()
    kernel.return
  }
}
