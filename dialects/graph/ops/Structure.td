// Constants, fusion groups, and functions that run on a condition or repeatedly.

include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Graph_ConstantOp : Graph_Op<"constant", [Pure, ConstantLike, Graph_InferredTypes]> {
  let summary = "A weight or another constant; its data is a resource blob";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Graph_SizesOp : Graph_ElementOp<"sizes", [Graph_RunTimeSizes,
    DeclareOpInterfaceMethods<ElementOpInterface, ["passesLanes"]>], Graph_StatedTypes> {
  let summary = "Sizes that are known only at run time, as a tensor of integers";
  let description = [{
    The shape of a tensor, or what follows from it, in row-major order. Where such
    integers decide shapes, import functions read the expressions; what is left is
    computed when the program runs.

        graph.sizes {sizes = #kernel.sizes<"n" in 1 to 64 : s0, 28>} : () -> tensor<2xsi64>
  }];
  let arguments = (ins Graph_SizesAttr:$sizes);
}

def Graph_ReadSizesOp : Graph_Op<"read_sizes", [MemoryEffects<[MemWrite]>]> {
  let summary = "Integers that are sizes of the run from here on";
  let description = [{
    The elements of `counts` are, in row-major order, the `sizes`: a symbol that nothing has
    given a value yet has it from here on, and anything else has to be equal. A run ends
    with an error if it is not, or if a symbol is out of its bounds. Symbols of inputs
    have their values from the beginning; these are the others: what is counted (NonZero),
    and shapes that are tensors.

        graph.read_sizes %count {sizes = #kernel.sizes<"found" in 0 to 64 : s0>} : (tensor<1xsi64>) -> ()
  }];
  let arguments = (ins StaticShapeTensorOf<[SI64]>:$counts, Graph_SizesAttr:$sizes);
  let hasVerifier = 1;
}

def Graph_CheckSizesOp : Graph_Op<"check_sizes", [MemoryEffects<[MemWrite]>]> {
  let summary = "Sizes of the run that have to be equal";
  let description = [{
    A run ends here with an error if the two of a pair differ: the first size and the second
    one, the third and the fourth, and so on.

        graph.check_sizes {pairs = #kernel.sizes<"m" in 1 to 8, "n" in 1 to 8 : s0, s1>} : () -> ()
  }];
  let arguments = (ins Graph_SizesAttr:$pairs);
  let hasVerifier = 1;
}

def Graph_GroupOp : Graph_Op<"group", [IsolatedFromAbove, Pure, SingleBlock]> {
  let summary = "Operators that become one kernel";
  let description = [{
    The body's arguments are the operands, in order; it ends with `graph.yield`
    of the results. `strategy` names the kernel strategy that was chosen for it,
    and `plan` holds the numbers that the strategy builds the kernel by (which ones
    these are, and what they can be, is said and checked by the strategy).
    With `output_strides` (in elements) the one result is part of a larger tensor:
    a concatenation outside of any group, which then costs nothing. With
    `input_strides` (an array of strides for each operand, empty for one in row-major
    order) operands are parts of larger tensors: slices outside of any group. With `near`
    the one result is in near memory, which the target's vectors read fastest. A body of
    groups is a chain: one kernel that runs these stages in turn for some rows each, with
    their own strategies and plans.
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, StrAttr:$strategy,
                   OptionalAttr<DenseI64ArrayAttr>:$output_strides,
                   OptionalAttr<ArrayAttr>:$input_strides,
                   OptionalAttr<DictionaryAttr>:$plan, UnitAttr:$near);
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

/// Runs private functions of the module. It is no value of its operands alone, so it is
/// not `Pure` and never evaluated when compiling; without users it may go.
class Graph_ControlOp<string mnemonic, list<Trait> traits = []> : Graph_Op<mnemonic,
    !listconcat([NoMemoryEffect, DeclareOpInterfaceMethods<SymbolUserOpInterface>], traits)>;

def Graph_IfOp : Graph_ControlOp<"if"> {
  let summary = "The results of one of two functions, as a condition says";
  let description = [{
    Both functions take all operands behind the condition and return the results.

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
  let summary = "A function that runs repeatedly: Loop and Scan";
  let description = [{
    The body is a function

        @body([iteration,] carried.., parts of sliced.., shared..)
            -> ([goes on,] carried.., parts of stacked..)

    In iteration i the parts are x[i] of the tensors `sliced`, and what becomes y[i]
    of the last results, which are as many as the body returns. With `reversed`, a list
    with an entry for each sliced and each stacked tensor, parts are taken or put from
    the end. The first results are what is carried after the last iteration, or at the
    beginning if there is none. The body takes the number of the iteration if it is
    `counted`, and returns whether another iteration follows if it is `conditional`.

    At most `count` iterations run, at most `limit` if that is given, none if the
    `condition` does not hold. Stacked tensors are as long as `count`; where a loop ends
    earlier, what is behind the parts of its iterations is any numbers.

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
    /// The results that each iteration writes a part of.
    ::mlir::ResultRange getStacked() { return getOutputs().drop_front(getCarried().size()); }
  }];
}
