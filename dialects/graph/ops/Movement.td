// Operators that only move elements.
//
// Every element of the result is an element of an operand, or a fill value: the
// operators only map indices. Attributes refer to the axes of the result and
// are normalized: they have no negative axes, no bounds outside of the tensor,
// and no ONNX defaults.

class Graph_Move<string mnemonic, list<Trait> traits = [], Trait types = Graph_InferredTypes>
    : Graph_ElementOp<mnemonic, !listconcat([DeclareOpInterfaceMethods<ElementOpInterface, ["passesLanes"]>], traits),
                      types>;

/// Operators that move elements along each axis independently. To build such an
/// operator on an operand with permuted axes, its attributes are permuted in
/// the same way.
class Graph_AxisMove<string mnemonic, list<Trait> traits = [], Trait types = Graph_InferredTypes>
    : Graph_Move<mnemonic, !listconcat([DeclareOpInterfaceMethods<PermuteOpInterface, ["permutesOperand"]>], traits),
                 types>;

def Graph_TransposeOp : Graph_Move<"transpose", [Graph_DynamicSizes]> {
  let summary = "Axis k of the result is axis perm[k] of the operand";
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$perm);
  let hasFolder = 1;
}

def Graph_ReshapeOp : Graph_Move<"reshape", [Graph_DynamicSizes], Graph_StatedTypes> {
  let summary = "The same elements in row-major order, with the shape of the result";
  let arguments = (ins Graph_Tensor:$x);
  let builders = [OpBuilder<(ins "::mlir::Value":$x, "::llvm::ArrayRef<int64_t>":$shape)>,
                  OpBuilder<(ins "::mlir::Value":$x, "::llvm::ArrayRef<::ingot::graph::Dim>":$sizes)>];
  let hasFolder = 1;
}

def Graph_RefillOp : Graph_Move<"refill", [Graph_DynamicSizes], Graph_StatedTypes> {
  let summary = "The same elements in row-major order, with the shape of the result, moved in memory";
  let description = [{
    A reshape that merges or splits axes of dynamic size: memory is laid out for
    the maximum sizes, so the elements move.

        graph.refill %x : (tensor<8x64xf32, #kernel.sizes<"n" in 1 to 64 : 8, s0>>)
            -> tensor<512xf32, #kernel.sizes<"n" in 1 to 64 : s0 * 8>>
  }];
  let arguments = (ins Graph_Tensor:$x);
  let builders = [OpBuilder<(ins "::mlir::Value":$x, "::llvm::ArrayRef<::ingot::graph::Dim>":$sizes)>];
  let hasFolder = 1;
}

def Graph_WithRoomOp : Graph_BodyOp<"with_room", [Graph_DynamicSizes], Graph_StatedTypes> {
  let summary = "The operand's elements, followed by uninitialized memory up to a fixed size";
  let description = [{
    Converts a value of dynamic size to a type of constant size (for example the result of
    one of two branches). Only the actual elements are copied; nothing may read the rest.

        graph.with_room %x : (tensor<64xf32, #kernel.sizes<"n" in 0 to 64 : s0>>) -> tensor<300xf32>
  }];
  let arguments = (ins Graph_Tensor:$x);
  let results = (outs Graph_Tensor:$result);
}

def Graph_SliceOp : Graph_AxisMove<"slice", [Graph_DynamicSizes], Graph_StatedTypes> {
  let summary = "Elements starts[k] + i * steps[k] of each axis k; steps may be negative";
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$steps);
  let builders = [OpBuilder<(ins "::mlir::Value":$x, "::llvm::ArrayRef<int64_t>":$starts,
                                 "::llvm::ArrayRef<int64_t>":$steps, "::llvm::ArrayRef<int64_t>":$sizes)>,
                  OpBuilder<(ins "::mlir::Value":$x, "::llvm::ArrayRef<int64_t>":$starts,
                                 "::llvm::ArrayRef<int64_t>":$steps, "::llvm::ArrayRef<::ingot::graph::Dim>":$sizes)>];
  let hasFolder = 1;
}

def Graph_ConcatOp : Graph_AxisMove<"concat", [Graph_DynamicSizes]> {
  let summary = "Concatenation of the operands along an axis";
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, I64Attr:$axis);
  let hasFolder = 1;
}

def Graph_PadOp : Graph_AxisMove<"pad", [Graph_DynamicSizes], Graph_StatedTypes> {
  let summary = "Pads each axis k with low[k] elements before, and up to the result's size after";
  let description = [{
    `low` is not negative (cropping is a slice). Modes: `constant` (the scalar
    `value`), `reflect` (without repeating the edge), `edge`, `wrap`.
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$value, DenseI64ArrayAttr:$low,
                   DefaultValuedStrAttr<Graph_Choice<["constant", "reflect", "edge", "wrap"]>, "constant">:$mode);
  let builders = [OpBuilder<(ins "::mlir::Value":$x, "::mlir::Value":$value, "::llvm::ArrayRef<int64_t>":$low,
                                 "::llvm::ArrayRef<int64_t>":$high, CArg<"::llvm::StringRef", "\"constant\"">:$mode)>];
  let hasFolder = 1;
}

def Graph_ExpandOp : Graph_AxisMove<"expand", [Graph_DynamicSizes], Graph_StatedTypes> {
  let summary = "The operand broadcast to the shape of the result by NumPy's rule";
  let description = [{
    A dynamic size of the operand may be 1 or the size of the result; the
    program checks that it is one of the two.
  }];
  let arguments = (ins Graph_Tensor:$x);
  let builders = [OpBuilder<(ins "::mlir::Value":$x, "::llvm::ArrayRef<int64_t>":$shape)>,
                  OpBuilder<(ins "::mlir::Value":$x, "::llvm::ArrayRef<::ingot::graph::Dim>":$sizes)>];
  let hasFolder = 1;
}

def Graph_TileOp : Graph_AxisMove<"tile", [Graph_DynamicSizes], Graph_StatedTypes> {
  let summary = "The operand repeated along each axis up to the size of the result";
  let arguments = (ins Graph_Tensor:$x);
  let builders = [OpBuilder<(ins "::mlir::Value":$x, "::llvm::ArrayRef<::ingot::kernel::Dim>":$sizes)>];
  let extraClassDeclaration = [{
    /// Whether `tiled` is known to be a multiple of `size`, for all values of
    /// dynamic sizes.
    static bool isMultiple(const ::ingot::kernel::Dim &tiled, const ::ingot::kernel::Dim &size);
  }];
  let hasFolder = 1;
}

def Graph_GatherOp : Graph_AxisMove<"gather", [Graph_DynamicSizes]> {
  let summary = "Slices of the operand at `indices` along an axis";
  let description = [{
    The result has the axes of `indices` in place of `axis`. Negative indices
    count from the end; any other index out of range is clamped, so that no
    memory outside of the operand is accessed. `in_range` states that all
    indices are known to be in [0, size).
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Integers:$indices, I64Attr:$axis, UnitAttr:$in_range);
}
