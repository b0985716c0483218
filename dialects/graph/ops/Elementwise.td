// Elementwise operators: each applies one scalar function to each element.
//
// A regular operator consists of one record in this file: its ONNX name, the
// scalar function of `x` (and `y`, `z`), and its attributes. Import, shape
// rule, broadcasting, fusion, vectorization and documentation follow from the
// record.

/// `scalar` is the C++ body of a function with the parameters ElementBuilder &b
/// and `x`, `y`, `z` (one for each operand: its element), which returns an
/// Expr. `resultElem` is the C++ expression for the element type of the result,
/// given the element types in[i] of the operands.
class Graph_Elementwise<string mnemonic, string onnx, dag operands, string resultElem = "in[0]",
                        Trait types = Graph_InferredTypes>
    : Graph_ElementOp<mnemonic, [Graph_DynamicSizes, DeclareOpInterfaceMethods<ElementOpInterface, ["passesLanes"]>,
                                 DeclareOpInterfaceMethods<ElementwiseOpInterface>,
                                 DeclareOpInterfaceMethods<PermuteOpInterface, ["permutesOperand"]>], types> {
  /// C++ expression for the operands that must have the same element type.
  string alike = "op.getOperands()";
  /// Additional checks of the type rule: C++ statements that return failure if
  /// a check fails.
  code typeRule = "";
  string element = !if(!eq(!cast<string>(types), "Graph_StatedTypes"), "rule.statedElement()",
                       "resultElement(::llvm::map_to_vector(op.getOperands(), elementOf))");
  /// The ONNX operator that becomes this operation; empty if there is none, as
  /// for operations that only passes or the import of other ONNX operators
  /// build.
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
    ::llvm::LogicalResult $cppClass::inferTypes(Adaptor op, ::ingot::graph::TypeRule &rule) {
      }] # typeRule # [{
      return rule.elementwise(op.getOperands(), }] # alike # ", " # element # [{);
    }
    ::ingot::graph::Expr $cppClass::emitElement(::ingot::graph::ElementBuilder &b, ::llvm::ArrayRef<::ingot::graph::Expr> idx) {
      return ::ingot::graph::emitElementwise(*this, b, idx);
    }
    bool $cppClass::passesLanes() { return !::ingot::graph::readsStrings(*this); }
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
/// An elementwise operator with one operand, which has a float type.
class Graph_Function<string mnemonic, string onnx, code body, dag attrs = (ins)>
    : Graph_Elementwise<mnemonic, onnx, (ins Graph_Floats:$x)> {
  let scalar = body;
  let attributes = attrs;
}
class Graph_UnaryTest<string mnemonic, string onnx, code body, dag attrs = (ins)>
    : Graph_Elementwise<mnemonic, onnx, (ins Graph_Floats:$x), "::mlir::IntegerType::get(in[0].getContext(), 1)"> {
  let scalar = body;
  let attributes = attrs;
}
class Graph_Binary<string mnemonic, string onnx, code body, dag attrs = (ins)>
    : Graph_Elementwise<mnemonic, onnx, (ins Graph_Tensor:$x, Graph_Tensor:$y)> {
  let scalar = body;
  let attributes = attrs;
}
/// Bitwise operators on integers and booleans.
class Graph_Bits<string mnemonic, string onnx, code body, dag attrs = (ins)>
    : Graph_Elementwise<mnemonic, onnx, (ins Graph_Integers:$x, Graph_Integers:$y)> {
  let scalar = body;
  let attributes = attrs;
}
/// Conversions. Their builder takes the element type of the result as an argument.
class Graph_Conversion<string mnemonic, dag operands, code body, dag attrs = (ins)>
    : Graph_Elementwise<mnemonic, "", operands, "in[0]", Graph_StatedTypes> {
  let scalar = body;
  let attributes = attrs;
}
class Graph_Compare<string mnemonic, string onnx, code body>
    : Graph_Elementwise<mnemonic, onnx, (ins Graph_Tensor:$x, Graph_Tensor:$y),
                        "::mlir::IntegerType::get(in[0].getContext(), 1)"> {
  let scalar = body;
}

// ONNX attributes with their defaults.
class Graph_Float<string byDefault> : DefaultValuedAttr<F32Attr, byDefault # "f">;
class Graph_Int<string byDefault> : DefaultValuedAttr<I64Attr, byDefault>;
class Graph_Text<string byDefault, list<string> names> : DefaultValuedStrAttr<Graph_Choice<names>, byDefault>;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

