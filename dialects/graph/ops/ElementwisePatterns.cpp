// Canonicalization of elementwise operators.

#include "dialects/graph/ops/Patterns.h"

using namespace mlir;

namespace ingot::graph {

//===----------------------------------------------------------------------===//
// Uniform constants
//===----------------------------------------------------------------------===//

static DenseElementsAttr uniformElements(Value v) {
  while (isa_and_nonnull<ReshapeOp, ExpandOp>(v.getDefiningOp()))
    v = v.getDefiningOp()->getOperand(0);
  auto constant = v.getDefiningOp<ConstantOp>();
  auto value = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  return value && !value.empty() && value.isSplat() ? value
                                                    : DenseElementsAttr();
}

std::optional<APFloat> uniformFloat(Value v) {
  DenseElementsAttr value = uniformElements(v);
  if (!value || !isa<FloatType>(value.getElementType()))
    return std::nullopt;
  return value.getSplatValue<APFloat>();
}

std::optional<double> uniformNumber(Value v) {
  if (std::optional<APFloat> number = uniformFloat(v)) {
    bool losesInfo = false;
    number->convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
    return number->convertToDouble();
  }
  DenseElementsAttr value = uniformElements(v);
  if (!value || !isa<IntegerType>(value.getElementType()))
    return std::nullopt;
  Type type = value.getElementType();
  APInt bits = value.getSplatValue<APInt>();
  return type.isUnsignedInteger() || type.isInteger(1)
             ? bits.roundToDouble()
             : bits.signedRoundToDouble();
}

Value uniformConstant(OpBuilder &builder, Location loc, RankedTensorType type,
                      double number) {
  auto value = DenseElementsAttr::get(
      type, Attribute(builder.getFloatAttr(type.getElementType(), number)));
  return ConstantOp::create(builder, loc, cast<ElementsAttr>(value));
}

bool isUniform(Value v, double number) {
  std::optional<double> value = uniformNumber(v);
  return value && *value == number &&
         std::signbit(*value) == std::signbit(number);
}

namespace {

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// x * 1, x / 1, x + 0, x - 0, pow(x, 1) -> x
///
/// The neutral element of a float sum is -0.0: adding 0.0 would change -0.0 to
/// 0.0.
struct DropNeutral : RewritePattern {
  explicit DropNeutral(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  static bool isNeutral(Operation *op, unsigned i) {
    Value v = op->getOperand(i);
    bool isFloat = isa<FloatType>(elementOf(v));
    if (isa<AddOp>(op))
      return isUniform(v, isFloat ? -0.0 : 0.0);
    if (isa<SubOp>(op))
      return i == 1 && isUniform(v, 0.0);
    if (isa<MulOp>(op))
      return isUniform(v, 1.0);
    if (isa<DivOp, PowOp>(op))
      return i == 1 && isUniform(v, 1.0);
    return false;
  }

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa<AddOp, SubOp, MulOp, DivOp, PowOp>(op))
      return failure();
    for (unsigned i : {0u, 1u}) {
      Value other = op->getOperand(1 - i);
      if (other.getType() == op->getResult(0).getType() && isNeutral(op, i)) {
        rewriter.replaceOp(op, other);
        return success();
      }
    }
    return failure();
  }
};

/// x / 4 -> x * 0.25: exact for powers of two, and several times as fast.
LogicalResult multiplyByInverse(DivOp op, PatternRewriter &rewriter) {
  Value divisor = op->getOperand(1);
  std::optional<APFloat> number = uniformFloat(divisor);
  APFloat inverse(0.0);
  if (!number || !number->getExactInverse(&inverse))
    return failure();
  Value factor =
      uniformConstant(rewriter, divisor.getLoc(), tensorType(divisor),
                      1 / *uniformNumber(divisor));
  rewriter.replaceOpWithNewOp<MulOp>(op, TypeRange{op.getType()},
                                     ValueRange{op->getOperand(0), factor});
  return success();
}

//===----------------------------------------------------------------------===//
// Repeated and inverse functions
//===----------------------------------------------------------------------===//

/// f(f(x)) -> f(x), for idempotent operators such as relu
template <typename OpT> struct DropSecond : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    if (!op->getOperand(0).template getDefiningOp<OpT>())
      return failure();
    rewriter.replaceOp(op, op->getOperand(0));
    return success();
  }
};

