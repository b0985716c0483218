// Folds explicit padding into the window operator that reads it.
//
//   conv(pad(x, 0, low), w) {low = l}  ->  conv(x, w) {low = l + low}
//
// A transpose to channels last may be between the two operators. The shape of
// the result does not change. It determines the padding at the high end, so
// only `low` is changed.

#include "dialects/graph/ops/Patterns.h"

using namespace mlir;

namespace ingot::graph {
namespace {

/// Padding of the spatial axes of a window operator's operand by a constant.
/// `low` and `high` have an entry for each axis of that operand.
struct Padding {
  PadOp pad;
  TransposeOp transpose; ///< between the padding and its reader, or null
  SmallVector<int64_t> low, high;

  /// Matches `x` if it is the result of a graph.pad of mode `constant` or of a
  /// transpose of such a result. Returns nullopt if the pad or the transpose
  /// has several readers, if the pad has a dynamic size, if the rank is below
  /// 3, or if batch or channel axes are padded.
  static std::optional<Padding> of(Value x) {
    Padding found;
    found.transpose = x.getDefiningOp<TransposeOp>();
    Value padded = found.transpose ? found.transpose.getX() : x;
    found.pad = padded.getDefiningOp<PadOp>();
    if (!found.pad || !x.hasOneUse() || !padded.hasOneUse() ||
        found.pad.getMode() != "constant" || shapeOf(x).size() < 3 ||
        hasDynamicSizes(found.pad))
      return std::nullopt;
    ArrayRef<int64_t> from = shapeOf(found.pad.getX()), to = shapeOf(padded);
    for (auto [axis, before] : llvm::enumerate(found.pad.getLow())) {
      found.low.push_back(before);
      found.high.push_back(to[axis] - from[axis] - before);
    }
    if (found.transpose) {
      found.low = permuted(found.low, found.transpose.getPerm());
      found.high = permuted(found.high, found.transpose.getPerm());
    }
    if (found.low.front() || found.high.front() || found.low.back() ||
        found.high.back())
      return std::nullopt;
    return found;
  }

  ArrayRef<int64_t> spatialLow() const {
    return ArrayRef(low).drop_front().drop_back();
  }
  ArrayRef<int64_t> spatialHigh() const {
    return ArrayRef(high).drop_front().drop_back();
  }

  /// Returns the operand of the padding; transposed if a transpose follows the
  /// padding.
  Value unpadded(OpBuilder &builder) {
    if (!transpose)
      return pad.getX();
    return TransposeOp::create(builder, transpose.getLoc(), pad.getX(),
                               transpose.getPerm());
  }
};

SmallVector<int64_t> sum(ArrayRef<int64_t> x, ArrayRef<int64_t> y) {
  SmallVector<int64_t> result;
  for (auto [a, b] : llvm::zip_equal(x, y))
    result.push_back(a + b);
  return result;
}

bool isZero(Value v) {
  std::optional<double> number = uniformNumber(v);
  return number && *number == 0;
}

/// Whether all elements of `v` are the identity of max, the lowest number of
/// their type. False for 8-bit floats and integers of more than 32 bits.
bool isLowest(Value v) {
  std::optional<double> number = uniformNumber(v);
  if (!number)
    return false;
  Type type = elementOf(v);
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type))
    return *number == -std::numeric_limits<double>::infinity();
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() > 32)
    return false;
  bool isUnsigned = integer.isUnsigned() || integer.getWidth() == 1;
  return *number == (isUnsigned ? 0 : -std::ldexp(1, integer.getWidth() - 1));
}

/// Whether all elements of `v` are known to be non-negative. Looks through up to
/// `depth` operators: the values between them may form a graph with very many
/// paths.
bool isNonNegative(Value v, unsigned depth = 6) {
  Operation *op = v.getDefiningOp();
  if (isa_and_nonnull<ReluOp, SigmoidOp>(op))
    return true;
  if (depth == 0 || !isa_and_nonnull<MaximumOp, MinimumOp>(op))
    return false;
  auto isSo = [&](Value x) {
    std::optional<double> number = uniformNumber(x);
    return number ? *number >= 0 : isNonNegative(x, depth - 1);
  };
  bool x = isSo(op->getOperand(0)), y = isSo(op->getOperand(1));
  return isa<MaximumOp>(op) ? x || y : x && y;
}

/// Returns the value that an operator gives to positions outside of its input.
int64_t outsideOf(ConvOp conv) { return conv.getXZero() + conv.getXOutside(); }
int64_t outsideOf(LpPoolOp) { return 0; }

/// Folds padding into a convolution or a pool with a p-norm, if the padding has
/// the value that the operator itself gives to positions outside of its input.
template <typename OpT> struct PadIntoSum : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    std::optional<Padding> padding = Padding::of(op.getX());
    if (!padding || uniformNumber(padding->pad.getValue()) !=
                        std::optional<double>(outsideOf(op)))
      return failure();
    Value x = padding->unpadded(rewriter);
    rewriter.modifyOpInPlace(op, [&] {
      op.getXMutable().assign(x);
      op.setLow(sum(op.getLow(), padding->spatialLow()));
    });
    return success();
  }
};

