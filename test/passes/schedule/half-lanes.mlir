// RUN: %ingot-opt %s -schedule-kernels=target=armv8.2-a+fp16 | FileCheck %s
// REQUIRES: ingot-opt

// Multiplication by a lane, with sums in f16: one load of a row brings eight K
// steps, and a vector of f16 weights has the columns of two vectors of f32
// sums. After every 160 K steps the f16 sums are added to the f32 sums. Of 333 K
// steps, the last 13 are one iteration of eight, and the last five lanes of a
// load that overlaps it.
// CHECK-LABEL: @by_lane(
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c2
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c20
// CHECK: vector.load %{{.*}} : memref<8x333xf16>, vector<8xf16>
// CHECK: vector.load %{{.*}} : memref<2664xf16>, vector<8xf16>
// CHECK-COUNT-64: kernel.dot %{{.*}} : vector<8xf16>, vector<8xf16>
// CHECK-NOT: kernel.dot
// CHECK: scf.yield
// CHECK: vector.extract_strided_slice %{{.*}} {offsets = [0], sizes = [4], strides = [1]} : vector<8xf16> to vector<4xf16>
// CHECK: arith.extf %{{.*}} : vector<4xf16> to vector<4xf32>
// CHECK: vector.extract_strided_slice %{{.*}} {offsets = [4], sizes = [4], strides = [1]} : vector<8xf16> to vector<4xf16>
// CHECK: scf.yield
// CHECK-COUNT-64: kernel.dot
// CHECK-COUNT-40: kernel.dot
// CHECK-NOT: kernel.dot
// CHECK: return
kernel.func @by_lane(%x: tensor<8x333xf16>, %w: tensor<2664xf16>) -> tensor<8x8xf32> attributes {strategy = "integer-product", plan = {columns = 8, rows = 8, splits = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 8 : i64, tail = 0 : i64, group = 1 : i64} : (tensor<2664xf16>) -> tensor<333x8xf16>
  %y = graph.matmul %x, %u {graph.multiplied = f16} : (tensor<8x333xf16>, tensor<333x8xf16>) -> tensor<8x8xf32>
  kernel.return %y : tensor<8x8xf32>
}

// A convolution of few steps, whose epilogue is a clamp, has f16 sums to the
// end, and eight results are stored at once. The sums start with zeros, and the
// rounded bias is added last: beside a large bias, f16 would drop all products.
// CHECK-LABEL: @to_the_end(
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.0{{.*}}> : vector<8xf16>
// CHECK-NOT: arith.truncf
// CHECK: kernel.dot %{{.*}} : vector<8xf16>, vector<8xf16>
// CHECK-COUNT-2: arith.truncf %{{.*}} : vector<4xf32> to vector<4xf16>
// CHECK: %[[BIAS:.*]] = vector.shuffle %{{.*}} : vector<4xf16>, vector<4xf16>
// CHECK: arith.addf %{{.*}}, %[[BIAS]] : vector<8xf16>
// CHECK: vector.store %{{.*}} : memref<{{.*}}xf16>, vector<8xf16>
// CHECK-NOT: vector<4xf16>
// CHECK: return
kernel.func @to_the_end(%x: tensor<1x2x4x16xf16>, %p: tensor<128xf16>, %bias: tensor<8xf32>) -> tensor<1x2x4x8xf16> attributes {strategy = "convolution", plan = {columns = 8, order = "tiles", rows = 2, splits = 1}, comment = ""} {
  %w = graph.unpack_panels %p {panel = 8 : i64, tail = 0 : i64, group = 1 : i64} : (tensor<128xf16>) -> tensor<1x1x16x8xf16>
  %y = graph.conv %x, %w, %bias {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64, graph.multiplied = f16} : (tensor<1x2x4x16xf16>, tensor<1x1x16x8xf16>, tensor<8xf32>) -> tensor<1x2x4x8xf32>
  %z = graph.relu %y : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  %r = graph.cast %z : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf16>
  kernel.return %r : tensor<1x2x4x8xf16>
}

