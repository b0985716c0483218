// Raises decomposed normalizations of rows.
//
//   d = x - mean(x),  y = d / sqrt(mean(d * d) + epsilon)     layer_norm, centered
//   y = x / sqrt(mean(x * x) + epsilon)                       layer_norm
//   layer_norm(x) * scale + bias              layer_norm with scale and bias
//
// Normalizations are over the last axis; or over several last axes if a scale
// of their shape follows. The scale distinguishes a layer normalization from an
// instance normalization, which stays decomposed, since convolutions change the
// layout around it.

#include "dialects/graph/ops/Movement.h"
#include "dialects/graph/ops/Patterns.h"
#include "passes/simplify/RaiseComposites.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {
namespace {

/// Whether `axes`, of which there must be at least one, are the last axes of
/// `x` in ascending order.
bool areLast(ArrayRef<int64_t> axes, Value x) {
  int64_t rank = shapeOf(x).size();
  for (auto [i, axis] : llvm::enumerate(axes))
    if (axis !=
        rank - static_cast<int64_t>(axes.size()) + static_cast<int64_t>(i))
      return false;
  return !axes.empty();
}

/// Returns the reduction if `v` is a mean over the last axes; null otherwise.
ReduceMeanOp meanOf(Value v, Matched &matched) {
  auto mean = matched.take<ReduceMeanOp>(v);
  return mean && areLast(mean.getAxes(), mean.getInput()) ? mean
                                                          : ReduceMeanOp();
}

/// The operands of sqrt(mean(x * x) + epsilon); x may be a difference from a
/// mean.
struct Deviation {
  Value squared; ///< the x that is squared
  ArrayRef<int64_t> axes;
  float epsilon;

  /// Matches mean(x * x) + epsilon.
  static std::optional<Deviation> ofVariance(Value v, Matched &matched) {
    auto sum = matched.take<AddOp>(v);
    for (unsigned i : {0u, 1u}) {
      std::optional<double> epsilon =
          sum ? uniformNumber(sum->getOperand(i)) : std::nullopt;
      if (!epsilon || !(*epsilon > 0 && *epsilon < 1) ||
          !fitsAttribute(*epsilon, sum.getResult()))
        continue;
      ReduceMeanOp mean = meanOf(otherOperand(sum, i), matched);
      Value x = mean ? squareOf(mean.getInput(), matched) : Value();
      if (x && x.getType() == mean.getInput().getType() &&
          mean.getType() == sum.getType())
        return Deviation{x, mean.getAxes(), static_cast<float>(*epsilon)};
    }
    return std::nullopt;
  }

  static std::optional<Deviation> of(Value v, Matched &matched) {
    if (auto power = matched.take<PowOp>(v))
      return isUniform(power->getOperand(1), 0.5)
                 ? ofVariance(power->getOperand(0), matched)
                 : std::nullopt;
    auto root = matched.take<SqrtOp>(v);
    return root ? ofVariance(root->getOperand(0), matched) : std::nullopt;
  }