/// -(-x) -> x, ~~x -> x
template <typename OpT> struct DropBoth : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    auto inner = op->getOperand(0).template getDefiningOp<OpT>();
    if (!inner)
      return failure();
    rewriter.replaceOp(op, inner->getOperand(0));
    return success();
  }
};

/// |-x| -> |x|, for floats
LogicalResult dropSign(AbsOp op, PatternRewriter &rewriter) {
  auto inner = op->getOperand(0).getDefiningOp<NegOp>();
  if (!inner || !isa<FloatType>(elementOf(inner->getResult(0))))
    return failure();
  rewriter.modifyOpInPlace(op,
                           [&] { op->setOperand(0, inner->getOperand(0)); });
  return success();
}

//===----------------------------------------------------------------------===//
// Clamps
//===----------------------------------------------------------------------===//

/// An operator that clamps `x` on one side by a constant.
struct Bound {
  Operation *op = nullptr;
  unsigned operand = 0; ///< the index of `x` among the operands
  bool isLower = false;
  double number = 0;

  Value x() const { return op->getOperand(operand); }
  Value result() const { return op->getResult(0); }
  /// Whether values within this bound are also within `other`, a bound on the
  /// same side.
  bool isWithin(const Bound &other) const {
    return isLower ? number >= other.number : number <= other.number;
  }
  /// Whether one of the two bounds is stricter, or both are the same. False for
  /// 0.0 and -0.0, which compare equal but differ.
  bool isOrderedWith(const Bound &other) const {
    return number != other.number ||
           std::signbit(number) == std::signbit(other.number);
  }

  static std::optional<Bound> of(Operation *op) {
    if (isa_and_nonnull<ReluOp>(op))
      return Bound{op, 0, true, 0.0};
    if (!isa_and_nonnull<MaximumOp, MinimumOp>(op))
      return std::nullopt;
    for (unsigned i : {0u, 1u})
      if (std::optional<double> number = uniformNumber(op->getOperand(1 - i));
          number && isExact(*number, elementOf(op->getResult(0))) &&
          op->getOperand(i).getType() == op->getResult(0).getType())
        return Bound{op, i, isa<MaximumOp>(op), *number};
    return std::nullopt;
  }

  /// Whether a constant of `type` that uniformNumber returns as `number` is
  /// surely equal to it. False for NaN, and for integers that a double may
  /// round.
  static bool isExact(double number, Type type) {
    return isa<FloatType>(type) ? !std::isnan(number)
                                : std::abs(number) < 0x1p53;
  }
};

/// max(max(x, 1), 2) -> max(x, 2)
/// max(min(max(x, 0), 6), 0) -> min(max(x, 0), 6)
struct MergeBounds : RewritePattern {
  explicit MergeBounds(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    std::optional<Bound> last = Bound::of(op);
    std::optional<Bound> inner =
        last ? Bound::of(last->x().getDefiningOp()) : std::nullopt;
    if (!inner)
      return failure();
    if (inner->isLower == last->isLower) {
      if (!last->isOrderedWith(*inner))
        return failure();
      if (inner->isWithin(*last))
        rewriter.replaceOp(op, inner->result());
      else
        rewriter.modifyOpInPlace(
            op, [&] { op->setOperand(last->operand, inner->x()); });
      return success();
    }
    std::optional<Bound> first = Bound::of(inner->x().getDefiningOp());
    if (!first || first->isLower != last->isLower ||
        !last->isOrderedWith(*first))
      return failure();
    double low = last->isLower ? first->number : inner->number,
           high = last->isLower ? inner->number : first->number;
    if (first->isWithin(*last)) {
      // If the lower bound exceeds the upper one, the operator applied last
      // determines the result.
      if (low > high)
        return failure();
      rewriter.replaceOp(op, inner->result());
      return success();
    }
    if (!inner->result().hasOneUse())
      return failure();
    rewriter.modifyOpInPlace(
        inner->op, [&] { inner->op->setOperand(inner->operand, first->x()); });
    return success();
  }
};

