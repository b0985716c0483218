// Makes sums start with their first product.
//
//     %sum = vector.fma %a, %b, %zero  =>  %sum = arith.mulf %a, %b
//
// Loops start their sums at zero, and after unrolling, this zero remains in the
// expression. Removing it can change only the sign of a zero result: a sum of
// the single product -0.0 is then -0.0, as ONNX defines it.

#include "passes/legalize/Expansions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ingot::legalize {

namespace {

Value addend(vector::FMAOp op) { return op.getAcc(); }
Value addend(math::FmaOp op) { return op.getC(); }

template <typename Op> struct StartSum : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Value start = addend(op);
    if (auto splat = start.getDefiningOp<vector::BroadcastOp>())
      start = splat.getSource();
    if (!matchPattern(start, m_AnyZeroFloat()))
      return failure();
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, op->getOperand(0),
                                               op->getOperand(1));
    return success();
  }
};

} // namespace

void populateStartSums(RewritePatternSet &patterns) {
  patterns.add<StartSum<vector::FMAOp>, StartSum<math::FmaOp>>(
      patterns.getContext());
}

} // namespace ingot::legalize
