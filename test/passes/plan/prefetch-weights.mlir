// RUN: %ingot-opt %s -plan-prefetch-weights=target=hexagon-v67 | FileCheck %s
// REQUIRES: ingot-opt

memref.global "private" constant @first : memref<8192xi8> = dense<1> {alignment = 128 : i64}
memref.global "private" constant @large : memref<524288xi8> = dense<2> {alignment = 128 : i64}
memref.global "private" constant @small : memref<64xi8> = dense<3> {alignment = 128 : i64}
kernel.func @use(%w: memref<8192xi8> {kernel.read}, %y: memref<64xf32>) { kernel.return }
kernel.func @use_large(%w: memref<524288xi8> {kernel.read}, %b: memref<64xi8> {kernel.read}, %y: memref<64xf32>) { kernel.return }

// The weights of a launch are prefetched while the launch before it runs, and
// those of the first launch before the first launch. Prefetches use at most
// part of the L2 cache, and omit weights that are small or have just been read.
// CHECK: kernel.program @main
// CHECK: %[[FIRST:.*]] = memref.get_global @first
// CHECK-NEXT: kernel.prefetch %[[FIRST]], 8192
// CHECK-NEXT: %[[LARGE:.*]] = memref.get_global @large
// CHECK-NEXT: kernel.prefetch %[[LARGE]], 262144
// CHECK-NEXT: kernel.launch @use(%[[FIRST]]
// CHECK-NOT: kernel.prefetch
kernel.program @main(%y: memref<64xf32> {kernel.output}) attributes {arena_bytes = 0, arena_align = 128} {
  %0 = memref.get_global @first : memref<8192xi8>
  kernel.launch @use(%0, %y) : (memref<8192xi8>, memref<64xf32>) -> ()
  %1 = memref.get_global @large : memref<524288xi8>
  %2 = memref.get_global @small : memref<64xi8>
  kernel.launch @use_large(%1, %2, %y) : (memref<524288xi8>, memref<64xi8>, memref<64xf32>) -> ()
  kernel.launch @use(%0, %y) : (memref<8192xi8>, memref<64xf32>) -> ()
  kernel.return
}
