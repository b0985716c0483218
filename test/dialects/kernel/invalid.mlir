// Errors of the verifiers of the kernel dialect.
//
// REQUIRES: ingot-opt
// RUN: %ingot-opt %s --split-input-file --verify-diagnostics

kernel.func @k(%x: memref<4xf32>, %y: memref<4xf32>)
kernel.program @missing_buffer(%x: memref<4xf32>) {
  // expected-error @+1 {{'kernel.launch' op passes 1 buffers to 'k', which takes 2}}
  kernel.launch @k(%x) : (memref<4xf32>) -> ()
  kernel.return
}

// -----

kernel.func @k(%x: memref<4xf32>, %y: memref<4xf32>)
kernel.program @other_shape(%x: memref<4xf32>, %y: memref<2x2xf32>) {
  // expected-error @+1 {{buffer 1 of 'k' is 'memref<4xf32>', not 'memref<2x2xf32>'}}
  kernel.launch @k(%x, %y) : (memref<4xf32>, memref<2x2xf32>) -> ()
  kernel.return
}

// -----

kernel.func @k(%x: memref<?xf32>, %n: index)
kernel.program @missing_integer(%x: memref<4xf32>) {
  // expected-error @+1 {{passes 0 integers to 'k', which takes 1}}
  kernel.launch @k(%x) : (memref<4xf32>) -> ()
  kernel.return
}

// -----

kernel.func @k(%x: memref<?xf32>)
kernel.program @other_element(%x: memref<4xf64>) {
  // expected-error @+1 {{buffer 0 of 'k' is 'memref<?xf32>', not 'memref<4xf64>'}}
  kernel.launch @k(%x) : (memref<4xf64>) -> ()
  kernel.return
}

// -----

kernel.program @no_callee(%x: memref<4xf32>) {
  // expected-error @+1 {{launches 'nothing', which is no kernel}}
  kernel.launch @nothing(%x) : (memref<4xf32>) -> ()
  kernel.return
}

// -----

kernel.func @k(%x: tensor<4xf32>) -> tensor<4xf32>
kernel.program @inplace(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'inplace' names a result or operand that is not}}
  %y = kernel.launch @k(%x) {inplace = array<i64: 0, 1>} : (tensor<4xf32>) -> tensor<4xf32>
  kernel.return %y : tensor<4xf32>
}

// -----

func.func @view_too_large(%x: memref<4xf32>) {
  // expected-error @+1 {{reaches past the end of its source: byte 4 + 16 of 16}}
  %y = kernel.view %x at 4 : memref<4xf32> to memref<2x2xf32>
  return
}

// -----

// expected-error @+1 {{with an extent must end in two index arguments, begin and end}}
kernel.func @k(%x: memref<4xf32>) attributes {extent = 4 : index}

// -----

kernel.program @compares(%x: memref<2xi64>) {
  // expected-error @+1 {{compares}}
  kernel.require_equal %x, dense<[1, 2, 3]> : tensor<3xi64>, "shape" : memref<2xi64>
  kernel.return
}

// -----

// expected-error @+1 {{mixes tensors and buffers}}
kernel.func @mixed(%x: tensor<4xf32>, %y: memref<4xf32>)

// -----

// expected-error @+1 {{takes 'f32', which is neither a buffer nor an integer}}
kernel.func @scalar(%x: f32)

// -----

// expected-error @+1 {{returns values, but works on buffers}}
kernel.func @value(%x: memref<4xf32>) -> i32

// -----

// expected-error @+1 {{has strides that its buffers' types should have}}
kernel.func @strides(%x: memref<4xf32>) attributes {output_strides = array<i64: 2>}

// -----

// expected-error @+1 {{has 2 'input_strides' for 1 arguments}}
kernel.func @inputs(%x: tensor<4xf32>) -> tensor<4xf32> attributes {input_strides = [array<i64>, array<i64: 1>]}

// -----

// expected-error @+1 {{has an extent or threads before it has loops}}
kernel.func @early(%x: tensor<4xf32>) -> tensor<4xf32> attributes {extent = 4 : index}

// -----

// expected-error @+1 {{has threads, but no extent that says how many blocks}}
kernel.func @no_blocks(%x: memref<4xf32>) attributes {threads = 128 : i64} { kernel.return }

