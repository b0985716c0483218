// The operations between the graph dialect and C++.
//
// Once each fusion group has become a function of loops, a model is a program
// that launches kernels on buffers:
//
//   before planning                          after planning
//     %c = kernel.launch @conv(%x, %w)         %a = kernel.arena 0 : memref<..>
//         : (tensor, tensor) -> tensor         kernel.launch @conv(%x, %w, %a)
//
// The body of a kernel consists of upstream operations (scf, arith, vector,
// memref). Exceptions are cursors, with which small cores read memory, vector
// and matrix instructions, and operations of GPU threads.

#ifndef INGOT_DIALECTS_KERNEL_KERNELOPS_TD
#define INGOT_DIALECTS_KERNEL_KERNELOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"
include "dialects/kernel/KernelDialect.td"

include "dialects/kernel/Sizes.td"

def Kernel_Cursor : TypeDef<Kernel_Dialect, "Cursor"> {
  let mnemonic = "cursor";
  let summary = "A pointer into a buffer that advances as it is read";
}

/// A buffer of static shape or, for a kernel that serves several shapes, a
/// one-dimensional buffer of any size.
def Kernel_Buffer : AnyTypeOf<[AnyStaticShapeMemRef,
                               MemRefRankOf<[AnyType], [1]>]>;

class Kernel_Function<string mnemonic> : Kernel_Op<mnemonic, [
    AffineScope, AutomaticAllocationScope, FunctionOpInterface, IsolatedFromAbove]> {
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let regions = (region AnyRegion:$body);
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() {
      return getFunctionType().getResults();
    }
    ::mlir::Region *getCallableRegion() {
      return isExternal() ? nullptr : &getBody();
    }
  }];
}

def Kernel_FuncOp : Kernel_Function<"func"> {
  let summary = "A kernel: the function that one launch runs";
  let description = [{
    Not `func.func`: decisions about a kernel are typed attributes, and kernels are distinct from
    helpers and programs. (Functions that kernels call are `func.func`.)

    Before `schedule` the body has operators on tensors and returns the results; `strategy` names
    the strategy that builds the loops, and `plan` holds its parameters; `input_strides` (one list
    for each argument, empty for a whole tensor) and `output_strides` describe tensors that are
    slices of larger ones. After `schedule` the arguments are buffers (inputs, outputs, scratch
    memory), then integers that launches pass, then the dynamic `sizes` that the kernel uses, then,
    with an `extent` (a constant or a dynamic size), begin and end of the parallel loop. Launches
    pass neither the sizes nor begin and end: the runner of the launch knows the sizes, and divides
    [0, extent) as it likes.

    With `threads` a kernel runs on a GPU, in `extent` blocks of that many threads. Every thread
    calls the function, which gets its position by `gpu.block_id` and `gpu.thread_id` instead of
    begin and end. `resident`: the number of blocks that have to fit on a multiprocessor at once.
    `cluster`: the number of consecutive blocks that run together and access each other's shared
    memory. `multiply_adds` is the work of the kernel, for predictions of its time. `cycles` is the
    predicted time of one thread of a CPU for the whole `extent`, at the largest sizes: the loop is
    divided only where that saves more than starting a second thread takes.

        kernel.func @relu(%x: memref<8xf32> {kernel.read}, %y: memref<8xf32>)
            attributes {strategy = "elementwise"} { ...  kernel.return }
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<StrAttr>:$strategy,
    OptionalAttr<DictionaryAttr>:$plan,
    OptionalAttr<StrAttr>:$comment,
    OptionalAttr<Kernel_SizesAttr>:$sizes,
    OptionalAttr<AnyAttrOf<[ConfinedAttr<IndexAttr, [IntNonNegative]>, Kernel_SizesAttr]>>:$extent,
    OptionalAttr<ConfinedAttr<I64Attr, [IntPositive, IntMaxValue<1024>]>>:$threads,
    OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$resident,
    OptionalAttr<ConfinedAttr<I64Attr, [IntMinValue<2>, IntMaxValue<8>]>>:$cluster,
    OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$multiply_adds,
    OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$cycles,
    OptionalAttr<TypedArrayAttrBase<DenseI64ArrayAttr, "strides of each input">>:$input_strides,
    OptionalAttr<DenseI64ArrayAttr>:$output_strides,
    OptionalAttr<StrAttr>:$sym_visibility,
    OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type)>];
}

