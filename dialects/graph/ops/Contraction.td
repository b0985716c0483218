// Operators for matrix multiplications and convolutions.

class Graph_Contraction<string mnemonic, Trait types = Graph_InferredTypes>
    : Graph_ElementOp<mnemonic, [Graph_DynamicSizes, DeclareOpInterfaceMethods<ElementOpInterface, ["passesLanes", "isCheap"]>],
                      types>;

/// A convolution: a contraction over sliding windows.
class Graph_WindowProduct<string mnemonic> : Graph_Contraction<mnemonic, Graph_StatedTypes> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$w, Optional<Graph_Tensor>:$bias, DenseI64ArrayAttr:$strides,
                   DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$low, I64Attr:$groups);
}

def Graph_MatMulOp : Graph_Contraction<"matmul", Graph_StatedTypes> {
  let summary = "Matrix multiplication with broadcast batch axes";
  let description = [{
    [..., M, K] x [..., K, N] -> [..., M, N]; both operands have at least two axes. All types are
    equal; or the operands are both bf16, both f16, or each f8E4M3FN or f8E5M2, and the result is
    f32; or the operands are integers of at most 16 bits, signed or unsigned, and the result is
    si32. In the last case `zeros` may hold the zero points of a and b (both or none), of the type
    of their operand: the result sums (a - a_zero) * (b - b_zero) modulo 2^32. A zero point is a
    scalar, or has one value for each row of a ([..., M, 1]) or each column of b ([..., 1, N]).

        %y = graph.matmul %a, %b, %a_zero, %b_zero
             : (tensor<3x8xui8>, tensor<8x5xsi8>, tensor<ui8>, tensor<1x5xsi8>) -> tensor<3x5xsi32>
  }];
  let arguments = (ins Graph_Tensor:$a, Graph_Tensor:$b, Variadic<Graph_Tensor>:$zeros);
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$a, "::mlir::Value":$b), [{
      build($_builder, $_state, result, a, b, ::mlir::ValueRange());
    }]>,
    OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b), [{
      build($_builder, $_state, typeOf(a, b), a, b);
    }]>,
  ];
  let extraClassDeclaration = [{
    /// Returns the result type for operands of one element type whose shapes
    /// match.
    static ::mlir::RankedTensorType typeOf(::mlir::Value a, ::mlir::Value b);
    /// The zero points of the operands; null for an operand without one.
    ::mlir::Value getAZero() { return getZeros().empty() ? ::mlir::Value() : getZeros()[0]; }
    ::mlir::Value getBZero() { return getZeros().empty() ? ::mlir::Value() : getZeros()[1]; }
    /// Whether narrow operands are accumulated in a wider type.
    bool isWidening();
  }];
}