def Graph_AddOp : Graph_Binary<"add", "Add", [{ return x + y; }]>;
def Graph_SubOp : Graph_Binary<"sub", "Sub", [{ return x - y; }]>;
def Graph_MulOp : Graph_Binary<"mul", "Mul", [{ return x * y; }]>;
def Graph_DivOp : Graph_Binary<"div", "Div", [{ return x / y; }]>;
def Graph_ModOp : Graph_Binary<"mod", "Mod",
    [{ return getFmod() ? x % y : floorMod(x, y); }], (ins Graph_Int<"0">:$fmod)>;
def Graph_PowOp : Graph_Binary<"pow", "Pow", [{ return power(x, y); }]> {
  let alike = "{}"; // the exponent may have another type
}
def Graph_MaximumOp : Graph_Binary<"maximum", "", [{ return max(x, y); }]>;
def Graph_MinimumOp : Graph_Binary<"minimum", "", [{ return min(x, y); }]>;
def Graph_NegOp : Graph_Unary<"neg", "Neg", [{ return -x; }]>;
def Graph_AbsOp : Graph_Unary<"abs", "Abs", [{ return abs(x); }]>;
def Graph_SignOp : Graph_Unary<"sign", "Sign", [{ return sign(x); }]>;
def Graph_ReciprocalOp : Graph_Unary<"reciprocal", "Reciprocal", [{ return 1.0 / x; }]>;
def Graph_FloorOp : Graph_Function<"floor", "Floor", [{ return floor(x); }]>;
def Graph_CeilOp : Graph_Function<"ceil", "Ceil", [{ return ceil(x); }]>;
def Graph_RoundOp : Graph_Function<"round", "Round", [{ return round(x); }]>;

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

def Graph_SqrtOp : Graph_Function<"sqrt", "Sqrt", [{ return sqrt(x); }]>;
def Graph_ExpOp : Graph_Function<"exp", "Exp", [{ return exp(x); }]>;
def Graph_LogOp : Graph_Function<"log", "Log", [{ return log(x); }]>;
def Graph_ErfOp : Graph_Unary<"erf", "Erf", [{ return erf(x); }]>;
def Graph_SinOp : Graph_Function<"sin", "Sin", [{ return sin(x); }]>;
def Graph_CosOp : Graph_Function<"cos", "Cos", [{ return cos(x); }]>;
def Graph_TanOp : Graph_Function<"tan", "Tan", [{ return tan(x); }]>;
def Graph_AsinOp : Graph_Function<"asin", "Asin", [{ return asin(x); }]>;
def Graph_AcosOp : Graph_Function<"acos", "Acos", [{ return acos(x); }]>;
def Graph_AtanOp : Graph_Function<"atan", "Atan", [{ return atan(x); }]>;
def Graph_SinhOp : Graph_Function<"sinh", "Sinh", [{ return sinh(x); }]>;
def Graph_CoshOp : Graph_Function<"cosh", "Cosh", [{ return cosh(x); }]>;
def Graph_TanhOp : Graph_Function<"tanh", "Tanh", [{ return tanh(x); }]>;
def Graph_AsinhOp : Graph_Function<"asinh", "Asinh", [{ return asinh(x); }]>;
def Graph_AcoshOp : Graph_Function<"acosh", "Acosh", [{ return acosh(x); }]>;
def Graph_AtanhOp : Graph_Function<"atanh", "Atanh", [{ return atanh(x); }]>;

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

def Graph_ReluOp : Graph_Unary<"relu", "Relu", [{ return max(x, 0.0); }]>;
def Graph_LeakyReluOp : Graph_Function<"leaky_relu", "LeakyRelu",
    [{ return select(x < 0.0, x * getAlpha().convertToDouble(), x); }], (ins Graph_Float<"0.01">:$alpha)>;
def Graph_PReluOp : Graph_Binary<"prelu", "PRelu", [{ return select(x < 0.0, x * y, x); }]>;
def Graph_ThresholdedReluOp : Graph_Function<"thresholded_relu", "ThresholdedRelu",
    [{ return select(x > getAlpha().convertToDouble(), x, 0.0); }], (ins Graph_Float<"1.0">:$alpha)>;
