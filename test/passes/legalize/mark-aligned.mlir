// RUN: %ingot-opt %s -legalize-mark-aligned=target=hexagon-v67 | FileCheck %s
// RUN: %ingot-opt %s -legalize-mark-aligned=target=x86-64-v4 | FileCheck %s --check-prefix=ELSEWHERE
// RUN: %ingot-opt %s -legalize-mark-aligned=target=sm_80 | FileCheck %s --check-prefix=DEVICE
// REQUIRES: ingot-opt

// On targets where unaligned vector accesses are equally fast, no alignment is
// added.
// ELSEWHERE-NOT: alignment

// The arena is aligned to 128 bytes, and so is each iteration of a loop over
// whole vectors of 128 bytes. Wider vectors take several registers and need
// only the alignment of one register.
// CHECK-LABEL: @whole(
// CHECK: vector.load %{{.*}}[%{{.*}}, %{{.*}}] {alignment = 128 : i64} : memref<8x256xi8>, vector<128xi8>
// CHECK: vector.store %{{.*}} {alignment = 128 : i64} : memref<8x256xi32>, vector<128xi32>
kernel.func @whole(%x: memref<8x256xi8>, %y: memref<8x256xi32>) attributes {strategy = "elementwise", comment = ""} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c256 step %c128 {
      %v = vector.load %x[%i, %j] : memref<8x256xi8>, vector<128xi8>
      %w = arith.extui %v : vector<128xi8> to vector<128xi32>
      vector.store %w, %y[%i, %j] : memref<8x256xi32>, vector<128xi32>
    }
  }
  kernel.return
}

// Words in rows of 20 bytes are aligned to four bytes, those in rows of 18
// bytes are not.
// CHECK-LABEL: @words(
// CHECK: vector.load %{{.*}} {alignment = 4 : i64} : memref<3x20xi8>, vector<4xi8>
// CHECK: vector.load %{{.*}}[%{{.*}}, %{{.*}}] : memref<3x18xi8>, vector<4xi8>
kernel.func @words(%x: memref<3x20xi8>, %z: memref<3x18xi8>, %y: memref<8xi8>) attributes {strategy = "elementwise", comment = ""} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %n = arith.constant 16 : index
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %g = %c0 to %c4 step %c1 {
      %at = arith.muli %g, %c4 : index
      %v = vector.load %x[%i, %at] : memref<3x20xi8>, vector<4xi8>
      vector.store %v, %y[%c1] : memref<8xi8>, vector<4xi8>
      %w = vector.load %z[%i, %at] : memref<3x18xi8>, vector<4xi8>
      vector.store %w, %y[%c3] : memref<8xi8>, vector<4xi8>
    }
  }
  kernel.return
}

// Memory of the caller is only aligned to its elements. A kernel whose argument
// is such memory in one launch and arena memory in another assumes the lower
// alignment. A view is aligned as its offset is.
// CHECK-LABEL: @of_caller(
// CHECK: vector.load %{{.*}}[%{{.*}}] : memref<128xi8>, vector<128xi8>
// CHECK: vector.store %{{.*}} {alignment = 64 : i64} : memref<128xi8>, vector<64xi8>
// CHECK: vector.store %{{.*}}[%{{.*}}] : memref<128xi8>, vector<128xi8>
kernel.func @of_caller(%x: memref<128xi8>, %y: memref<128xi8>) attributes {strategy = "elementwise", comment = ""} {
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%c0] : memref<128xi8>, vector<128xi8>
  %h = vector.extract_strided_slice %v {offsets = [0], sizes = [64], strides = [1]} : vector<128xi8> to vector<64xi8>
  vector.store %h, %y[%c0] : memref<128xi8>, vector<64xi8>
  vector.store %v, %y[%c0] : memref<128xi8>, vector<128xi8>
  kernel.return
}

kernel.program @main(%in: memref<128xi8> {kernel.onnx_name = "in", kernel.onnx_type = "int8"}) {
  %a = kernel.arena 0 : memref<8x256xi8>
  %b = kernel.arena 2048 : memref<8x256xi32>
  kernel.launch @whole(%a, %b) : (memref<8x256xi8>, memref<8x256xi32>) -> ()
  %c = kernel.arena 128 : memref<3x20xi8>
  %d = kernel.arena 256 : memref<3x18xi8>
  %e = kernel.arena 384 : memref<8xi8>
  kernel.launch @words(%c, %d, %e) : (memref<3x20xi8>, memref<3x18xi8>, memref<8xi8>) -> ()
  %f = kernel.arena 512 : memref<256xi8>
  %g = kernel.view %f at 64 : memref<256xi8> to memref<128xi8>
  %h = kernel.arena 640 : memref<128xi8>
  kernel.launch @of_caller(%in, %g) : (memref<128xi8>, memref<128xi8>) -> ()
  kernel.launch @of_caller(%h, %g) : (memref<128xi8>, memref<128xi8>) -> ()
  %i = kernel.arena 1024 : memref<64xf32>
  %j = kernel.arena 1284 : memref<64xf32>
  kernel.launch @neighbours(%i, %i, %j, %i) : (memref<64xf32>, memref<64xf32>, memref<64xf32>, memref<64xf32>) -> ()
  kernel.return
}

// Device threads load neighbouring elements together if all launches align the
// arguments.
// DEVICE-LABEL: kernel.func @neighbours(
// DEVICE-SAME: %{{[a-z0-9]+}}: memref<64xf32> {kernel.align = 16 : i64, kernel.read}
// DEVICE-SAME: %{{[a-z0-9]+}}: memref<64xf32> {kernel.read}
// DEVICE-SAME: %{{[a-z0-9]+}}: memref<64xf32> {kernel.read}
// DEVICE-SAME: %{{[a-z0-9]+}}: memref<64xf32>)
kernel.func @neighbours(%x: memref<64xf32> {kernel.read}, %apart: memref<64xf32> {kernel.read}, %of_caller: memref<64xf32> {kernel.read}, %y: memref<64xf32>) attributes {strategy = "elementwise", comment = "", extent = 1 : index, threads = 32 : i64} {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %thread = gpu.thread_id x
  %at = arith.muli %thread, %c4 : index
  %next = arith.addi %at, %c1 : index
  %a = memref.load %x[%at] : memref<64xf32>
  %b = memref.load %x[%next] : memref<64xf32>
  %c = memref.load %apart[%at] : memref<64xf32>
  %d = memref.load %of_caller[%at] : memref<64xf32>
  %e = memref.load %of_caller[%next] : memref<64xf32>
  %ab = arith.addf %a, %b : f32
  %cd = arith.addf %c, %d : f32
  %abcd = arith.addf %ab, %cd : f32
  %all = arith.addf %abcd, %e : f32
  memref.store %all, %y[%thread] : memref<64xf32>
  kernel.return
}
