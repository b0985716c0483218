// Patterns that depend on the target.

#ifndef INGOT_PASSES_LEGALIZE_TARGETPATTERNS_H
#define INGOT_PASSES_LEGALIZE_TARGETPATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace ingot {
struct TargetDescription;
} // namespace ingot

namespace ingot::legalize {

/// Adds the function `expand`, which rewrites an `Op` for a target, as a
/// pattern.
template <typename Op>
void addForTarget(mlir::RewritePatternSet &patterns,
                  const TargetDescription &target,
                  mlir::LogicalResult (*expand)(Op, const TargetDescription &,
                                                mlir::PatternRewriter &)) {
  struct Pattern : mlir::OpRewritePattern<Op> {
    Pattern(mlir::MLIRContext *context, const TargetDescription &target,
            decltype(expand) expand)
        : mlir::OpRewritePattern<Op>(context), target(target), expand(expand) {}
    mlir::LogicalResult
    matchAndRewrite(Op op, mlir::PatternRewriter &rewriter) const override {
      return expand(op, target, rewriter);
    }
    const TargetDescription &target;
    decltype(expand) expand;
  };
  patterns.add<Pattern>(patterns.getContext(), target, expand);
}

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_TARGETPATTERNS_H