def Kernel_ProgramOp : Kernel_Function<"program"> {
  let summary = "A sequence of launches; a public program is an entry point";
  let description = [{
    Before `plan` it computes on tensors and returns them. Afterwards its arguments
    are the buffers of the caller, inputs before outputs; everything else is a
    constant, a buffer in the arena, in VTCM or in host memory, or a view of these. The
    attributes hold the sizes of both memories, a lower bound of the arena for any
    plan, and the bytes that are live at each launch.
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$arena_bytes,
    OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$arena_align,
    OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$arena_lower_bound,
    OptionalAttr<DenseI64ArrayAttr>:$arena_use,
    OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$second_bytes,
    OptionalAttr<StrAttr>:$sym_visibility,
    OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type)>];
}

def Kernel_ReturnOp : Kernel_Op<"return", [
    Pure, ReturnLike, Terminator, ParentOneOf<["FuncOp", "ProgramOp", "ParallelOp"]>]> {
  let summary = "Ends a kernel, a program or a shared step";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let hasVerifier = 1;
}

def Kernel_ParallelOp : Kernel_Op<"parallel", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "A step within a kernel whose iterations threads share";
  let description = [{
    A kernel of sequential steps, such as a recurrence, whose steps read the results of
    previous ones, has no parallel loop around them (`extent`). Here threads share one
    step: the body executes iterations [begin, end) of [0, extent), and all are
    complete after the operation. `cycles` is the predicted time of one thread for all
    iterations. Not `scf.parallel` or `scf.forall`, whose bodies execute a single iteration.

        kernel.parallel 8 {
        ^bb0(%begin: index, %end: index):
          ...
          kernel.return
        }
  }];
  let arguments = (ins
    ConfinedAttr<I64Attr, [IntPositive]>:$extent,
    OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$cycles);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$extent attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Kernel_ArenaOp : Kernel_Op<"arena", [Pure]> {
  let summary = "A buffer at a fixed byte offset of the arena";
  let description = [{
    Not `memref.view` of a `memref<?xi8>` argument: the arena is not an argument
    that anything else may read; its offset is a constant that the planner chose
    and tests read; `memref.view` needs an SSA value for the offset and supports
    no strided layout, which slices of a concatenation have.

        %a = kernel.arena 3136 : memref<1x14x14x8xf32>

    With `second_memory` the offset is one in VTCM, which the caller provides beside the arena,
    or, for a GPU target, in host memory.
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$offset, UnitAttr:$second_memory);
  let results = (outs AnyStaticShapeMemRef:$result);
  let assemblyFormat = "$offset (`second_memory` $second_memory^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Kernel_ViewOp : Kernel_Op<"view", [Pure, ViewLikeOpInterface]> {
  let summary = "The bytes of a buffer with another type";
  let description = [{
    Reshape, squeeze, the layouts of one-channel tensors and the slices of a concatenation
    or split share bytes. Upstream has `memref.collapse_shape` and `expand_shape` (a pair
    of them with reassociation maps for one reshape), `subview` and `reinterpret_cast`
    (elements, not bytes, and never another element type), so a reshape would be three
    operations. Here the result is a buffer of its own type over the bytes of `source` from
    byte `offset` on.

        %v = kernel.view %x : memref<1x1x28x28xf32> to memref<1x28x28x1xf32>
        %h = kernel.view %x at 128 : memref<64xf32> to memref<2x16xf32>
  }];
  let arguments = (ins
    AnyStaticShapeMemRef:$source,
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$offset);
  let results = (outs AnyStaticShapeMemRef:$result);
  let assemblyFormat = [{
    $source (`at` $offset^)? attr-dict `:` type($source) `to` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$source), [{
    build($_builder, $_state, result, source, /*offset=*/0);
  }]>];
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getViewSource() { return getSource(); }
    ::mlir::Value getViewDest() { return getResult(); }
  }];
}

