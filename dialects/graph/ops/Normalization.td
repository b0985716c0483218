// Softmax and normalizations.
//
// Only normalizations that are faster as a kernel of their own are operators.
// Batch, instance and group normalization are composed of other operators by
// the importer.

class Graph_SoftmaxLike<string mnemonic, dag more = (ins)>
    : Graph_BodyOp<mnemonic, [Graph_DynamicSizes, DeclareOpInterfaceMethods<PermuteOpInterface>]> {
  let arguments = !con((ins Graph_Floats:$input, I64Attr:$axis), more);
  let results = (outs Graph_Tensor:$result);
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferTypes(Adaptor op, ::ingot::graph::TypeRule &rule) {
      return rule.along(op.getAxis(), op.getInput());
    }
  }];
}
def Graph_SoftmaxOp : Graph_SoftmaxLike<"softmax", (ins UnitAttr:$zero_nan)> {
  let summary = "Exponentials divided by their sum along `axis`";
  let description = "With `zero_nan`, rows that have no softmax (a NaN, or nothing above -inf) are zero instead of NaN.";
}
def Graph_LogSoftmaxOp : Graph_SoftmaxLike<"log_softmax">;

def Graph_LayerNormOp : Graph_BodyOp<"layer_norm", [Graph_DynamicSizes]> {
  let summary = "Rows (along the last axis), each scaled to variance 1";
  let description = [{
    With `center`, the row's mean is subtracted first (layer normalization);
    without, the row is divided by its root mean square. `affine` is empty, a
    scale, or a scale and a bias, of the last axis' length.
  }];
  let arguments = (ins Graph_Floats:$input, Variadic<Graph_Floats>:$affine, F32Attr:$epsilon, BoolAttr:$center);
  let results = (outs Graph_Tensor:$result);
}

def Graph_LRNOp : Graph_ElementOp<"lrn", [Graph_DynamicSizes, DeclareOpInterfaceMethods<ElementOpInterface, ["passesLanes", "isCheap"]>,
                                          DeclareOpInterfaceMethods<PermuteOpInterface>]> {
  let summary = "Each element divided by a power of the sum of squares of its neighbours along `axis`";
  let arguments = (ins Graph_Floats:$input, I64Attr:$axis, I64Attr:$size, F32Attr:$alpha, F32Attr:$beta, F32Attr:$bias);
}
