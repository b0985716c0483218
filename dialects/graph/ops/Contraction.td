// Matrix products and convolutions.

class Graph_Contraction<string mnemonic, list<Trait> traits = []>
    : Graph_ElementOp<mnemonic, !listconcat([DeclareOpInterfaceMethods<ElementOpInterface, ["passesLanes", "isCheap"]>], traits)>;

def Graph_MatMulOp : Graph_Contraction<"matmul"> {
  let summary = "Matrix product with broadcast batch axes";
  let description = "[..., M, K] x [..., K, N] -> [..., M, N]; both operands have at least two axes.";
  let arguments = (ins Graph_Tensor:$a, Graph_Tensor:$b);
}

def Graph_ConvOp : Graph_Contraction<"conv"> {
  let summary = "Convolution, channels last";
  let description = [{
    x [N, spatial..., C], w [kernel..., C / groups, O], bias [O] -> [N, out..., O]. Output position o reads the
    input positions o * stride - low + k * dilation; positions outside count as zero. The padding at the high end
    follows from the result's shape.
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$w, Optional<Graph_Tensor>:$bias, DenseI64ArrayAttr:$strides,
                   DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$low, I64Attr:$groups);
}

def Graph_ConvTransposeOp : Graph_Contraction<"conv_transpose"> {
  let summary = "Transposed convolution, channels last";
  let description = [{
    x [N, spatial..., C], w [kernel..., C, O / groups], bias [O]. Output position o sums the input positions i and
    kernel positions k with o = i * stride - low + k * dilation.
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$w, Optional<Graph_Tensor>:$bias, DenseI64ArrayAttr:$strides,
                   DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$low, I64Attr:$groups);
}

def Graph_PackPanelsOp : Graph_ElementOp<"pack_panels", [DeclareOpInterfaceMethods<ElementOpInterface>]> {
  let summary = "Weights in the order a kernel reads them";
  let description = [{
    The matrix [steps, columns] (all but the last axis of the operand are steps) cut into panels of `panel` columns;
    in each panel the columns of one step lie side by side. The columns left over form a last panel of `tail`
    columns, filled up with zeros. The result has one axis.
  }];
  let arguments = (ins Graph_Tensor:$w, I64Attr:$panel, I64Attr:$tail);
}

def Graph_UnpackPanelsOp : Graph_ElementOp<"unpack_panels", [DeclareOpInterfaceMethods<ElementOpInterface>]> {
  let summary = "The weights that were packed: the inverse of pack_panels";
  let arguments = (ins Graph_Tensor:$packed, I64Attr:$panel, I64Attr:$tail);
}