/// Folds padding with the lowest number into a maximum pool, which itself pads
/// with this number. If all elements are non-negative and no window lies
/// entirely in the padding, also folds padding with zeros: the maximum stays
/// the same, except that a zero maximum may get the other sign.
///
/// A maximum pool ignores NaN, so the maximum of a window in which all other
/// elements are NaN is the zero of the padding. Therefore the maxima of floats
/// are raised to zero wherever a window contains padding.
struct PadIntoMaxPool : OpRewritePattern<MaxPoolOp> {
  using OpRewritePattern::OpRewritePattern;

  static bool hasElementInEachWindow(MaxPoolOp op, ArrayRef<int64_t> low,
                                     ArrayRef<int64_t> size) {
    for (size_t i = 0; i < low.size(); ++i) {
      int64_t lastStart =
          (shapeOf(op.getResult())[1 + i] - 1) * op.getStrides()[i] - low[i];
      if (op.getDilations()[i] != 1 || low[i] >= op.getKernel()[i] ||
          lastStart >= size[i])
        return false;
    }
    return true;
  }

  LogicalResult matchAndRewrite(MaxPoolOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Padding> padding = Padding::of(op.getX());
    if (!padding)
      return failure();
    SmallVector<int64_t> low = sum(op.getLow(), padding->spatialLow());
    Value value = padding->pad.getValue();
    SmallVector<int64_t> size;
    for (size_t i = 1; i + 1 < padding->low.size(); ++i)
      size.push_back(shapeOf(op.getX())[i] - padding->low[i] -
                     padding->high[i]);
    if (!isLowest(value) &&
        !(isZero(value) && isNonNegative(padding->pad.getX()) &&
          hasElementInEachWindow(op, low, size)))
      return failure();
    Value x = padding->unpadded(rewriter);
    rewriter.modifyOpInPlace(op, [&] {
      op.getXMutable().assign(x);
      op.setLow(low);
    });
    if (!isLowest(value) && isa<FloatType>(elementOf(x)))
      raiseToPadding(op, *padding, size, rewriter);
    return success();
  }

private:
  /// Raises the results of `op` to at least 0 wherever a window contains
  /// elements of `padding`. `size` are the spatial sizes without padding.
  static void raiseToPadding(MaxPoolOp op, const Padding &padding,
                             ArrayRef<int64_t> size,
                             PatternRewriter &rewriter) {
    RankedTensorType type = op.getResult().getType();
    auto number = [&](double value) {
      return rewriter.getFloatAttr(type.getElementType(), value);
    };
    Value raised = op;
    Operation *first = nullptr;
    rewriter.setInsertionPointAfter(op);
    for (size_t i = 0; i < size.size(); ++i) {
      SmallVector<int64_t> shape(type.getRank(), 1);
      shape[1 + i] = type.getDimSize(1 + i);
      SmallVector<Attribute> least;
      bool isPadded = false;
      for (int64_t window = 0; window < shape[1 + i]; ++window) {
        int64_t start = window * op.getStrides()[i] - op.getLow()[i];
        bool reaches = (start < 0 && padding.spatialLow()[i] > 0) ||
                       (start + op.getKernel()[i] > size[i] &&
                        padding.spatialHigh()[i] > 0);
        isPadded |= reaches;
        least.push_back(
            number(reaches ? 0 : -std::numeric_limits<double>::infinity()));
      }
      if (!isPadded)
        continue;
      Value bound = ConstantOp::create(
          rewriter, op.getLoc(),
          DenseElementsAttr::get(
              RankedTensorType::get(shape, type.getElementType()), least));
      raised = MaximumOp::create(rewriter, op.getLoc(), TypeRange{type},
                                 ValueRange{raised, bound});
      if (!first)
        first = raised.getDefiningOp();
    }
    if (first)
      rewriter.replaceAllUsesExcept(op.getResult(), raised, first);
  }
};

/// Folds padding with zeros into an average pool. The mean counts explicit
/// padding, so the pool must either count its own padding or have none.
LogicalResult padIntoAveragePool(AveragePoolOp op, PatternRewriter &rewriter) {
  std::optional<Padding> padding = Padding::of(op.getX());
  if (!padding || !isZero(padding->pad.getValue()))
    return failure();
  bool counts = op.getCountPadding();
  if (!counts && llvm::any_of(op.getLow(), [](int64_t v) { return v != 0; }))
    return failure();
  SmallVector<int64_t> high(padding->spatialHigh());
  if (counts)
    high = sum(high, op.getHigh());
  Value x = padding->unpadded(rewriter);
  rewriter.modifyOpInPlace(op, [&] {
    op.getXMutable().assign(x);
    op.setLow(sum(op.getLow(), padding->spatialLow()));
    op.setHigh(high);
    op.setCountPadding(true);
  });
  return success();
}

} // namespace

void populateWindowPatterns(RewritePatternSet &patterns) {
  patterns
      .add<PadIntoSum<ConvOp>, PadIntoSum<LpPoolOp>, PadIntoMaxPool>(
          patterns.getContext())
      .add(padIntoAveragePool);
}

} // namespace ingot::graph