def Graph_SigmoidOp : Graph_Function<"sigmoid", "Sigmoid", [{ return sigmoid(x); }]>;
def Graph_HardSigmoidOp : Graph_Function<"hard_sigmoid", "HardSigmoid", [{
      return max(min(x * getAlpha().convertToDouble() + getBeta().convertToDouble(), 1.0), 0.0);
    }], (ins Graph_Float<"0.2">:$alpha, Graph_Float<"0.5">:$beta)>;
def Graph_HardSwishOp : Graph_Function<"hard_swish", "HardSwish",
    [{ return x * max(min(x * (1.0 / 6.0) + 0.5, 1.0), 0.0); }]>;
def Graph_SwishOp : Graph_Function<"swish", "Swish",
    [{ return timesSigmoid(x, x * getAlpha().convertToDouble()); }], (ins Graph_Float<"1.0">:$alpha)>;
def Graph_EluOp : Graph_Function<"elu", "Elu",
    [{ return select(x > 0.0, x, expm1(x) * getAlpha().convertToDouble()); }], (ins Graph_Float<"1.0">:$alpha)>;
def Graph_CeluOp : Graph_Function<"celu", "Celu", [{
      double alpha = getAlpha().convertToDouble();
      return select(x > 0.0, x, expm1(x / alpha) * alpha);
    }], (ins Graph_Float<"1.0">:$alpha)>;
def Graph_SeluOp : Graph_Function<"selu", "Selu", [{
      double gamma = getGamma().convertToDouble();
      return select(x > 0.0, x * gamma, expm1(x) * (gamma * getAlpha().convertToDouble()));
    }], (ins Graph_Float<"1.67326319217681884765625">:$alpha, Graph_Float<"1.05070102214813232421875">:$gamma)>;
// log(1 + e^x), in a form in which e^x cannot overflow.
def Graph_SoftplusOp : Graph_Function<"softplus", "Softplus", [{ return max(x, 0.0) + log1p(exp(-abs(x))); }]>;
def Graph_SoftsignOp : Graph_Function<"softsign", "Softsign", [{ return x / (abs(x) + 1.0); }]>;
// With e = e^x: tanh(log(1 + e)) = (e^2 + 2e) / (e^2 + 2e + 2), which is 1 for
// x >= 20.
def Graph_MishOp : Graph_Function<"mish", "Mish", [{
      Expr e = exp(min(x, 20.0));
      Expr n = e * (e + 2.0);
      return x * (n / (n + 2.0));
    }]>;
// (1 + tanh(u)) / 2 = 1 / (1 + e^-2u) avoids tanh.
def Graph_GeluOp : Graph_Function<"gelu", "Gelu", [{
      if (getApproximate() == "tanh")
        return timesSigmoid(x, (x + x * x * x * 0.044715) * (2.0 * 0.79788456080286535588));
      return x * 0.5 * (erfBesideOne(x * 0.70710678118654752440) + 1.0);
    }], (ins Graph_Text<"none", ["none", "tanh"]>:$approximate)>;
def Graph_ShrinkOp : Graph_Unary<"shrink", "Shrink", [{
      double lambd = getLambd().convertToDouble(), bias = getBias().convertToDouble();
      // Integers are converted to f64, in which they are compared and the bias
      // is added; the result is truncated.
      if (!isa<FloatType>(x.type)) {
        Expr wide = convert(x, b.builder.getF64Type());
        if (bias == 0)
          return select((wide < -lambd) | (wide > lambd), x, 0.0);
        return convert(select(wide < -lambd, wide + bias, select(wide > lambd, wide - bias, 0.0)), x.type);
      }
      return select(x < -lambd, x + bias, select(x > lambd, x - bias, 0.0));
    }], (ins Graph_Float<"0.5">:$lambd, Graph_Float<"0.0">:$bias)>;

//===----------------------------------------------------------------------===//
// Logic and bits
//===----------------------------------------------------------------------===//

def Graph_EqualOp : Graph_Compare<"equal", "Equal", [{ return equal(x, y); }]>;
def Graph_LessOp : Graph_Compare<"less", "Less", [{ return x < y; }]>;
def Graph_LessOrEqualOp : Graph_Compare<"less_or_equal", "LessOrEqual", [{ return x <= y; }]>;
def Graph_GreaterOp : Graph_Compare<"greater", "Greater", [{ return x > y; }]>;
def Graph_GreaterOrEqualOp : Graph_Compare<"greater_or_equal", "GreaterOrEqual", [{ return x >= y; }]>;
def Graph_IsNaNOp : Graph_UnaryTest<"is_nan", "IsNaN", [{ return isNaN(x); }]>;
def Graph_IsInfOp : Graph_UnaryTest<"is_inf", "IsInf", [{
      constexpr double infinity = std::numeric_limits<double>::infinity();
      if (getDetectNegative() && getDetectPositive())
        return isInf(x);
      return getDetectNegative() ? equal(x, -infinity)
           : getDetectPositive() ? equal(x, infinity) : b.constant(0, b.builder.getI1Type());
    }], (ins Graph_Int<"1">:$detect_negative, Graph_Int<"1">:$detect_positive)>;