// -----

// expected-error @+1 {{attribute 'extent' failed to satisfy constraint}}
kernel.func @negative(%x: memref<4xf32>, %begin: index, %end: index) attributes {extent = -1 : index}

// -----

// expected-error @+1 {{attribute 'plan' failed to satisfy constraint: dictionary of named attribute values}}
kernel.func @plan(%x: memref<4xf32>) attributes {plan = 5}

// -----

// expected-error @+1 {{works on buffers, so its loops are built already, and must have no 'plan' for them}}
kernel.func @planned(%x: memref<4xf32>) attributes {strategy = "depthwise", plan = {columns = 4}} {
  kernel.return
}

// -----

// expected-error @+1 {{attribute 'strategy' failed to satisfy constraint: string attribute}}
kernel.func @strategy(%x: memref<4xf32>) attributes {strategy = 5}

// -----

// expected-error @+1 {{attribute 'kernel.read' has no value}}
kernel.func @read(%x: memref<4xf32> {kernel.read = "often"})

// -----

// expected-error @+1 {{attribute 'kernel.raed' is unknown on an argument or result}}
kernel.func @typo(%x: memref<4xf32> {kernel.raed})

// -----

// expected-error @+1 {{attribute 'kernel.read' is for buffers}}
kernel.func @integer(%n: index {kernel.read})

// -----

// expected-error @+1 {{attribute 'kernel.bound' must have the shape of what it is the value of}}
kernel.program @bound(%x: memref<4xi64> {kernel.bound = dense<1> : tensor<2xi64>})

// -----

// expected-error @+1 {{attribute 'kernel.strict' is one of modules, without a value}}
kernel.program @strict(%x: memref<4xf32>) attributes {kernel.strict}

// -----

// expected-error @+1 {{attribute 'kernel.names' is a list of strings}}
kernel.program @names(%x: memref<4xf32>) attributes {kernel.names = [1 : i64]}

// -----

// expected-error @+1 {{attribute 'kernel.extend' is unknown}}
kernel.program @unknown(%x: memref<4xf32>) attributes {kernel.extend}

// -----

kernel.program @computes(%x: memref<4xf32>) {
  // expected-error @+1 {{is not of the kernel level; a program only launches kernels}}
  %c0 = arith.constant 0 : index
  kernel.return
}

// -----

// expected-error @+1 {{on buffers takes all of them as arguments}}
kernel.program @results(%x: memref<4xf32>) -> i32 {
  kernel.return
}

// -----

kernel.func @returns(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{returns other types than 'returns' declares}}
  kernel.return
}

// -----

func.func @elsewhere() {
  // expected-error @+1 {{expects parent op to be one of 'kernel.func, kernel.program, kernel.parallel'}}
  kernel.return
}

// -----

func.func @prefetch_nothing(%x: memref<8xi8>) {
  // expected-error @+1 {{attribute 'bytes' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  kernel.prefetch %x, 0 : memref<8xi8>
  return
}

// -----

func.func @arena() {
  // expected-error @+1 {{needs a static strided layout}}
  %a = kernel.arena 0 : memref<4xf32, affine_map<(d0) -> (d0 floordiv 2)>>
  return
}

// -----

func.func @arena_offset() {
  // expected-error @+1 {{attribute 'offset' failed to satisfy constraint}}
  %a = kernel.arena -4 : memref<4xf32>
  return
}

// -----

func.func @cursor(%x: memref<8x16xf32>, %i: index) {
  // expected-error @+1 {{has 1 indices into}}
  %c = kernel.cursor %x[%i] : memref<8x16xf32>
  return
}

// -----

func.func @other_cursor(%x: memref<8xf32>, %i: index, %inside: i1, %zeros: memref<16xi8>) {
  // expected-error @+1 {{points at elements of two types}}
  %c = kernel.cursor %x[%i] if %inside else %zeros : memref<8xf32>, memref<16xi8>
  return
}

// -----

func.func @load(%c: !kernel.cursor) {
  // expected-error @+1 {{loads elements of different types}}
  %x:2 = kernel.load_next %c to 0 : f32, f64
  return
}

