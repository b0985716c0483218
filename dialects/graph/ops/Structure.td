// Operators for constants, dynamic sizes, fusion groups, and control flow,
// whose bodies are functions.

include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Graph_ConstantOp : Graph_Op<"constant", [Pure, ConstantLike, Graph_InferredTypes]> {
  let summary = "A weight or another constant; its data may be a resource blob";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Graph_SizesOp : Graph_ElementOp<"sizes", [Graph_DynamicSizes,
    DeclareOpInterfaceMethods<ElementOpInterface, ["passesLanes"]>], Graph_StatedTypes> {
  let summary = "Dynamic sizes as a tensor of integers";
  let description = [{
    The shape of a tensor, or values computed from it, in row-major order. Where such integers
    determine shapes, import functions read the expressions; all other integers are computed
    at run time.

        graph.sizes {sizes = #kernel.sizes<"n" in 1 to 64 : s0, 28>} : () -> tensor<2xsi64>
  }];
  let arguments = (ins Graph_SizesAttr:$sizes);
}

def Graph_ReadSizesOp : Graph_Op<"read_sizes", [MemoryEffects<[MemWrite]>]> {
  let summary = "Integers that define dynamic sizes from here on";
  let description = [{
    The elements of `counts` are, in row-major order, the values of `sizes`: a symbol
    without a value gets it here, and any other expression must be equal. The run ends with
    an error if it is not, or if a symbol is out of its bounds. Symbols of inputs have their
    values from the beginning; this operator defines the others: data-dependent sizes
    (NonZero), and shapes given as tensors.

        graph.read_sizes %count {sizes = #kernel.sizes<"found" in 0 to 64 : s0>} : (tensor<1xsi64>) -> ()
  }];
  let arguments = (ins StaticShapeTensorOf<[SI64]>:$counts, Graph_SizesAttr:$sizes);
  let hasVerifier = 1;
}

def Graph_CheckSizesOp : Graph_Op<"check_sizes", [MemoryEffects<[MemWrite]>]> {
  let summary = "Dynamic sizes that have to be equal";
  let description = [{
    The run ends with an error if the two sizes of a pair differ: the first and the second
    one, the third and the fourth, and so on.

        graph.check_sizes {pairs = #kernel.sizes<"m" in 1 to 8, "n" in 1 to 8 : s0, s1>} : () -> ()
  }];
  let arguments = (ins Graph_SizesAttr:$pairs);
  let hasVerifier = 1;
}

def Graph_CallExternalOp : Graph_Op<"call_external", [
    NoMemoryEffect, Graph_StatedTypes, Graph_DynamicSizes, DeclareOpInterfaceMethods<BodyOpInterface>]> {
  let summary = "Calls a C function of the user: a custom operator";
  let description = [{
    The function gets pointers to the inputs and to the results, then the numbers `sizes`,
    then, with `parallel`, the number of the call, then `constants` (the attributes of the
    ONNX node: i64, f32, strings, lists of numbers). `names` has the name of each parameter,
    for the declaration in C. Tensors have no gaps: one with several dynamic axes is a flat
    axis. The last result may be scratch memory, which nobody reads afterwards.

    With `parallel` the function is called once for each number below that size, by any
    thread and in any order.

    The values are never computed at compile time, so the operator is not `Pure`.

        %y = graph.call_external %x {function = "my_scale", names = ["x", "y", "n", "factor"],
               sizes = #kernel.sizes<8>, constants = [2.0 : f32]}
             : (tensor<8xf32>) -> tensor<8xf32>
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, StrAttr:$function, StrArrayAttr:$names,
                   OptionalAttr<Graph_SizesAttr>:$sizes, OptionalAttr<Graph_SizesAttr>:$parallel,
                   ArrayAttr:$constants);
  let results = (outs Variadic<Graph_Tensor>:$outputs);
}

def Graph_GroupOp : Graph_Op<"group", [IsolatedFromAbove, Pure, SingleBlock]> {
  let summary = "Operators that become one kernel: a fusion group";
  let description = [{
    The body's arguments are the operands, in order; it ends with `graph.yield` of the
    results. `strategy` names the kernel strategy chosen for the group, and `plan` holds
    the parameters by which the strategy builds the kernel (the strategy defines and
    checks them). With `output_strides` (in elements) the single result is a slice of a
    larger tensor: a concatenation outside of any group, which costs nothing. With
    `input_strides` (an array of strides for each operand, empty for one in row-major
    order) operands are slices of larger tensors. With `second_memory` the single result is in
    VTCM or other fast local memory of the target, which vectors read fastest. If the
    body consists of groups, they form a chain (patch-based execution): one kernel that
    computes a row band of each group in turn, each with its own strategy and plan.
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, StrAttr:$strategy,
                   OptionalAttr<DenseI64ArrayAttr>:$output_strides,
                   OptionalAttr<ArrayAttr>:$input_strides,
                   OptionalAttr<DictionaryAttr>:$plan, UnitAttr:$second_memory);
  let results = (outs Variadic<Graph_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
  let assemblyFormat = "$strategy `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs) $body";
}

def Graph_YieldOp : Graph_Op<"yield", [Pure, Terminator, ParentOneOf<["GroupOp"]>]> {
  let summary = "The results of a group";
  let arguments = (ins Variadic<Graph_Tensor>:$values);
  let assemblyFormat = "operands attr-dict `:` type(operands)";
}

/// An operator that calls private functions of the module. Its results do not
/// depend on its operands alone, so it is not `Pure` and is never
/// constant-folded. It may be erased if it has no users.
class Graph_ControlOp<string mnemonic, list<Trait> traits = []> : Graph_Op<mnemonic,
    !listconcat([NoMemoryEffect, DeclareOpInterfaceMethods<SymbolUserOpInterface>], traits)>;

def Graph_IfOp : Graph_ControlOp<"if"> {
  let summary = "Calls one of two functions, depending on a condition";
  let description = [{
    Both functions take all operands after the condition and return the results.

        %y = graph.if %c then @negative else @positive (%x)
             : (tensor<i1>, tensor<8xf32>) -> tensor<8xf32>
  }];
  let arguments = (ins StaticShapeTensorOf<[I1]>:$condition,
                   FlatSymbolRefAttr:$then_body, FlatSymbolRefAttr:$else_body,
                   Variadic<Graph_Tensor>:$captures);
  let results = (outs Variadic<Graph_Tensor>:$outputs);
  let assemblyFormat = [{
    $condition `then` $then_body `else` $else_body `(` $captures `)` attr-dict
    `:` functional-type(operands, $outputs)
  }];
}

def Graph_LoopOp : Graph_ControlOp<"loop", [AttrSizedOperandSegments]> {
  let summary = "Calls a function repeatedly: ONNX Loop and Scan";
  let description = [{
    The body is a function

        @body([iteration,] carried.., slices of sliced.., shared..)
            -> ([continue,] carried.., slices of stacked..)

    Iteration i gets the slices x[i] of the tensors `sliced`, and its last results
    become the slices y[i] of the stacked results. With `reversed`, a list with an
    entry for each sliced and each stacked tensor, slices are taken or stored from the
    end. The first results are the values carried after the last iteration, or the
    initial ones if there is none. The body takes the number of the iteration if the
    loop is `counted`, and returns whether another iteration follows if it is
    `conditional`.

    At most `count` iterations run, at most `limit` if given, none if `condition` is
    false. Stacked tensors have length `count`; if the loop ends earlier, the remaining
    slices are undefined.

        %h, %all = graph.loop @step count #kernel.sizes<64> carried(%h0) sliced(%x)
            shared(%w) : (tensor<8xf32>, tensor<64x8xf32>, tensor<8xf32>)
            -> (tensor<8xf32>, tensor<64x8xf32>)
  }];
  let arguments = (ins FlatSymbolRefAttr:$body, OptionalAttr<Graph_SizesAttr>:$count,
                   UnitAttr:$counted, UnitAttr:$conditional,
                   OptionalAttr<DenseBoolArrayAttr>:$reversed,
                   Optional<StaticShapeTensorOf<[SI64]>>:$limit,
                   Optional<StaticShapeTensorOf<[I1]>>:$condition,
                   Variadic<Graph_Tensor>:$carried, Variadic<Graph_Tensor>:$sliced,
                   Variadic<Graph_Tensor>:$shared);
  let results = (outs Variadic<Graph_Tensor>:$outputs);
  let assemblyFormat = [{
    $body (`count` $count^)? (`counted` $counted^)? (`conditional` $conditional^)?
    (`reversed` $reversed^)? (`limit` `(` $limit^ `)`)? (`if` `(` $condition^ `)`)?
    (`carried` `(` $carried^ `)`)? (`sliced` `(` $sliced^ `)`)? (`shared` `(` $shared^ `)`)?
    attr-dict `:` functional-type(operands, $outputs)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the results that consist of one slice for each iteration.
    ::mlir::ResultRange getStacked() { return getOutputs().drop_front(getCarried().size()); }
  }];
}
