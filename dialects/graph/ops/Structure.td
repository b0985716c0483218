// Constants and fusion groups.

include "mlir/IR/RegionKindInterface.td"
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
    order) operands are parts of larger tensors: slices outside of any group.
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, StrAttr:$strategy,
                   OptionalAttr<DenseI64ArrayAttr>:$output_strides,
                   OptionalAttr<ArrayAttr>:$input_strides,
                   OptionalAttr<DictionaryAttr>:$plan);
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