// AndOp, OrOp and XorOp are both the logical and the bitwise operators of ONNX.
def Graph_AndOp : Graph_Bits<"and", "And", [{ return x & y; }]>;
def Graph_OrOp : Graph_Bits<"or", "Or", [{ return x | y; }]>;
def Graph_XorOp : Graph_Bits<"xor", "Xor", [{ return x ^ y; }]>;
def Graph_NotOp : Graph_Elementwise<"not", "Not", (ins Graph_Integers:$x)> { let scalar = [{ return ~x; }]; }
def Graph_BitShiftOp : Graph_Bits<"bit_shift", "BitShift",
    [{ return getDirection() == "LEFT" ? x << y : x >> y; }], (ins Graph_Text<"LEFT", ["LEFT", "RIGHT"]>:$direction)>;
/// Rounds an f32 to tf32 (10 bits of mantissa).
def Graph_RoundToTf32Op : Graph_Function<"round_to_tf32", "", [{ return roundToTf32(x); }]>;
/// Returns the upper 32 bits of a 64-bit product: x * y * 2^-32. Thus `y`
/// represents the factor y * 2^-32, whose absolute value is at most 1/2.
def Graph_MulHighOp : Graph_Elementwise<"mul_high", "", (ins Graph_Integers:$x, Graph_Integers:$y)> {
  let scalar = [{ return mulHigh(x, y); }];
  let typeRule = [{
      if (!elementOf(op.getX()).isSignedInteger(32))
        return rule.refuse("multiplies integers that are not signed ones of 32 bits");
    }];
}
def Graph_WhereOp : Graph_Elementwise<"where", "Where",
    (ins Graph_Truths:$condition, Graph_Tensor:$x, Graph_Tensor:$y), "in[1]"> {
  let alike = "op.getOperands().drop_front()";
  let scalar = [{ return select(x, y, z); }];
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

def Graph_CastOp : Graph_Conversion<"cast", (ins Graph_Tensor:$x), [{
      Type to = elementOf(getResult());
      return isa<Float8E8M0FNUType>(to) ? toPowerOfTwo(x, getRoundMode(), getSaturate())
                                        : convert(x, to, getSaturate());
    }], (ins Graph_Int<"1">:$saturate, Graph_Text<"up", ["up", "down", "nearest"]>:$round_mode)> {
  let alike = "{}";
  let builders = [OpBuilder<(ins "::mlir::Value":$x, "::mlir::Type":$element), [{
    build($_builder, $_state, ::ingot::graph::tensorOf(dimsOf(x), element), x);
  }]>];
}
def Graph_BitCastOp : Graph_Conversion<"bit_cast", (ins Graph_Tensor:$x),
    [{ return bitcast(x, elementOf(getResult())); }]> {
  let typeRule = [{
      auto width = [](::mlir::Type type) { return type.isInteger(1) ? 8 : type.getIntOrFloatBitWidth(); };
      if (width(elementOf(op.getX())) != width(rule.statedElement()))
        return rule.refuse("changes the width of elements");
    }];
}
// Operands: the tensor, the scale and the zero point, which broadcast.
def Graph_QuantizeOp : Graph_Elementwise<"quantize", "", (ins Graph_Tensor:$x, Graph_Floats:$scale, Graph_Tensor:$zero), "in[2]"> {
  let alike = "{}";
  let scalar = [{ return quantize(x, y, z, getSaturate()); }];
  let attributes = (ins Graph_Int<"1">:$saturate);
}
def Graph_DequantizeOp : Graph_Conversion<"dequantize", (ins Graph_Tensor:$x, Graph_Floats:$scale, Graph_Tensor:$zero),
    [{ return dequantize(x, y, z, elementOf(getResult())); }]> {
  let alike = "::mlir::ValueRange({op.getX(), op.getZero()})";
  let typeRule = [{
      if (!isa<FloatType>(rule.statedElement()))
        return rule.refuse("has a result that is no float");
    }];
}