// With an epilogue in f32, they start with zero, and the bias is added after all
// K steps, when they have been widened.
// CHECK-LABEL: @widened_once(
// CHECK: kernel.dot %{{.*}} : vector<8xf16>, vector<8xf16>
// CHECK: arith.extf %{{.*}} : vector<4xf16> to vector<4xf32>
// CHECK-NOT: kernel.dot
// CHECK: %[[BIAS:.*]] = vector.load %{{.*}} : memref<8xf32>, vector<4xf32>
// CHECK: arith.addf %{{.*}}, %[[BIAS]]
// CHECK: return
kernel.func @widened_once(%x: tensor<1x2x4x16xf16>, %p: tensor<128xf16>, %bias: tensor<8xf32>) -> tensor<1x2x4x8xf32> attributes {strategy = "convolution", plan = {columns = 8, order = "tiles", rows = 2, splits = 1}, comment = ""} {
  %w = graph.unpack_panels %p {panel = 8 : i64, tail = 0 : i64, group = 1 : i64} : (tensor<128xf16>) -> tensor<1x1x16x8xf16>
  %y = graph.conv %x, %w, %bias {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64, graph.multiplied = f16} : (tensor<1x2x4x16xf16>, tensor<1x1x16x8xf16>, tensor<8xf32>) -> tensor<1x2x4x8xf32>
  %z = graph.relu %y : (tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  kernel.return %z : tensor<1x2x4x8xf32>
}

// With more K steps than a stage has, sums stay in f16 too: the products of each
// kernel row, or of each kernel position if a row has too many, are added up
// separately, and then to the total.
// CHECK-LABEL: @rows_in_halves(
// CHECK: scf.for
// CHECK: scf.for
// CHECK: kernel.dot %{{.*}} : vector<8xf16>, vector<8xf16>
// CHECK: arith.addf %{{.*}} : vector<8xf16>
// CHECK: scf.yield %{{.*}} : vector<8xf16>
// CHECK: vector.store %{{.*}} : memref<{{.*}}xf16>, vector<8xf16>
// CHECK-NOT: vector<4xf16>
// CHECK: return
kernel.func @rows_in_halves(%x: tensor<1x6x6x32xf16>, %p: tensor<2304xf16>) -> tensor<1x4x4x8xf16> attributes {strategy = "convolution", plan = {columns = 8, order = "tiles", rows = 4, splits = 1}, comment = ""} {
  %w = graph.unpack_panels %p {panel = 8 : i64, tail = 0 : i64, group = 1 : i64} : (tensor<2304xf16>) -> tensor<3x3x32x8xf16>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64, graph.multiplied = f16} : (tensor<1x6x6x32xf16>, tensor<3x3x32x8xf16>) -> tensor<1x4x4x8xf32>
  %r = graph.cast %y : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf16>
  kernel.return %r : tensor<1x4x4x8xf16>
}

// A depthwise convolution adds the products of a window in f16.
// CHECK-LABEL: @depthwise(
// CHECK: kernel.dot %{{.*}} : vector<8xf16>, vector<8xf16>
// CHECK-NOT: vector.fma
// CHECK: return
kernel.func @depthwise(%x: tensor<1x4x4x8xf16>, %w: tensor<3x3x1x8xf16>) -> tensor<1x2x2x8xf16> attributes {strategy = "depthwise", plan = {columns = 2}, comment = ""} {
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 8 : i64, graph.multiplied = f16} : (tensor<1x4x4x8xf16>, tensor<3x3x1x8xf16>) -> tensor<1x2x2x8xf32>
  %r = graph.cast %y : (tensor<1x2x2x8xf32>) -> tensor<1x2x2x8xf16>
  kernel.return %r : tensor<1x2x2x8xf16>
}

// The bias of a depthwise convolution is added last, in f16 if the result is
// rounded to f16.
// CHECK-LABEL: @depthwise_bias(
// CHECK: kernel.dot %{{.*}} : vector<8xf16>, vector<8xf16>
// CHECK: %[[BIAS:.*]] = vector.shuffle %{{.*}} : vector<4xf16>, vector<4xf16>
// CHECK: arith.addf %{{.*}}, %[[BIAS]] : vector<8xf16>
// CHECK: return
kernel.func @depthwise_bias(%x: tensor<1x4x4x8xf16>, %w: tensor<3x3x1x8xf16>, %bias: tensor<8xf32>) -> tensor<1x2x2x8xf16> attributes {strategy = "depthwise", plan = {columns = 2}, comment = ""} {
  %y = graph.conv %x, %w, %bias {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 8 : i64, graph.multiplied = f16} : (tensor<1x4x4x8xf16>, tensor<3x3x1x8xf16>, tensor<8xf32>) -> tensor<1x2x2x8xf32>
  %r = graph.cast %y : (tensor<1x2x2x8xf32>) -> tensor<1x2x2x8xf16>
  kernel.return %r : tensor<1x2x2x8xf16>
}