def Graph_ConvOp : Graph_WindowProduct<"conv"> {
  let summary = "Convolution, channels last";
  let description = [{
    x [N, spatial..., C], w [kernel..., C / groups, O], bias [O] -> [N, out..., O]. Output position o reads the
    input positions o * stride - low + k * dilation; positions outside count as zero. The padding at the high end
    follows from the result's shape.

    All types are equal; or x and w are both bf16, both f16, or each f8E4M3FN or f8E5M2, and bias
    and result are f32; or x and w are integers of at most 16 bits, signed or unsigned, and bias and
    result are si32. In the last case the result sums (x - x_zero) * w modulo 2^32, and positions
    outside have the value x_zero + `x_outside`.
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$w, Optional<Graph_Tensor>:$bias, DenseI64ArrayAttr:$strides,
                   DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$low, I64Attr:$groups,
                   DefaultValuedAttr<I64Attr, "0">:$x_zero, DefaultValuedAttr<I64Attr, "0">:$x_outside);
  let extraClassDeclaration = [{
    /// Whether narrow operands are accumulated in a wider type.
    bool isWidening();
  }];
}

def Graph_ConvTransposeOp : Graph_WindowProduct<"conv_transpose"> {
  let summary = "Transposed convolution, channels last";
  let description = [{
    x [N, spatial..., C], w [kernel..., C, O / groups], bias [O]. Output position o sums the input positions i and
    kernel positions k with o = i * stride - low + k * dilation.
  }];
}

def Graph_NarrowMatMulOp : Graph_Contraction<"narrow_matmul"> {
  let summary = "Matrix multiplication with weights of 2, 4 or 8 bits";
  let description = [{
    [..., M, K] x [K, N] -> [..., M, N], where the element (k, n) of the weights is

        (w[k, n] - zeros[k / block, n]) * scales[k / block, n]

    in the type of a and the result. Consecutive rows k of a column are packed into one
    byte, the first in the lowest `bits`: `w` is [K / (8 / bits), N]. Its integers are
    unsigned unless they have 8 bits. `zeros` have the type of `w`, one value per byte. If
    all zero points are equal, they are the attribute `zero` instead; without both they are
    0. K is a multiple of `block`, and `block` fills whole bytes.
  }];
  let arguments = (ins Graph_Tensor:$a, Graph_Tensor:$w, Graph_Floats:$scales, Optional<Graph_Tensor>:$zeros,
                   I64Attr:$bits, I64Attr:$block, OptionalAttr<I64Attr>:$zero);
  let extraClassDeclaration = [{
    /// The number of weights in a byte.
    int64_t perByte() { return 8 / getBits(); }
    /// Whether zero points other than 0 are subtracted from the weights.
    bool hasZeroPoints() { return getZeros() || getZero(); }
    /// Returns a byte of weights, or a vector of such bytes, extended to 32
    /// bits: by zeros if the bytes are unsigned, else by the sign.
    Expr wordOf(Expr byte);
    /// Returns weight number `place` of the byte in `word`, which is a word or
    /// a vector of words, as a float.
    Expr numberIn(Expr word, Expr place);
    Expr numberIn(Expr word, int64_t place);
  }];
}

def Graph_PackPanelsOp : Graph_ElementOp<"pack_panels", [DeclareOpInterfaceMethods<ElementOpInterface>]> {
  let summary = "Weights in the order in which a kernel reads them";
  let description = [{
    The matrix [steps, columns] (all axes of the operand but the last are steps, the K dimension)
    cut into panels of `panel` columns; within a panel the columns of one step are adjacent.
    Left-over columns form a last panel of `tail` columns, padded with zeros. The result is
    one-dimensional.

    With a `group`, that many consecutive steps of a column are adjacent, as kernel.dot
    reads them: the order is panel, leading axes, group of steps, column, step in the
    group. Groups run along the last axis of the steps, or along the last `axes` of them
    merged into one, padded with zeros to whole groups.
  }];
  let arguments = (ins Graph_Tensor:$w, I64Attr:$panel, I64Attr:$tail, DefaultValuedAttr<I64Attr, "1">:$group,
                       DefaultValuedAttr<I64Attr, "1">:$axes);
}

def Graph_UnpackPanelsOp
    : Graph_ElementOp<"unpack_panels", [DeclareOpInterfaceMethods<ElementOpInterface>], Graph_StatedTypes> {
  let summary = "The original weights: the inverse of pack_panels";
  let arguments = (ins Graph_Tensor:$packed, I64Attr:$panel, I64Attr:$tail, DefaultValuedAttr<I64Attr, "1">:$group,
                       DefaultValuedAttr<I64Attr, "1">:$axes);
}

def Graph_SampleKernelOp : Graph_ElementOp<"sample_kernel", [DeclareOpInterfaceMethods<ElementOpInterface>]> {
  let summary = "Weights transformed for Winograd convolution";
  let description = [{
    The transformed weights of a 3x3 convolution [3, 3, C, O] -> [points, C, O]. The 3x3 weights
    of two channels are the coefficients of a polynomial; its values are computed at the (size +
    2)^2 points of a tile of `size` x `size` outputs. See dialects/graph/ops/Winograd.h.
  }];
  let arguments = (ins Graph_Tensor:$w, I64Attr:$size);
}

def Graph_RestoreKernelOp : Graph_ElementOp<"restore_kernel", [DeclareOpInterfaceMethods<ElementOpInterface>]> {
  let summary = "The original weights: the inverse of sample_kernel";
  let arguments = (ins Graph_Tensor:$values, I64Attr:$size);
}