// -----

func.func @no_register(%c: !kernel.cursor) {
  // expected-error @+1 {{names a register if it loads several, else none}}
  %x:2 = kernel.load_next %c : f32, f32
  return
}

// -----

func.func @vector_register(%c: !kernel.cursor) {
  // expected-error @+1 {{names a register if it loads several, else none}}
  %x:2 = kernel.load_next %c to 0 : vector<4xi8>, vector<4xi8>
  return
}

// -----

func.func @register(%c: !kernel.cursor) {
  // expected-error @+1 {{names a register if it loads several, else none}}
  %x = kernel.load_next %c to 0 : f32
  return
}

// -----

kernel.program private @a(%x: tensor<4xf32>) -> tensor<4xf32> { kernel.return %x : tensor<4xf32> }
kernel.program @if_of_kernels(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{runs 'b', which is no private program}}
  %y = kernel.if %c then @a else @b (%x) : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
  kernel.return %y : tensor<4xf32>
}

// -----

kernel.program private @a(%x: tensor<4xf32>) -> tensor<4xf32> { kernel.return %x : tensor<4xf32> }
kernel.program @if_of_others(%c: tensor<i1>, %x: tensor<5xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{passes 'tensor<5xf32>' as value 0 of 'a', which declares 'tensor<4xf32>'}}
  %y = kernel.if %c then @a else @a (%x) : (tensor<i1>, tensor<5xf32>) -> tensor<4xf32>
  kernel.return %y : tensor<4xf32>
}

// -----

kernel.program private @a(%x: memref<4xf32>, %y: memref<4xf32> {kernel.output}) attributes {arena_bytes = 64 : i64, arena_align = 64 : i64} { kernel.return }
kernel.program @if_without_frame(%c: memref<i1>, %x: memref<4xf32>, %y: memref<4xf32> {kernel.output}) {
  %f = kernel.arena 0 : memref<32xi8>
  // expected-error @+1 {{has no frame of 64 bytes as the last of its outputs}}
  kernel.if %c then @a else @a (%x) to (%y, %f) : (memref<i1>, memref<4xf32>, memref<4xf32>, memref<32xi8>) -> ()
  kernel.return
}

// -----

kernel.program private @step(%x: memref<4xf32>, %y: memref<4xf32> {kernel.output}) { kernel.return }
kernel.program @loop_without_buffers(%x: memref<4xf32>, %y: memref<4xf32> {kernel.output}) {
  // expected-error @+1 {{lacks buffers for what it carries}}
  kernel.loop @step count #kernel.sizes<3> carried(%x) to (%y) : (memref<4xf32>, memref<4xf32>) -> ()
  kernel.return
}

// -----

kernel.program private @step(%x: tensor<4xf32>) -> tensor<4xf32> { kernel.return %x : tensor<4xf32> }
kernel.program @loop_of_others(%x: tensor<3x5xf32>) -> tensor<3x4xf32> {
  // expected-error @+1 {{passes 'tensor<5xf32>' as value 0 of 'step', which declares 'tensor<4xf32>'}}
  %y = kernel.loop @step count #kernel.sizes<3> sliced(%x) : (tensor<3x5xf32>) -> tensor<3x4xf32>
  kernel.return %y : tensor<3x4xf32>
}

// -----

kernel.program @narrow_sizes(%x: memref<1xi32>) {
  // expected-error @+1 {{reads other integers than those of 64 bits}}
  kernel.read_sizes %x : memref<1xi32> as #kernel.sizes<"n" in 1 to 64 : s0>
  kernel.return
}

// -----

kernel.program @no_pair() {
  // expected-error @+1 {{needs sizes to be equal that are no pairs}}
  kernel.check_sizes #kernel.sizes<"n" in 1 to 64 : s0, 2, 3>
  kernel.return
}

// -----

func.func @string_of_words(%x: memref<4xi32>, %i: index) {
  // expected-error @+1 {{operand #0 must be 1D memref of 8-bit signless integer values}}
  %s = "kernel.string_at"(%x, %i) : (memref<4xi32>, index) -> !kernel.string
  return
}

// -----

