// Pooling operators.

/// `element` and `pads` are C++ code for the type rule: the element type of the
/// result, and the argument for a second list of paddings (empty if the
/// operator has none).
class Graph_Pool<string mnemonic, dag more = (ins), string element = "elementOf(op.getX())", string pads = "">
    : Graph_ElementOp<mnemonic, [Graph_DynamicSizes, DeclareOpInterfaceMethods<ElementOpInterface, ["passesLanes", "isCheap"]>], Graph_StatedTypes> {
  let arguments = !con((ins Graph_Tensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                        DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$low), more);
  let description = [{
    Over windows of [N, spatial..., C]: output position o reads the input positions o * stride - low
    + k * dilation that lie inside the input. The padding at the high end follows from the result's
    shape.
  }];
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferTypes(Adaptor op, ::ingot::graph::TypeRule &rule) {
      return rule.window(op.getX(), op.getKernel(), op.getStrides(), op.getDilations(), {op.getLow()}] # pads # [{}, }] # element # [{);
    }
  }];
}

def Graph_MaxPoolOp : Graph_Pool<"max_pool"> { let summary = "Maximum over windows"; }
def Graph_MaxPoolIndexOp : Graph_Pool<"max_pool_index", (ins I64Attr:$storage_order),
    "::mlir::IntegerType::get(op.getX().getContext(), 64, ::mlir::IntegerType::Signed)"> {
  let summary = "Flat position, in the channels-first tensor, of the maximum over each window";
}
def Graph_AveragePoolOp : Graph_Pool<"average_pool", (ins BoolAttr:$count_padding, DenseI64ArrayAttr:$high),
    "elementOf(op.getX())", ", op.getHigh()"> {
  let summary = "Mean over windows; `count_padding` divides by all positions inside the padded input";
}
def Graph_LpPoolOp : Graph_Pool<"lp_pool", (ins I64Attr:$p)> { let summary = "p-norm over windows"; }