// If the epilogue is computed in f32, so is the sum with the bias.
// CHECK-LABEL: @depthwise_wide_bias(
// CHECK: kernel.dot %{{.*}} : vector<8xf16>, vector<8xf16>
// CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : vector<4xf16> to vector<4xf32>
// CHECK: arith.addf %[[WIDE]], %{{.*}} : vector<4xf32>
// CHECK: vector.store %{{.*}} : memref<{{.*}}xf32>, vector<4xf32>
// CHECK: return
kernel.func @depthwise_wide_bias(%x: tensor<1x4x4x8xf16>, %w: tensor<3x3x1x8xf16>, %bias: tensor<8xf32>) -> tensor<1x2x2x8xf32> attributes {strategy = "depthwise", plan = {columns = 2}, comment = ""} {
  %y = graph.conv %x, %w, %bias {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 8 : i64, graph.multiplied = f16} : (tensor<1x4x4x8xf16>, tensor<3x3x1x8xf16>, tensor<8xf32>) -> tensor<1x2x2x8xf32>
  kernel.return %y : tensor<1x2x2x8xf32>
}

// Winograd's algorithm computes everything in f16. As sums of inputs may be four
// times as large as the inputs, inputs are divided by 4 before they are
// transformed; the weights are multiplied by 4 (test/unit/Winograd.cpp).
// CHECK-LABEL: @sampled(
// CHECK-SAME: memref<1x16x4x16xf16>{{.*}}, %{{.*}}: memref<1x16x4x16xf16>
// CHECK: %[[QUARTER:.*]] = vector.broadcast %{{.*}} : f16 to vector<8xf16>
// CHECK: arith.mulf %{{.*}}, %[[QUARTER]] : vector<8xf16>
// CHECK: arith.subf %{{.*}} : vector<8xf16>
// CHECK: kernel.dot %{{.*}} : vector<8xf16>, vector<8xf16>
// CHECK-NOT: arith.mulf
// CHECK: arith.addf %{{.*}} : vector<8xf16>
// CHECK: arith.extf %{{.*}} : vector<4xf16> to vector<4xf32>
// CHECK: vector.store %{{.*}} : memref<1x4x4x16xf32>, vector<4xf32>
// CHECK: return
kernel.func @sampled(%x: tensor<1x4x4x16xf16>, %p: tensor<4096xf16>) -> tensor<1x4x4x16xf32> attributes {strategy = "winograd", plan = {block = 4, columns = 16, parts = 1, rows = 4, size = 2}, comment = ""} {
  %u = graph.unpack_panels %p {panel = 16 : i64, tail = 0 : i64} : (tensor<4096xf16>) -> tensor<16x16x16xf16>
  %w = graph.restore_kernel %u {size = 2 : i64} : (tensor<16x16x16xf16>) -> tensor<3x3x16x16xf16>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64, graph.multiplied = f16} : (tensor<1x4x4x16xf16>, tensor<3x3x16x16xf16>) -> tensor<1x4x4x16xf32>
  kernel.return %y : tensor<1x4x4x16xf32>
}

// If the epilogue needs no more than f16, it is computed in f16. Sums of several
// stages (160 K steps) are added in f16.
// CHECK-LABEL: @sampled_in_stages(
// CHECK: scf.for
// CHECK: kernel.dot %{{.*}} : vector<8xf16>, vector<8xf16>
// CHECK: scf.yield
// CHECK: arith.addf %{{.*}} : vector<8xf16>
// CHECK: kernel.dot %{{.*}} : vector<8xf16>, vector<8xf16>
// CHECK: arith.addf %{{.*}} : vector<8xf16>
// CHECK: %[[BIAS:.*]] = vector.shuffle %{{.*}} : vector<4xf16>, vector<4xf16>
// CHECK: arith.addf %{{.*}}, %[[BIAS]] : vector<8xf16>
// CHECK: vector.store %{{.*}} : memref<1x4x4x8xf16>, vector<8xf16>
// CHECK-NOT: vector<4xf16>
// CHECK: return
kernel.func @sampled_in_stages(%x: tensor<1x4x4x176xf16>, %p: tensor<50688xf16>, %bias: tensor<8xf32>) -> tensor<1x4x4x8xf16> attributes {strategy = "winograd", plan = {block = 1, columns = 8, parts = 1, rows = 1, size = 4}, comment = ""} {
  %u = graph.unpack_panels %p {panel = 8 : i64, tail = 0 : i64} : (tensor<50688xf16>) -> tensor<36x176x8xf16>
  %w = graph.restore_kernel %u {size = 4 : i64} : (tensor<36x176x8xf16>) -> tensor<3x3x176x8xf16>
  %y = graph.conv %x, %w, %bias {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64, graph.multiplied = f16} : (tensor<1x4x4x176xf16>, tensor<3x3x176x8xf16>, tensor<8xf32>) -> tensor<1x4x4x8xf32>
  %r = graph.cast %y : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf16>
  kernel.return %r : tensor<1x4x4x8xf16>
}

