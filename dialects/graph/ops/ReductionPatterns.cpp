// Canonicalization of reductions over axes of size 1.

#include "dialects/graph/ops/Patterns.h"

using namespace mlir;

namespace ingot::graph {
namespace {

/// Drops axes of size 1 from the reduced axes. If no reduced axis is left,
/// replaces the sum, mean, product, maximum or minimum by its operand.
struct DropSingleAxes : OpInterfaceRewritePattern<ReductionOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(ReductionOpInterface op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getInput();
    SmallVector<int64_t> axes;
    for (int64_t axis : op.getAxes())
      if (!(dimsOf(x)[axis] == 1))
        axes.push_back(axis);
    bool keepsElement =
        isa<ReduceSumOp, ReduceMeanOp, ReduceProdOp, ReduceMaxOp, ReduceMinOp>(
            op);
    if (axes.empty() && keepsElement &&
        x.getType() == op->getResult(0).getType()) {
      rewriter.replaceOp(op, x);
      return success();
    }
    if (axes.empty() || axes.size() == op.getAxes().size())
      return failure();
    rewriter.modifyOpInPlace(
        op, [&] { op->setAttr("axes", rewriter.getDenseI64ArrayAttr(axes)); });
    return success();
  }
};

} // namespace

void populateReductionPatterns(RewritePatternSet &patterns) {
  patterns.add<DropSingleAxes>(patterns.getContext());
}

} // namespace ingot::graph
