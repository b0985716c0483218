// Products of narrow integers without an instruction.
//
//     %s = kernel.dot unsigned %a, %b, %sum : vector<16xi8>, vector<4xi32>
//  => %a0 = arith.extui (lanes 0, 4, 8, 12 of %a), %b0 = arith.extsi (those of %b)
//     %s0 = %sum + %a0 * %b0, then the same with lanes 1, 5, 9, 13 and so on
//
// A target that has the product with its operands in the other order gets them
// in that order. What the target has is left alone.

#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/NumberTypes.h"
#include "passes/legalize/Expansions.h"
#include "targets/TargetDescription.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::legalize {

namespace {

struct ExpandDot : OpRewritePattern<kernel::DotOp> {
  ExpandDot(MLIRContext *context, const TargetDescription &target)
      : OpRewritePattern(context), target(target) {}

  LogicalResult matchAndRewrite(kernel::DotOp op,
                                PatternRewriter &rewriter) const override {
    std::string a = op.getTypeOfA(), b = op.getTypeOfB();
    unsigned group = op.getGroup(), lanes = op.getLanes();
    if (target.product(a, b, group, lanes))
      return failure();
    if (target.product(b, a, group, lanes)) {
      rewriter.replaceOpWithNewOp<kernel::DotOp>(
          op, op.getType(), op.getB(), op.getA(), op.getAccumulator(),
          op.getBUnsigned(), op.getAUnsigned());
      return success();
    }
    Location loc = op.getLoc();
    Value sum = op.getAccumulator();
    for (unsigned inGroup = 0; inGroup < group; ++inGroup) {
      auto widened = [&](Value vector, bool isUnsigned) {
        Value narrow = everyNth(rewriter, loc, vector, inGroup, group);
        if (isUnsigned)
          return arith::ExtUIOp::create(rewriter, loc, sum.getType(), narrow)
              .getResult();
        return arith::ExtSIOp::create(rewriter, loc, sum.getType(), narrow)
            .getResult();
      };
      Value product = arith::MulIOp::create(
          rewriter, loc, widened(op.getA(), op.getAUnsigned()),
          widened(op.getB(), op.getBUnsigned()));
      sum = arith::AddIOp::create(rewriter, loc, sum, product);
    }
    rewriter.replaceOp(op, sum);
    return success();
  }

private:
  /// The lanes `first`, `first + step`, ... of `vector`; a scalar if that is one.
  static Value everyNth(OpBuilder &builder, Location loc, Value vector,
                        int64_t first, int64_t step) {
    SmallVector<int64_t> lanes;
    for (int64_t i = first; i < laneCount(vector.getType()); i += step)
      lanes.push_back(i);
    if (lanes.size() == 1)
      return vector::ExtractOp::create(builder, loc, vector, first);
    return vector::ShuffleOp::create(builder, loc, vector, vector, lanes);
  }

  const TargetDescription &target;
};

} // namespace

void populateExpandDot(RewritePatternSet &patterns,
                       const TargetDescription &target) {
  patterns.add<ExpandDot>(patterns.getContext(), target);
}

} // namespace ingot::legalize