def Kernel_LaunchOp : Kernel_Op<"launch", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Runs a kernel, in parallel if it has an extent";
  let description = [{
    Not `func.call`, for these reasons: the launch is on tensors (its results are the
    trailing arguments of the callee) until the planner assigns buffers; the arguments
    [begin, end) of a parallel kernel are passed by the runner, not by the launch; a
    kernel for several shapes takes buffers of any size, followed by the integers `values`
    that its code is parameterized by; `inplace` lists which result may reuse which
    operand's buffer, as flat pairs (result, operand); with `appends` the only result is
    the buffer of the first operand, which persists between runs; with `second_memory` the first
    result is in VTCM or, for a GPU target, in host memory.

    Consecutive launches with the same `fork` form branches: those of one `branch` run one
    after the other, different branches concurrently. Everything before a fork completes
    before it begins, and all its branches complete before the next operation.

    Consecutive launches with the same `team` are steps of a worker group: its threads are
    started once, and synchronize after each step.

        %y = kernel.launch @relu(%x) {inplace = array<i64: 0, 0>}
             : (tensor<8xf32>) -> tensor<8xf32>
        kernel.launch @relu(%a, %b) : (memref<8xf32>, memref<8xf32>) -> ()
        kernel.launch @any_relu(%a, %b) {values = array<i64: 8>}
             : (memref<8xf32>, memref<8xf32>) -> ()
        kernel.launch @relu(%c, %d) {fork = 0 : i64, branch = 1 : i64}
             : (memref<8xf32>, memref<8xf32>) -> ()
        kernel.launch @relu(%e, %f) {team = 0 : i64}
             : (memref<8xf32>, memref<8xf32>) -> ()
  }];
  let arguments = (ins
    FlatSymbolRefAttr:$callee,
    Variadic<AnyTypeOf<[AnyStaticShapeMemRef, AnyStaticShapeTensor]>>:$operands,
    OptionalAttr<DenseI64ArrayAttr>:$inplace,
    OptionalAttr<DenseI64ArrayAttr>:$values,
    OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$fork,
    OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$branch, UnitAttr:$second_memory,
    OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$team, UnitAttr:$appends);
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$results,
                                 "::mlir::FlatSymbolRefAttr":$callee,
                                 "::mlir::ValueRange":$operands,
                                 "::mlir::DenseI64ArrayAttr":$inplace), [{
    build($_builder, $_state, results, callee, operands, inplace,
          /*values=*/::mlir::DenseI64ArrayAttr(), /*fork=*/::mlir::IntegerAttr(),
          /*branch=*/::mlir::IntegerAttr(), /*secondMemory=*/::mlir::UnitAttr(),
          /*team=*/::mlir::IntegerAttr(), /*appends=*/::mlir::UnitAttr());
  }]>];
  let results = (outs Variadic<AnyStaticShapeTensor>:$results);
  let assemblyFormat = [{
    $callee `(` $operands `)` attr-dict `:` functional-type($operands, $results)
  }];
  let hasVerifier = 1;
}

def Kernel_Value : AnyTypeOf<[AnyStaticShapeMemRef, AnyStaticShapeTensor]>;

/// Runs other programs of the module, like `graph.if` and `graph.loop`. On
/// buffers, `outputs` are the buffers of the results, auxiliary buffers, and
/// the frame: the part of the caller's arena that the programs use as their
/// arena.
class Kernel_ControlOp<string mnemonic, list<Trait> traits = []> : Kernel_Op<mnemonic,
    !listconcat([DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                 DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                 AttrSizedOperandSegments], traits)> {
  let results = (outs Variadic<AnyStaticShapeTensor>:$results);
}

def Kernel_PrefetchOp : Kernel_Op<"prefetch", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Prefetches bytes into the second-level cache";
  let description = [{
    Prefetches `bytes` bytes from an element on; without indices, from the first
    one. Not `memref.prefetch`, which names one element: processors that fetch in
    the background take a whole range. It has no effect on values, but must not be
    moved.

        kernel.prefetch %weights, 36864 : memref<36864xi8>
        kernel.prefetch %weights[%panel, %zero], 4096 : memref<9x4096xi8>
  }];
  let arguments = (ins Kernel_Buffer:$buffer, Variadic<Index>:$indices,
                       ConfinedAttr<I64Attr, [IntPositive]>:$bytes);
  let assemblyFormat = [{
    $buffer (`[` $indices^ `]`)? `,` $bytes attr-dict `:` type($buffer)
  }];
}

