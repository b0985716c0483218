// MLIR interfaces by which an operator of the graph dialect states how its
// results are computed.

#ifndef INGOT_GRAPH_INTERFACES_TD
#define INGOT_GRAPH_INTERFACES_TD

include "mlir/IR/OpBase.td"

def ElementOpInterface : OpInterface<"ElementOpInterface"> {
  let cppNamespace = "::ingot::graph";
  let description = [{
    An operator with one result whose elements can be computed one by one. The
    definition requests elements of its operands, so chains of such operators
    fuse by recursion. In lane mode (`b.lanes() > 1`) the last index stands for
    that many consecutive elements, and loads return vectors.
  }];
  let methods = [
    InterfaceMethod<"The element of the result at `idx`.",
      "::ingot::graph::Expr", "emitElement",
      (ins "::ingot::graph::ElementBuilder &":$b,
           "::llvm::ArrayRef<::ingot::graph::Expr>":$idx)>,
    InterfaceMethod<
      "Whether emitElement may be called in lane mode: the last index of the "
      "result must reach each operand's last index plus a constant, or not at "
      "all. Otherwise lanes are gathered one by one.",
      "bool", "passesLanes", (ins), "", "return false;">,
    InterfaceMethod<
      "Whether computing an element costs about as much as loading one: such "
      "an operator may be recomputed inside its consumers.",
      "bool", "isCheap", (ins), "", "return true;">,
  ];
}

def ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface", [ElementOpInterface]> {
  let cppNamespace = "::ingot::graph";
  let description = [{
    An operator that applies one scalar function to operands broadcast to the
    shape of the result by NumPy's rule.
  }];
  let methods = [
    InterfaceMethod<"The scalar function.", "::ingot::graph::Expr", "emitScalar",
      (ins "::ingot::graph::ElementBuilder &":$b,
           "::llvm::ArrayRef<::ingot::graph::Expr>":$in)>,
  ];
}

def ReductionOpInterface : OpInterface<"ReductionOpInterface", [ElementOpInterface]> {
  let cppNamespace = "::ingot::graph";
  let description = [{
    An operator that combines all elements along some axes, in any order and
    grouping: an accumulator starts as `init`, `combine` adds an element,
    `merge` joins two accumulators, and `finish` turns the accumulator of
    `count` elements into the result. Reduced axes keep size 1. Accumulators
    have the compute type of the input.
  }];
  let methods = [
    InterfaceMethod<"The tensor that is reduced.", "::mlir::Value", "getInput">,
    InterfaceMethod<"The reduced axes, ascending.", "::llvm::ArrayRef<int64_t>", "getAxes">,
    InterfaceMethod<"What nothing combines to.", "::ingot::graph::Expr", "init",
      (ins "::ingot::graph::ElementBuilder &":$b)>,
    InterfaceMethod<"One more element.", "::ingot::graph::Expr", "combine",
      (ins "::ingot::graph::ElementBuilder &":$b, "::ingot::graph::Expr":$acc, "::ingot::graph::Expr":$x)>,
    InterfaceMethod<"Two accumulators as one.", "::ingot::graph::Expr", "merge",
      (ins "::ingot::graph::ElementBuilder &":$b, "::ingot::graph::Expr":$acc, "::ingot::graph::Expr":$other)>,
    InterfaceMethod<"The result.", "::ingot::graph::Expr", "finish",
      (ins "::ingot::graph::ElementBuilder &":$b, "::ingot::graph::Expr":$acc, "const ::ingot::graph::Dim &":$count)>,
  ];
}

def BodyOpInterface : OpInterface<"BodyOpInterface"> {
  let cppNamespace = "::ingot::graph";
  let description = [{
    An operator that writes its results as a whole, because elements depend on
    each other (scans, sorts, scatters, recurrences) or share work (softmax).
  }];
  let methods = [
    InterfaceMethod<"Writes all results through `b.store`.", "void", "emitBody",
      (ins "::ingot::graph::BodyBuilder &":$b)>,
  ];
}

def PermuteOpInterface : OpInterface<"PermuteOpInterface"> {
  let cppNamespace = "::ingot::graph";
  let description = [{
    An operator that can compute on permuted axes: layout assignment moves
    transposes through it.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the operator that yields `transpose(result, perm)`, given `operands`
      that are `transpose(operand, perm)` (those of lower rank or without axes in
      common with the result are passed unchanged; see `permutesOperand`). Returns
      null if that cannot be done.
    }], "::mlir::Operation *", "buildPermuted",
      (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<int64_t>":$perm,
           "::mlir::ValueRange":$operands)>,
    InterfaceMethod<"Whether operand `i` has the axes of the result.", "bool",
      "permutesOperand", (ins "unsigned":$i), "", "return true;">,
  ];
}

#endif // INGOT_GRAPH_INTERFACES_TD
