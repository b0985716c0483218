// The rewrites of ExpandOperations.cpp, by subject. Each is told the target and
// leaves alone what its intrinsics table can spell.

#ifndef INGOT_PASSES_LEGALIZE_EXPANSIONS_H
#define INGOT_PASSES_LEGALIZE_EXPANSIONS_H

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot {
struct TargetDescription;
} // namespace ingot

namespace ingot::legalize {

/// f16, bf16, 8-bit and 4-bit floats: conversions as operations on bits,
/// arithmetic in f32.
void populateExpandHalf(mlir::RewritePatternSet &patterns,
                        const TargetDescription &target);
/// Correctly rounded square roots without an instruction for it.
llvm::LogicalResult expandSqrt(mlir::math::SqrtOp op,
                               const TargetDescription &target,
                               mlir::PatternRewriter &rewriter);
/// Minimum and maximum, sign operations on vectors, conversions of masks.
void populateExpandArith(mlir::RewritePatternSet &patterns,
                         const TargetDescription &target);
/// Reductions as trees; functions that exist for scalars only, lane by lane.
void populateExpandVector(mlir::RewritePatternSet &patterns,
                          const TargetDescription &target);

/// Products of narrow integers that the target has no instruction for: widened,
/// multiplied and added one by one.
llvm::LogicalResult expandDot(kernel::DotOp op, const TargetDescription &target,
                              mlir::PatternRewriter &rewriter);

/// Indices that make no difference, as of dimensions that have one element,
/// become the constant 0.
void populateFoldIndices(mlir::RewritePatternSet &patterns);
/// Axes that continue each other become one where an index is taken apart for them.
void populateJoinAxes(mlir::RewritePatternSet &patterns);
/// Sums of products that start at zero start with the first product.
void populateStartSums(mlir::RewritePatternSet &patterns);
/// Values that loops and conditionals hand on and nothing reads are dropped.
void populateDropUnread(mlir::RewritePatternSet &patterns);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_EXPANSIONS_H