func.func @character_of_number(%x: i64, %i: index) {
  // expected-error @+1 {{operand #0 must be A pointer to zero-terminated characters}}
  %c = "kernel.character"(%x, %i) : (i64, index) -> i8
  return
}

// -----

func.func @same_number(%x: i64) {
  // expected-error @+1 {{operand #0 must be A pointer to zero-terminated characters}}
  %c = "kernel.same_string"(%x, %x) : (i64, i64) -> i1
  return
}

// -----

func.func @length_of_number(%x: i64) {
  // expected-error @+1 {{operand #0 must be A pointer to zero-terminated characters}}
  %n = "kernel.string_length"(%x) : (i64) -> index
  return
}

// -----

func.func @empty_number() {
  // expected-error @+1 {{result #0 must be A pointer to zero-terminated characters}}
  %s = "kernel.empty_string"() : () -> i64
  return
}

// -----

kernel.program private @step(%x: memref<4xf32>, %y: memref<4xf32>) {
  kernel.return
}
kernel.program @counts_of_others(%x: memref<4xf32>, %y: memref<4xf32>, %other: memref<4xf32>) {
  // expected-error @+1 {{says how many elements other tensors have}}
  kernel.loop @step count #kernel.sizes<3> carried(%x) to (%y, %other) {elements = #kernel.sizes<3, 4>}
      : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
  kernel.return
}

// -----

// expected-error @+1 {{attribute 'kernel.slots' must be two places}}
kernel.program @one_place(%x: memref<4xf32> {kernel.slots = array<i64: 0>}) {
  kernel.return
}

// -----

// expected-error @+1 {{attribute 'kernel.phase' must be the place of a byte}}
kernel.program @phase(%x: memref<4xf32> {kernel.phase = "first"}) {
  kernel.return
}

// -----

// expected-error @+1 {{attribute 'kernel.state' must be a string}}
kernel.program @state(%x: memref<4xf32> {kernel.state = 1 : i64}) {
  kernel.return
}

// -----

// expected-error @+1 {{attribute 'kernel.state_bytes' is a number of bytes of modules}}
kernel.program @bytes(%x: memref<4xf32>) attributes {kernel.state_bytes = 64 : i64} {
  kernel.return
}

// -----

kernel.func @part(%x: memref<4xf32>) {
  // expected-error @+1 {{'kernel.parallel' op needs a body that takes two integers, begin and end}}
  kernel.parallel 4 {
    kernel.return
  }
  kernel.return
}

// -----

kernel.func @inside(%x: memref<4xf32>) {
  kernel.parallel 4 {
  ^bb0(%begin: index, %end: index):
    // expected-error @+1 {{'kernel.parallel' op is inside of another one}}
    kernel.parallel 4 {
    ^bb0(%from: index, %to: index):
      kernel.return
    }
    kernel.return
  }
  kernel.return
}

// -----

kernel.func @whole(%x: memref<4xf32>, %begin: index, %end: index) attributes {extent = 4 : index} {
  // expected-error @+1 {{'kernel.parallel' op is in a kernel that threads share as a whole}}
  kernel.parallel 4 {
  ^bb0(%from: index, %to: index):
    kernel.return
  }
  kernel.return
}

// -----

kernel.func @local(%x: memref<4xf32>) {
  %local = memref.alloca() : memref<4xf32>
  // expected-error @+1 {{'kernel.parallel' op uses memory of the stack from outside of it}}
  kernel.parallel 4 {
  ^bb0(%begin: index, %end: index):
    %v = memref.load %local[%begin] : memref<4xf32>
    memref.store %v, %x[%begin] : memref<4xf32>
    kernel.return
  }
  kernel.return
}

// -----

kernel.func @result(%x: memref<4xf32>) {
  kernel.parallel 4 {
  ^bb0(%begin: index, %end: index):
    // expected-error @+1 {{'kernel.return' op returns values from a part of a step}}
    kernel.return %begin : index
  }
  kernel.return
}

// -----

kernel.func private @k(memref<4xf32>, memref<4xf32>)
kernel.program @half_a_fork(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{has one of 'fork' and 'branch' without the other}}
  kernel.launch @k(%x, %y) {fork = 0 : i64} : (memref<4xf32>, memref<4xf32>) -> ()
  kernel.return
}

