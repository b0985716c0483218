// Imports the quantizers of QONNX, which Brevitas and FINN write.
//
// Quant rounds a tensor to multiples of a scale within the range of an integer
// of `bitwidth` bits, and returns floats. Quant becomes a quantization followed
// by a dequantization, so that integer kernels can be formed, under three
// conditions: 8 bits can hold the integers, the rounding mode rounds ties to
// even, and the zero point is even (see evenZero). Otherwise Quant rounds
// floats.
//
// Source: the operator definitions in the documentation of QONNX.

#include "compiler/import/operators/Quantization.h"

#include <cmath>

using namespace mlir;

namespace ingot::graph {

namespace {

/// The range of the integers that a quantizer rounds to.
struct IntegerRange {
  double least, most;

  static IntegerRange of(double bits, bool isSigned, bool isNarrow) {
    double steps = std::exp2(bits);
    if (isSigned)
      return {-steps / 2 + (isNarrow ? 1 : 0), steps / 2 - 1};
    return {0, steps - 1 - (isNarrow ? 1 : 0)};
  }
};

} // namespace

/// Returns `x` rounded by `mode`; null with a diagnostic if QONNX does not have
/// this rounding mode.
static Value rounded(OnnxNode &node, Value x, StringRef mode) {
  if (mode == "ROUND" || mode == "HALF_EVEN")
    return node.elementwise<RoundOp>({x});
  if (mode == "FLOOR")
    return node.elementwise<FloorOp>({x});
  if (mode == "CEIL")
    return node.elementwise<CeilOp>({x});
  // The other modes round the magnitude of `x`.
  Value size = node.elementwise<AbsOp>({x}),
        half = node.scalarConstant(0.5, elementOf(x));
  if (mode == "UP")
    size = node.elementwise<CeilOp>({size});
  else if (mode == "DOWN" || mode == "ROUND_TO_ZERO")
    size = node.elementwise<FloorOp>({size});
  else if (mode == "HALF_UP")
    size = node.elementwise<FloorOp>({node.add(size, half)});
  else if (mode == "HALF_DOWN")
    size = node.elementwise<CeilOp>({node.sub(size, half)});
  else
    return noValue(node.invalid("`rounding_mode` is `" + mode +
                                "`, which is no rounding mode"));
  return node.mul(node.elementwise<SignOp>({x}), size);
}

/// Returns the number that all elements of input `i` are equal to; fails with a
/// diagnostic if they differ or are unknown.
static FailureOr<double> numberIn(OnnxNode &node, unsigned i, StringRef what) {
  auto values = node.requireFloats(i, what);
  if (failed(values))
    return failure();
  if (values->empty() || !llvm::all_equal(*values))
    return node.unsupported("`" + what +
                            "` with different numbers is not supported");
  return values->front();
}

/// Returns the zero point (input 2) if all its elements are the same constant
/// even integer within `range`; otherwise nullopt. Adding an even integer
/// before or after rounding half to even gives the same result.
static std::optional<double> evenZero(OnnxNode &node, IntegerRange range) {
  if (!node.isConstant(2))
    return std::nullopt;
  auto zero = node.requireFloats(2, "zeropt");
  if (failed(zero) || zero->empty() || !llvm::all_equal(*zero) ||
      std::fmod(zero->front(), 2) != 0 || zero->front() < range.least ||
      zero->front() > range.most)
    return std::nullopt;
  return zero->front();
}

static ImportResult importQuant(OnnxNode &node) {
  auto bits = numberIn(node, 3, "bitwidth");
  if (failed(bits))
    return failure();
  if (*bits < 1 || *bits > 32)
    return node.invalid("`bitwidth` is not between 1 and 32");
  bool isSigned = node.intAttr("signed", 1) != 0;
  auto range =
      IntegerRange::of(*bits, isSigned, node.intAttr("narrow", 0) != 0);
  std::string mode =
      StringRef(node.stringAttr("rounding_mode", "ROUND")).upper();
  Value x = node.input(0), scale = node.input(1), zero = node.input(2);
  Type real = elementOf(x);
  std::optional<double> even = evenZero(node, range);
  if (*bits <= 8 && even && (mode == "ROUND" || mode == "HALF_EVEN")) {
    Type byte = node.builder.getIntegerType(8, isSigned);
    Value bias = node.scalarConstant(*even, byte);
    Value q = node.elementwise<QuantizeOp>({x, scale, bias});
    auto whole = IntegerRange::of(8, isSigned, false);
    if (q && range.most < whole.most)
      q = node.min(q, std::floor(range.most));
    if (q && range.least > whole.least)
      q = node.max(q, std::ceil(range.least));
    if (!q)
      return failure();
    return one(dequantize(node, q, scale, bias));
  }
  Value y = node.add(node.div(x, scale), zero);
  y = node.min(y, range.most);
  y = node.max(y, range.least);
  y = rounded(node, y, mode);
  if (!y)
    return failure();
  return one(node.mul(node.sub(y, zero), scale));
}

static ImportResult importBipolarQuant(OnnxNode &node) {
  Value x = node.input(0), scale = node.input(1);
  auto number = [&](double value) {
    return node.scalarConstant(value, elementOf(x));
  };
  Value isPositive = node.greaterOrEqual(x, 0);
  Value sign = node.where(isPositive, 1, number(-1));
  return one(node.mul(sign, scale));
}

/// Imports Trunc: drops the lowest in_bitwidth - out_bitwidth bits of quantized
/// integers, by a division that the attribute rounding_mode rounds.
static ImportResult importTrunc(OnnxNode &node) {
  auto before = numberIn(node, 3, "in_bitwidth"),
       after = numberIn(node, 4, "out_bitwidth");
  if (failed(before) || failed(after))
    return failure();
  Value scale = node.input(1), zero = node.input(2), x = node.input(0);
  std::string mode =
      StringRef(node.stringAttr("rounding_mode", "FLOOR")).upper();
  Value y = node.add(node.div(x, scale), zero);
  y = node.elementwise<RoundOp>({y});
  y = node.div(y, std::exp2(*before - *after));
  y = rounded(node, y, mode);
  if (!y)
    return failure();
  return one(node.mul(node.sub(y, zero), scale));
}

void registerQonnxImports(OnnxRegistry &registry) {
  for (StringRef domain : {"qonnx.custom_op.general", "onnx.brevitas"}) {
    registry.add("Quant", importQuant,
                 "a `bitwidth` that is not the same constant for all elements",
                 domain);
    registry.add("BipolarQuant", importBipolarQuant, "", domain);
    registry.add("Trunc", importTrunc,
                 "bit widths that are not the same constants for all elements",
                 domain);
  }
}

} // namespace ingot::graph