def Kernel_IfOp : Kernel_ControlOp<"if"> {
  let summary = "Runs one of two programs, depending on a condition";
  let description = [{
    Not `scf.if`: its regions would see the surrounding buffers, so that no branch
    could be read, planned or tested alone, and equal branches could not be shared.
    The last of the outputs is the frame, as large as the larger of the two arenas;
    there is none if neither program needs memory.

        kernel.if %c then @negative else @positive (%x) to (%y, %frame)
            : (memref<i1>, memref<8xf32>, memref<8xf32>, memref<256xi8>) -> ()
  }];
  let arguments = (ins
    Kernel_Value:$condition,
    FlatSymbolRefAttr:$then_body, FlatSymbolRefAttr:$else_body,
    Variadic<Kernel_Value>:$captures, Variadic<AnyStaticShapeMemRef>:$outputs);
  let assemblyFormat = [{
    $condition `then` $then_body `else` $else_body `(` $captures `)`
    (`to` `(` $outputs^ `)`)? attr-dict `:` functional-type(operands, $results)
  }];
}

def Kernel_LoopOp : Kernel_ControlOp<"loop"> {
  let summary = "Runs a program repeatedly";
  let description = [{
    Like `graph.loop`; not `scf.while`, for the same reasons as `kernel.if`. Outputs
    are the carried tensors after the last iteration and the stacked tensors; then a
    second buffer for each carried tensor, since iterations alternate between the two;
    then the frame, if the body needs memory. Slices of sliced and stacked tensors are
    pointers into these tensors. `elements` has the number of elements of each carried
    tensor to copy if there is no iteration; by default all.

        kernel.loop @step count #kernel.sizes<64> carried(%h0) sliced(%x) shared(%w)
            to (%h, %all, %other_h, %frame) : (..) -> ()
  }];
  let arguments = (ins
    FlatSymbolRefAttr:$body, OptionalAttr<Kernel_SizesAttr>:$count,
    UnitAttr:$counted, UnitAttr:$conditional,
    OptionalAttr<DenseBoolArrayAttr>:$reversed,
    Optional<Kernel_Value>:$limit, Optional<Kernel_Value>:$condition,
    Variadic<Kernel_Value>:$carried, Variadic<Kernel_Value>:$sliced,
    Variadic<Kernel_Value>:$shared, Variadic<AnyStaticShapeMemRef>:$outputs,
    OptionalAttr<Kernel_SizesAttr>:$elements);
  let assemblyFormat = [{
    $body (`count` $count^)? (`counted` $counted^)? (`conditional` $conditional^)?
    (`reversed` $reversed^)? (`limit` `(` $limit^ `)`)? (`if` `(` $condition^ `)`)?
    (`carried` `(` $carried^ `)`)? (`sliced` `(` $sliced^ `)`)? (`shared` `(` $shared^ `)`)?
    (`to` `(` $outputs^ `)`)? attr-dict `:` functional-type(operands, $results)
  }];
}

def Kernel_ReadSizesOp : Kernel_Op<"read_sizes", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Integers that define dynamic sizes from here on";
  let description = [{
    Like `graph.read_sizes`. Not `memref.load`: the value is not an operand of later
    launches, whose kernels name the symbols that they use, as for sizes given by the
    caller; and a size out of its bounds ends the run with INGOT_ERROR_SHAPE.

        kernel.read_sizes %count : memref<1xi64> as #kernel.sizes<"found" in 0 to 64 : s0>
  }];
  let arguments = (ins Kernel_Value:$counts, Kernel_SizesAttr:$sizes);
  let assemblyFormat = "$counts `:` type($counts) `as` $sizes attr-dict";
  let hasVerifier = 1;
}

def Kernel_CheckSizesOp : Kernel_Op<"check_sizes", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Dynamic sizes that have to be equal";
  let description = [{
    Like `graph.check_sizes`: if the sizes of a pair differ, the run ends with
    INGOT_ERROR_SHAPE.

        kernel.check_sizes #kernel.sizes<"m" in 1 to 8, "n" in 1 to 8 : s0, s1>
  }];
  let arguments = (ins Kernel_SizesAttr:$pairs);
  let assemblyFormat = "$pairs attr-dict";
  let hasVerifier = 1;
}