/// quantize(relu(x), scale, zero) -> quantize(x, scale, zero) if `zero` is the
/// lowest value of the integer type and `scale` is positive (both constants):
/// negative numbers then saturate to `zero`. Only for types of at most 16 bits,
/// for which NaN is quantized to the lowest value, too.
LogicalResult dropBoundOfQuantized(QuantizeOp op, PatternRewriter &rewriter) {
  std::optional<Bound> bound = Bound::of(op.getX().getDefiningOp());
  auto type = dyn_cast<IntegerType>(elementOf(op.getResult()));
  std::optional<double> zero = uniformNumber(op.getZero()),
                        scale = uniformNumber(op.getScale());
  if (!bound || !bound->isLower || bound->number != 0 || !type || !zero ||
      !scale || !(*scale > 0))
    return failure();
  double least =
      type.isUnsigned() ? 0 : -std::ldexp(1.0, int(type.getWidth()) - 1);
  if (*zero != least || type.getWidth() > 16)
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.getXMutable().assign(bound->x()); });
  return success();
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Whether `to` is known to represent every value of `from`.
bool holdsAll(Type from, Type to) {
  auto fromFloat = dyn_cast<FloatType>(from), toFloat = dyn_cast<FloatType>(to);
  if (fromFloat && toFloat)
    return isa<Float16Type, BFloat16Type, Float32Type>(from) &&
           (isa<Float64Type>(to) || (isa<Float32Type>(to) && from != to));
  auto fromInt = dyn_cast<IntegerType>(from);
  if (!fromInt)
    return false;
  unsigned width = fromInt.getWidth();
  if (toFloat)
    return isa<Float16Type, Float32Type, Float64Type>(to) &&
           width <= toFloat.getFPMantissaWidth();
  auto toInt = cast<IntegerType>(to);
  if (width == 1)
    return true;
  bool isUnsigned = fromInt.isUnsigned();
  return toInt.getWidth() > width && (isUnsigned || !toInt.isUnsigned());
}

/// cast(cast(x)) -> cast(x), or x, if the first conversion is lossless;
/// cast(x) -> x if the type stays the same.
LogicalResult mergeCasts(CastOp op, PatternRewriter &rewriter) {
  Value x = op->getOperand(0);
  if (x.getType() == op.getType()) {
    rewriter.replaceOp(op, x);
    return success();
  }
  auto inner = x.getDefiningOp<CastOp>();
  if (!inner)
    return failure();
  Value source = inner->getOperand(0);
  Type from = elementOf(source);
  if (!holdsAll(from, elementOf(x)))
    return failure();
  if (source.getType() == op.getType()) {
    rewriter.replaceOp(op, source);
    return success();
  }
  // Two conversions are merged only if both wrap numbers out of range
  // (integers) or both saturate them (floats). The values of i1 are in the
  // range of every type.
  if (!from.isInteger(1) &&
      isa<FloatType>(from) != isa<FloatType>(elementOf(x)))
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op->setOperand(0, source); });
  return success();
}

//===----------------------------------------------------------------------===//
// Broadcasting
//===----------------------------------------------------------------------===//

/// add(x, expand(y)) -> add(x, y), if x and y broadcast to the same result.
struct DropExpand : OpInterfaceRewritePattern<ElementwiseOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(ElementwiseOpInterface op,
                                PatternRewriter &rewriter) const override {
    for (OpOperand &operand : op->getOpOperands()) {
      auto expand = operand.get().getDefiningOp<ExpandOp>();
      if (!expand)
        continue;
      SmallVector<Dims> sizes;
      for (OpOperand &each : op->getOpOperands())
        sizes.push_back(dimsOf(&each == &operand ? expand.getX() : each.get()));
      auto shape = broadcastShapes(
          SmallVector<ArrayRef<Dim>>(sizes.begin(), sizes.end()));
      if (!shape || *shape != dimsOf(op->getResult(0)))
        continue;
      rewriter.modifyOpInPlace(op, [&] { operand.set(expand.getX()); });
      return success();
    }
    return failure();
  }
};

} // namespace

void populateElementwisePatterns(RewritePatternSet &patterns) {
  patterns.add<DropNeutral>(patterns.getContext())
      .add(multiplyByInverse)
      .add<DropSecond<ReluOp>, DropSecond<AbsOp>, DropSecond<FloorOp>,
           DropSecond<CeilOp>, DropSecond<RoundOp>, DropSecond<SignOp>,
           DropBoth<NegOp>, DropBoth<NotOp>>(patterns.getContext())
      .add(dropSign)
      .add<MergeBounds>(patterns.getContext())
      .add(dropBoundOfQuantized)
      .add(mergeCasts)
      .add<DropExpand>(patterns.getContext());
}

} // namespace ingot::graph