// A product of few rows is bound by reading the weights: its f16 sums are widened
// after each vector of eight K steps.
// CHECK-LABEL: @few_rows(
// CHECK-COUNT-8: kernel.dot %{{.*}} : vector<8xf16>, vector<8xf16>
// CHECK-NOT: kernel.dot
// CHECK: arith.extf %{{.*}} : vector<4xf16> to vector<4xf32>
// CHECK: return
kernel.func @few_rows(%x: tensor<1x64xf16>, %w: tensor<512xf16>) -> tensor<1x8xf32> attributes {strategy = "integer-product", plan = {columns = 8, rows = 1, splits = 1}, comment = ""} {
  %u = graph.unpack_panels %w {panel = 8 : i64, tail = 0 : i64, group = 1 : i64} : (tensor<512xf16>) -> tensor<64x8xf16>
  %y = graph.matmul %x, %u {graph.multiplied = f16} : (tensor<1x64xf16>, tensor<64x8xf16>) -> tensor<1x8xf32>
  kernel.return %y : tensor<1x8xf32>
}

// A maximum pool takes the larger of two f16 in eight lanes. The last four
// channels are widened, as they fill no vector.
// CHECK-LABEL: @pool(
// CHECK: arith.constant dense<0xFC00> : vector<8xf16>
// CHECK-COUNT-2: arith.maxnumf %{{.*}} : vector<8xf16>
// CHECK-COUNT-2: vector.store %{{.*}} : memref<{{.*}}xf16>, vector<8xf16>
// CHECK: vector.load %{{.*}} : memref<{{.*}}xf16>, vector<4xf16>
// CHECK: arith.extf
kernel.func @pool(%x: tensor<1x9x9x20xf16>) -> tensor<1x4x4x20xf16> attributes {strategy = "loop-nest", comment = ""} {
  %y = graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>} : (tensor<1x9x9x20xf16>) -> tensor<1x4x4x20xf16>
  kernel.return %y : tensor<1x4x4x20xf16>
}

// The epilogue of an activation is computed in vectors of eight, from sums in
// f16; legalize-form-halves rounds it to f16.
// CHECK-LABEL: @activation(
// CHECK: kernel.dot %{{.*}} : vector<8xf16>, vector<8xf16>
// CHECK-COUNT-6: math.exp %{{.*}} fastmath<afn> : vector<8xf32>
// CHECK-NOT: math.exp
// CHECK: vector.store %{{.*}} : memref<{{.*}}xf16>, vector<8xf16>
// CHECK: return
kernel.func @activation(%x: tensor<1x2x6x16xf16>, %p: tensor<128xf16>, %bias: tensor<8xf32>) -> tensor<1x2x6x8xf16> attributes {strategy = "convolution", plan = {columns = 8, order = "tiles", rows = 6, splits = 1}, comment = ""} {
  %w = graph.unpack_panels %p {panel = 8 : i64, tail = 0 : i64, group = 1 : i64} : (tensor<128xf16>) -> tensor<1x1x16x8xf16>
  %y = graph.conv %x, %w, %bias {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, groups = 1 : i64, graph.multiplied = f16} : (tensor<1x2x6x16xf16>, tensor<1x1x16x8xf16>, tensor<8xf32>) -> tensor<1x2x6x8xf32>
  %z = graph.swish %y {alpha = 1.0 : f32} : (tensor<1x2x6x8xf32>) -> tensor<1x2x6x8xf32>
  %r = graph.cast %z : (tensor<1x2x6x8xf32>) -> tensor<1x2x6x8xf16>
  kernel.return %r : tensor<1x2x6x8xf16>
}
