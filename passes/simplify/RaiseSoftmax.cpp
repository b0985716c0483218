// Raises decomposed softmax.
//
//   e = exp(x - max(x)),  y = e / sum(e)          softmax
//   d - log(sum(exp(d))),  log(softmax(x))        log_softmax
//   where(is_nan(softmax(x)), 0, softmax(x))      softmax {zero_nan}
//
// Softmax without the maximum matches as well, since the softmax operator
// subtracts the maximum itself. PyTorch exports the last form, for rows that a
// mask excludes completely.

#include "dialects/graph/ops/Patterns.h"
#include "passes/simplify/RaiseComposites.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {
namespace {

/// Returns x if `v` is x - max(x) along `axis`, and only `root` and matched
/// operations use the difference and the maximum. Then sets `matched` to
/// `known` and these two operations. Otherwise returns `v` itself.
Value withoutMaximum(Value v, int64_t axis, Operation *root,
                     const Matched &known, Matched &matched) {
  Matched more = known;
  auto difference = more.take<SubOp>(v);
  auto maximum = difference ? more.take<ReduceMaxOp>(difference->getOperand(1))
                            : ReduceMaxOp();
  if (!maximum || maximum.getAxes() != ArrayRef(axis) ||
      maximum.getInput() != difference->getOperand(0) ||
      !more.isPrivateTo(root))
    return v;
  matched = more;
  return maximum.getInput();
}

/// Replaces `root` by an OpT (softmax or log_softmax) of `d` along the only
/// axis of `sum`, which sums exp(d). Fails if a value between `d` and `root`
/// has other users.
template <typename OpT>
LogicalResult raise(Operation *root, Value d, ReduceSumOp sum, Matched &matched,
                    PatternRewriter &rewriter) {
  Type type = root->getResult(0).getType();
  if (sum.getAxes().size() != 1 || d.getType() != type ||
      !isa<FloatType>(elementOf(d)))
    return failure();
  int64_t axis = sum.getAxes().front();
  Matched known = matched;
  Value x = withoutMaximum(d, axis, root, known, matched);
  if (!matched.isPrivateTo(root))
    return failure();
  matched.add(root);
  auto op = OpT::create(rewriter, matched.location(rewriter), type, x,
                        rewriter.getI64IntegerAttr(axis));
  rewriter.replaceOp(root, op->getResults());
  return success();
}

/// Raises e / sum(e) and e * (1 / sum(e)), with e = exp(d), to softmax(d).
struct RaiseQuotient : RewritePattern {
  explicit RaiseQuotient(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa<DivOp, MulOp>(op))
      return failure();
    for (unsigned i : {0u, 1u}) {
      Matched matched;
      auto exp = matched.take<ExpOp>(op->getOperand(i));
      Value divisor = otherOperand(op, i);
      if (isa<MulOp>(op)) {
        auto inverse = matched.take<ReciprocalOp>(divisor);
        divisor = inverse ? inverse->getOperand(0) : Value();
      } else if (i == 1) {
        return failure();
      }
      auto sum = matched.take<ReduceSumOp>(divisor);
      if (exp && sum && sum.getInput() == exp->getResult(0) &&
          succeeded(
              raise<SoftmaxOp>(op, exp->getOperand(0), sum, matched, rewriter)))
        return success();
    }
    return failure();
  }
};

/// Raises d - log(sum(exp(d))) to log_softmax(d).
LogicalResult raiseDifference(SubOp op, PatternRewriter &rewriter) {
  Matched matched;
  auto log = matched.take<LogOp>(op->getOperand(1));
  auto sum =
      log ? matched.take<ReduceSumOp>(log->getOperand(0)) : ReduceSumOp();
  auto exp = sum ? matched.take<ExpOp>(sum.getInput()) : ExpOp();
  if (!exp || exp->getOperand(0) != op->getOperand(0))
    return failure();
  return raise<LogSoftmaxOp>(op, op->getOperand(0), sum, matched, rewriter);
}

/// Raises log(softmax(x)) to log_softmax(x).
LogicalResult raiseLogarithm(LogOp op, PatternRewriter &rewriter) {
  auto softmax = op->getOperand(0).getDefiningOp<SoftmaxOp>();
  if (!softmax || !softmax->hasOneUse() || softmax.getZeroNan())
    return failure();
  rewriter.replaceOpWithNewOp<LogSoftmaxOp>(
      op, op.getType(), softmax.getInput(), softmax.getAxisAttr());
  return success();
}

/// Raises where(is_nan(softmax(x)), 0, softmax(x)) to a softmax with
/// `zero_nan`.
LogicalResult raiseGuard(WhereOp op, PatternRewriter &rewriter) {
  Matched matched;
  auto softmax = matched.take<SoftmaxOp>(op.getY());
  auto test = matched.take<IsNaNOp>(op.getCondition());
  if (!softmax || !test || test->getOperand(0) != op.getY() ||
      op.getType() != softmax.getType() || !isUniform(op.getX(), 0.0) ||
      !matched.isPrivateTo(op))
    return failure();
  rewriter.replaceOpWithNewOp<SoftmaxOp>(op, op.getType(), softmax.getInput(),
                                         softmax.getAxisAttr(),
                                         rewriter.getUnitAttr());
  return success();
}

} // namespace

void populateSoftmaxPatterns(RewritePatternSet &patterns) {
  patterns.add<RaiseQuotient>(patterns.getContext())
      .add(raiseDifference)
      .add(raiseLogarithm)
      .add(raiseGuard);
}

} // namespace ingot::simplify