// -----

kernel.func private @k(memref<4xf32>, memref<4xf32>)
kernel.program @decided_fork(%x: memref<4xf32>, %n: memref<1xi64>, %y: memref<4xf32>) {
  kernel.read_sizes %n : memref<1xi64> as #kernel.sizes<"n" in 0 to 8 : s0>
  // expected-error @+1 {{is in a fork, but the program cannot be recorded as a graph: it is called by another program or does work on the host}}
  kernel.launch @k(%x, %y) {fork = 0 : i64, branch = 0 : i64} : (memref<4xf32>, memref<4xf32>) -> ()
  kernel.return
}

// -----

kernel.program @torn_fork(%x: memref<4xf32>, %y: memref<4xf32>) {
  kernel.launch @k(%x, %y) {fork = 1 : i64, branch = 0 : i64} : (memref<4xf32>, memref<4xf32>) -> ()
  kernel.launch @k(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  // expected-error @+1 {{is of fork 1, which is not behind fork 1}}
  kernel.launch @k(%x, %y) {fork = 1 : i64, branch = 1 : i64} : (memref<4xf32>, memref<4xf32>) -> ()
  kernel.return
}

// -----

kernel.func @k(%x: memref<4xf32>, %y: memref<4xf32>) { kernel.return }
kernel.program @crossed(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = kernel.launch @k(%x) {fork = 0 : i64, branch = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{reads what branch 0 of its fork computes}}
  %b = kernel.launch @k(%a) {fork = 0 : i64, branch = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  kernel.return %b : tensor<4xf32>
}

// -----

kernel.func private @k(memref<4xf32>, memref<4xf32>)
kernel.program @torn_team(%x: memref<4xf32>, %y: memref<4xf32>) {
  kernel.launch @k(%x, %y) {team = 0 : i64} : (memref<4xf32>, memref<4xf32>) -> ()
  kernel.launch @k(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  // expected-error @+1 {{is of team 0, which is not behind team 0}}
  kernel.launch @k(%x, %y) {team = 0 : i64} : (memref<4xf32>, memref<4xf32>) -> ()
  kernel.return
}

// -----

kernel.func private @k(memref<4xf32>, memref<4xf32>)
kernel.program @team_of_a_fork(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{is in a team, of threads of the host, and in a fork, of a device}}
  kernel.launch @k(%x, %y) {fork = 0 : i64, branch = 0 : i64, team = 0 : i64} : (memref<4xf32>, memref<4xf32>) -> ()
  kernel.return
}

// -----

kernel.func @steps() {
  kernel.parallel 2 {
  ^bb0(%begin: index, %end: index):
    kernel.return
  }
  kernel.return
}
kernel.program @team_of_steps() {
  // expected-error @+1 {{has 'steps' in a team, whose threads it divides by itself}}
  kernel.launch @steps() {team = 0 : i64} : () -> ()
  kernel.return
}

// -----

kernel.func @unnamed(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{has 1 names for 2 parameters}}
  kernel.call_external "f"(%x) to (%y) [] names ["x"] elements [f32, f32] : (memref<8xf32>) to (memref<8xf32>)
  kernel.return
}

// -----

kernel.func @untyped(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{has 1 element types for 2 buffers}}
  kernel.call_external "f"(%x) to (%y) [] names ["x", "y"] elements [f32] : (memref<8xf32>) to (memref<8xf32>)
  kernel.return
}

// -----

kernel.func @strided(%x: memref<4x8xf32, strided<[16, 1]>>, %y: memref<8xf32>) {
  // expected-error @+1 {{whose elements are not contiguous}}
  kernel.call_external "f"(%x) to (%y) [] names ["x", "y"] elements [f32, f32]
      : (memref<4x8xf32, strided<[16, 1]>>) to (memref<8xf32>)
  kernel.return
}

// -----

kernel.func @constant(%x: memref<8xf32>, %y: memref<8xf32>) {
  // expected-error @+1 {{which is neither a number, a string nor a list}}
  kernel.call_external "f"(%x) to (%y) [unit] names ["x", "y", "c"] elements [f32, f32] : (memref<8xf32>) to (memref<8xf32>)
  kernel.return
}