def Kernel_CursorOp : Kernel_Op<"cursor", [AttrSizedOperandSegments]> {
  let summary = "A pointer variable into a buffer";
  let description = [{
    Small cores read through pointers with post-increment, one register each,
    and can load several registers at once; indices express neither. A cursor is
    a mutable pointer: each `kernel.load_next` reads elements at the cursor and
    advances it past them. If the condition of the cursor is false, it points at
    the start of another buffer instead, for example zeros in place of padding.

        %c = kernel.cursor %x[%i, %j] : memref<8x16xf32>
        %d = kernel.cursor %x[%i, %j] if %inside else %zeros
             : memref<8x16xf32>, memref<16xf32>
  }];
  let arguments = (ins
    Arg<Kernel_Buffer, "", [MemRead]>:$source, Variadic<Index>:$indices,
    Optional<I1>:$condition,
    Arg<Optional<Kernel_Buffer>, "", [MemRead]>:$otherwise);
  let results = (outs Res<Kernel_Cursor, "", [MemAlloc]>:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` (`if` $condition^ `else` $otherwise)? attr-dict
    `:` type($source) (`,` type($otherwise)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_LoadNextOp : Kernel_Op<"load_next"> {
  let summary = "Loads one or more elements at a cursor and advances it";
  let description = [{
    One result: an element, or a vector. Several scalar results: consecutive elements in
    the target's load registers from number `first` on; such a result is valid until the
    next load to its register. Several vector results, each as wide as a core register,
    are not bound to registers.

        %x = kernel.load_next %c : f32
        %w:4 = kernel.load_next %c to 12 : f32, f32, f32, f32
  }];
  let arguments = (ins
    Arg<Kernel_Cursor, "", [MemRead, MemWrite]>:$cursor,
    OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$first);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $cursor (`to` $first^)? attr-dict `:` type($results)
  }];
  let hasVerifier = 1;
}

include "dialects/kernel/VectorOps.td"

def Kernel_CallExternalOp : Kernel_Op<"call_external", [AttrSizedOperandSegments]> {
  let summary = "Calls a C function of the user";
  let description = [{
    Not `func.call`: the same function is called with buffers of different shapes, whose
    pointers have the C types of `elements` (with signs), and with constants, of which lists
    become arrays. `names` are the names of the parameters: inputs, outputs, sizes, constants.

        kernel.call_external "my_scale"(%x) to (%y) sizes(%n) [2.0 : f32] names ["x", "y", "n", "factor"]
            elements [f32, f32] : (memref<8xf32>) to (memref<8xf32>)
  }];
  let arguments = (ins
    StrAttr:$function, Arg<Variadic<Kernel_Buffer>, "", [MemRead]>:$inputs,
    Arg<Variadic<Kernel_Buffer>, "", [MemRead, MemWrite]>:$outputs, Variadic<Index>:$sizes,
    ArrayAttr:$constants, StrArrayAttr:$names, TypeArrayAttr:$elements);
  let assemblyFormat = [{
    $function `(` $inputs `)` `to` `(` $outputs `)` (`sizes` `(` $sizes^ `)`)? $constants `names` $names
    `elements` $elements attr-dict `:` `(` type($inputs) `)` `to` `(` type($outputs) `)`
  }];
  let hasVerifier = 1;
}

def Kernel_RequireEqualOp : Kernel_Op<"require_equal", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Ends the run unless an input has its compile-time value";
  let description = [{
    An input that determines shapes can be fixed at compile time (`--bind`); the
    generated function must then reject any other value. `cf.assert` would abort
    the process; generated code never aborts, but returns
    INGOT_ERROR_SPECIALIZED. Precedes all launches of the main function.

        kernel.require_equal %n, dense<[2, 3]> : tensor<2xi64>, "shape"
            : memref<2xi64>
  }];
  let arguments = (ins
    AnyStaticShapeMemRef:$input, ElementsAttr:$expected, StrAttr:$message);
  let assemblyFormat = [{
    $input `,` $expected `,` $message attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
}

include "dialects/kernel/StringOps.td"
include "dialects/kernel/WarpOps.td"
include "dialects/kernel/WarpgroupOps.td"

#endif // INGOT_DIALECTS_KERNEL_KERNELOPS_TD
