//===- Elementwise.td - operators that are one scalar function ------------===//
//
// A regular operator is one record here and nothing else: its ONNX name, the
// scalar function on `x` (and `y`, `z`), its attributes. Import, shape rule,
// broadcasting, fusion, vectors, documentation follow from the record.
//
//===----------------------------------------------------------------------===//

/// `scalar` is the C++ body of a function that gets ElementBuilder &b and the
/// operands' elements `x`, `y`, `z` (as many as there are) and returns an Expr.
/// `resultElement`: the element type of the result, given the operand types in[i].
class Graph_Elementwise<string mnemonic, string onnx, dag operands, string resultElem = "in[0]">
    : Graph_ElementOp<mnemonic, [DeclareOpInterfaceMethods<ElementOpInterface, ["passesLanes"]>,
                                 DeclareOpInterfaceMethods<ElementwiseOpInterface>,
                                 DeclareOpInterfaceMethods<PermuteOpInterface, ["permutesOperand"]>]> {
  /// The ONNX operator; empty if the importer builds it from others.
  string onnxName = onnx;
  code scalar = "";
  /// Attributes (dag of attribute defs), named as in ONNX.
  dag attributes = (ins);
  let arguments = !con(operands, attributes);
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral onnxName = "}] # onnx # [{";
    static ::mlir::Type resultElement(::llvm::ArrayRef<::mlir::Type> in) { return }] # resultElem # [{; }
  }];
  string names = !foldl("", !range(!size(operands)), text, i,
    text # "[[maybe_unused]] Expr " # !cond(!eq(i, 0): "x", !eq(i, 1): "y", true: "z") # " = in[" # i # "]; ");
  let extraClassDefinition = [{
    ::ingot::graph::Expr $cppClass::emitElement(::ingot::graph::ElementBuilder &b, ::llvm::ArrayRef<::ingot::graph::Expr> idx) {
      return ::ingot::graph::emitElementwise(*this, b, idx);
    }
    bool $cppClass::passesLanes() { return true; }
    ::mlir::Operation *$cppClass::buildPermuted(::mlir::OpBuilder &builder, ::llvm::ArrayRef<int64_t> perm, ::mlir::ValueRange operands) {
      return ::ingot::graph::buildPermutedElementwise(*this, builder, perm, operands);
    }
    bool $cppClass::permutesOperand(unsigned i) { return ::ingot::graph::hasAxesOfResult(*this, i); }
    ::ingot::graph::Expr $cppClass::emitScalar(::ingot::graph::ElementBuilder &b, ::llvm::ArrayRef<::ingot::graph::Expr> in) {
      }] # names # scalar # [{
    }
  }];
}

class Graph_Unary<string mnemonic, string onnx, code body, dag attrs = (ins)>
    : Graph_Elementwise<mnemonic, onnx, (ins Graph_Tensor:$x)> {
  let scalar = body;
  let attributes = attrs;
}
class Graph_UnaryTest<string mnemonic, string onnx, code body, dag attrs = (ins)>
    : Graph_Elementwise<mnemonic, onnx, (ins Graph_Tensor:$x), "::mlir::IntegerType::get(in[0].getContext(), 1)"> {
  let scalar = body;
  let attributes = attrs;
}
class Graph_Binary<string mnemonic, string onnx, code body, dag attrs = (ins)>
    : Graph_Elementwise<mnemonic, onnx, (ins Graph_Tensor:$x, Graph_Tensor:$y)> {
  let scalar = body;
  let attributes = attrs;
}
class Graph_Compare<string mnemonic, string onnx, code body>
    : Graph_Elementwise<mnemonic, onnx, (ins Graph_Tensor:$x, Graph_Tensor:$y),
                        "::mlir::IntegerType::get(in[0].getContext(), 1)"> {
  let scalar = body;
}

def Graph_AddOp : Graph_Binary<"add", "Add", [{ return x + y; }]>;
def Graph_SubOp : Graph_Binary<"sub", "Sub", [{ return x - y; }]>;
def Graph_MulOp : Graph_Binary<"mul", "Mul", [{ return x * y; }]>;
def Graph_DivOp : Graph_Binary<"div", "Div", [{ return x / y; }]>;
def Graph_ReluOp : Graph_Unary<"relu", "Relu", [{ return max(x, 0.0); }]>;
def Graph_SqrtOp : Graph_Unary<"sqrt", "Sqrt", [{ return sqrt(x); }]>;
def Graph_LeakyReluOp : Graph_Unary<"leaky_relu", "LeakyRelu",
    [{ return select(x < 0.0, x * getAlpha().convertToDouble(), x); }],
    (ins DefaultValuedAttr<F32Attr, "0.01f">:$alpha)>;
def Graph_EqualOp : Graph_Compare<"equal", "Equal", [{ return equal(x, y); }]>;
def Graph_WhereOp : Graph_Elementwise<"where", "Where",
    (ins Graph_Tensor:$condition, Graph_Tensor:$x, Graph_Tensor:$y), "in[1]"> {
  let scalar = [{ return select(x, y, z); }];
}