  static std::optional<Deviation> ofInverse(Value v, Matched &matched) {
    if (auto power = matched.take<PowOp>(v))
      return isUniform(power->getOperand(1), -0.5)
                 ? ofVariance(power->getOperand(0), matched)
                 : std::nullopt;
    if (auto inverse = matched.take<ReciprocalOp>(v))
      return of(inverse->getOperand(0), matched);
    auto quotient = matched.take<DivOp>(v);
    if (!quotient || !isUniform(quotient->getOperand(0), 1.0) ||
        quotient->getOperand(1).getType() != quotient.getType())
      return std::nullopt;
    return of(quotient->getOperand(1), matched);
  }
};

/// Returns x if `v` is x - mean(x, axes); null otherwise.
Value uncentered(Value v, ArrayRef<int64_t> axes, Matched &matched) {
  auto difference = matched.take<SubOp>(v);
  ReduceMeanOp mean =
      difference ? meanOf(difference->getOperand(1), matched) : ReduceMeanOp();
  if (!mean || mean.getAxes() != axes ||
      mean.getInput() != difference->getOperand(0))
    return {};
  return mean.getInput();
}

/// Returns the shape of the scale or bias `v`, without leading axes of size 1.
ArrayRef<int64_t> shapeOfParameter(Value v) {
  return shapeOf(v).drop_while([](int64_t size) { return size == 1; });
}

/// Whether the sizes of the last `axes` axes of `x` are static.
bool hasKnownRows(Value x, size_t axes) {
  return llvm::all_of(ArrayRef(dimsOf(x)).take_back(axes),
                      [](const Dim &size) { return size.known().has_value(); });
}

/// Builds the normalization of `x` over its last axes `axes`, with the scale
/// and bias in `affine`, and gives the result the shape of `x`.
Value buildNorm(OpBuilder &builder, Location loc, Value x,
                ArrayRef<int64_t> axes, ArrayRef<Value> affine, float epsilon,
                bool center) {
  Dims sizes = dimsOf(x), rows(ArrayRef(sizes).drop_back(axes.size()));
  int64_t length =
      ShapedType::getNumElements(shapeOf(x).take_back(axes.size()));
  rows.push_back(length);
  Value flat = axes.size() == 1 ? x : buildReshape(builder, loc, x, rows);
  SmallVector<Value> parameters;
  for (Value v : affine)
    parameters.push_back(
        shapeOf(v).size() == 1 ? v : buildReshape(builder, loc, v, {length}));
  Value y = LayerNormOp::create(builder, loc, flat.getType(), flat, parameters,
                                builder.getF32FloatAttr(epsilon),
                                builder.getBoolAttr(center));
  return axes.size() == 1 ? y : buildReshape(builder, loc, y, sizes);
}

/// Whether the only user of `y` multiplies it by a parameter with the shape of
/// the last `axes` axes of `y`.
bool isScaled(Value y, size_t axes) {
  if (!y.hasOneUse() || !isa<MulOp>(*y.user_begin()))
    return false;
  Operation *product = *y.user_begin();
  Value scale = otherOperand(product, y.use_begin()->getOperandNumber());
  return product->getResult(0).getType() == y.getType() &&
         shapeOfParameter(scale) == shapeOf(y).take_back(axes);
}

/// Raises d / deviation and d * (1 / deviation) to layer_norm.
struct RaiseNorm : RewritePattern {
  explicit RaiseNorm(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (isa<DivOp>(op)) {
      Matched matched;
      return raise(op, op->getOperand(0),
                   Deviation::of(op->getOperand(1), matched), matched,
                   rewriter);
    }
    if (!isa<MulOp>(op))
      return failure();
    for (unsigned i : {0u, 1u}) {
      Matched matched;
      if (succeeded(raise(op, op->getOperand(i),
                          Deviation::ofInverse(otherOperand(op, i), matched),
                          matched, rewriter)))
        return success();
    }
    return failure();
  }

  static LogicalResult raise(Operation *root, Value x,
                             std::optional<Deviation> deviation,
                             Matched &matched, PatternRewriter &rewriter) {
    Value y = root->getResult(0);
    if (!deviation || deviation->squared != x || x.getType() != y.getType() ||
        !isa<FloatType>(elementOf(x)))
      return failure();
    size_t axes = deviation->axes.size();
    if (!hasKnownRows(y, axes) || (axes > 1 && !isScaled(y, axes)))
      return failure();
    Matched centered = matched;
    Value input = uncentered(x, deviation->axes, centered);
    bool center = input && centered.isPrivateTo(root);
    if (center)
      matched = centered;
    else
      input = x;
    if (!matched.isPrivateTo(root))
      return failure();
    matched.add(root);
    rewriter.replaceOp(root, buildNorm(rewriter, matched.location(rewriter),
                                       input, deviation->axes, {},
                                       deviation->epsilon, center));
    return success();
  }
};

/// Raises x * s + (bias - mean * s) with s = scale / deviation, the form that
/// Keras exports, to layer_norm.
struct RaiseFoldedNorm : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp op,
                                PatternRewriter &rewriter) const override {
    for (unsigned i : {0u, 1u})
      for (unsigned j : {0u, 1u})
        for (unsigned k : {0u, 1u})
          if (succeeded(raise(op, i, j, k, rewriter)))
            return success();
    return failure();
  }

