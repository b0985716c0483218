// Factors per channel go into the weights.
//
//   mul(conv(x, w, b), s)  ->  conv(x, w * s, b * s)
//   add(conv(x, w, b), t)  ->  conv(x, w, b + t)
//
// for constant s and t with one entry per output channel, or one in all. What a
// normalization after a convolution leaves over disappears like this. Matrix
// products take factors; terms stay in their epilogue.

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Movement.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/simplify/Passes.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {
#define GEN_PASS_DEF_FOLDSCALES
#include "passes/simplify/Passes.h.inc"

namespace {

/// `v` as a tensor of one axis with an entry for each of `channels`, or null.
Value perChannel(OpBuilder &builder, Value v, int64_t channels) {
  if (!v.getDefiningOp<ConstantOp>())
    return {};
  int64_t elements = tensorType(v).getNumElements();
  ArrayRef<int64_t> shape = shapeOf(v);
  if (elements != 1 && (elements != channels || shape.back() != channels))
    return {};
  Value flat = buildReshape(builder, v.getLoc(), v, {elements});
  if (elements == channels)
    return flat;
  return ExpandOp::create(builder, v.getLoc(), flat, channels);
}

template <typename OpT>
Value elementwise(OpBuilder &builder, Location loc, Value x, Value y) {
  return OpT::create(builder, loc, TypeRange{x.getType()}, ValueRange{x, y})
      .getResult();
}

/// The constant operand of a commutative operator on `anchor`'s only use.
template <typename OpT> std::pair<Operation *, Value> splitOperands(OpT op) {
  for (unsigned i : {0u, 1u}) {
    Operation *producer = op->getOperand(i).getDefiningOp();
    Value other = op->getOperand(1 - i);
    if (isa_and_nonnull<ConvOp, MatMulOp>(producer) && producer->hasOneUse() &&
        other.getDefiningOp<ConstantOp>() &&
        op->getOperand(i).getType() == op->getResult(0).getType())
      return {producer, other};
  }
  return {nullptr, Value()};
}

struct FoldFactor : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MulOp op,
                                PatternRewriter &rewriter) const override {
    auto [producer, factor] = splitOperands(op);
    if (!producer || !isa<FloatType>(elementOf(factor)))
      return failure();
    Value weights = producer->getOperand(1);
    if (!weights.getDefiningOp<ConstantOp>())
      return failure();
    rewriter.setInsertionPoint(op);
    Value s =
        perChannel(rewriter, factor, shapeOf(producer->getResult(0)).back());
    if (!s)
      return failure();
    Operation *scaled = rewriter.clone(*producer);
    rewriter.setInsertionPoint(scaled);
    scaled->setOperand(1,
                       elementwise<MulOp>(rewriter, op.getLoc(), weights, s));
    if (auto conv = dyn_cast<ConvOp>(scaled); conv && conv.getBias())
      conv.getBiasMutable().assign(
          elementwise<MulOp>(rewriter, op.getLoc(), conv.getBias(), s));
    scaled->setLoc(rewriter.getFusedLoc({producer->getLoc(), op.getLoc()}));
    rewriter.replaceOp(op, scaled->getResults());
    rewriter.eraseOp(producer);
    return success();
  }
};

struct FoldTerm : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AddOp op,
                                PatternRewriter &rewriter) const override {
    auto [producer, term] = splitOperands(op);
    auto conv = dyn_cast_or_null<ConvOp>(producer);
    if (!conv)
      return failure();
    Value t = perChannel(rewriter, term, shapeOf(conv.getResult()).back());
    if (!t)
      return failure();
    Value bias = conv.getBias() ? elementwise<AddOp>(rewriter, op.getLoc(),
                                                     conv.getBias(), t)
                                : t;
    auto sum = ConvOp::create(
        rewriter, rewriter.getFusedLoc({conv.getLoc(), op.getLoc()}),
        conv.getType(), conv.getX(), conv.getW(), bias, conv.getStrides(),
        conv.getDilations(), conv.getLow(), conv.getGroups());
    rewriter.replaceOp(op, sum);
    rewriter.eraseOp(conv);
    return success();
  }
};

struct FoldScalesPass : impl::FoldScalesBase<FoldScalesPass> {
  using Base::Base;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldFactor, FoldTerm>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ingot::simplify