private:
  /// `i`, `j` and `k` choose the order of operands: the product x * s is
  /// operand `i` of `op`, s is operand `j` of the product, and the scale is
  /// operand `k` of s.
  static LogicalResult raise(AddOp op, unsigned i, unsigned j, unsigned k,
                             PatternRewriter &rewriter) {
    Matched matched;
    auto product = matched.take<MulOp>(op->getOperand(i));
    auto rest = matched.take<SubOp>(otherOperand(op, i));
    auto shift = rest ? matched.take<MulOp>(rest->getOperand(1)) : MulOp();
    if (!product || !shift)
      return failure();
    Value s = product->getOperand(j), x = otherOperand(product, j);
    unsigned at = shift->getOperand(0) == s ? 0 : 1;
    ReduceMeanOp mean = meanOf(otherOperand(shift, at), matched);
    auto scaled = matched.take<MulOp>(s);
    if (shift->getOperand(at) != s || !mean || mean.getInput() != x || !scaled)
      return failure();
    auto deviation = Deviation::ofInverse(otherOperand(scaled, k), matched);
    Value scale = scaled->getOperand(k), bias = rest->getOperand(0);
    if (!deviation || deviation->axes != mean.getAxes() ||
        uncentered(deviation->squared, mean.getAxes(), matched) != x ||
        x.getType() != op.getType() || !isa<FloatType>(elementOf(x)))
      return failure();
    ArrayRef<int64_t> row = shapeOf(x).take_back(mean.getAxes().size());
    if (!hasKnownRows(x, mean.getAxes().size()) ||
        shapeOfParameter(scale) != row || shapeOfParameter(bias) != row ||
        !matched.isPrivateTo(op))
      return failure();
    matched.add(op);
    rewriter.replaceOp(op, buildNorm(rewriter, matched.location(rewriter), x,
                                     deviation->axes, {scale, bias},
                                     deviation->epsilon, /*center=*/true));
    return success();
  }
};

/// Makes the factor in layer_norm(x) * factor, or the addend in layer_norm(x,
/// scale) + addend, a parameter of the layer_norm.
template <typename OpT> struct TakeParameter : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  static constexpr size_t known = std::is_same_v<OpT, MulOp> ? 0 : 1;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    for (unsigned i : {0u, 1u}) {
      Value y = op->getOperand(i), parameter = otherOperand(op, i);
      if (y.getType() != op.getType() || !y.hasOneUse())
        continue;
      auto reshape = y.template getDefiningOp<ReshapeOp>();
      auto norm =
          (reshape ? reshape.getX() : y).template getDefiningOp<LayerNormOp>();
      if (!norm || !norm->hasOneUse() || norm.getAffine().size() != known)
        continue;
      ArrayRef<int64_t> row = shapeOfParameter(parameter);
      int64_t length = shapeOf(norm.getResult()).back();
      if (elementOf(parameter) != elementOf(y) ||
          !hasKnownRows(norm.getResult(), 1) ||
          hasDynamicSizes(parameter.getType()) ||
          row != shapeOf(y).take_back(row.size()) ||
          ShapedType::getNumElements(row) != length)
        continue;
      SmallVector<Value> affine(norm.getAffine());
      affine.push_back(
          buildReshape(rewriter, op.getLoc(), parameter, {length}));
      Location loc = rewriter.getFusedLoc({norm.getLoc(), op.getLoc()});
      Value raised = LayerNormOp::create(
          rewriter, loc, norm.getType(), norm.getInput(), affine,
          norm.getEpsilonAttr(), norm.getCenterAttr());
      rewriter.replaceOp(op, buildReshape(rewriter, loc, raised, dimsOf(y)));
      return success();
    }
    return failure();
  }
};

} // namespace

void populateNormalizationPatterns(RewritePatternSet &patterns) {
  patterns.add<RaiseNorm, RaiseFoldedNorm, TakeParameter<MulOp>,
               TakeParameter<AddOp>>(patterns.getContext());
}

} // namespace ingot::simplify
