// The patterns that ExpandOperations.cpp applies. They leave operations in the
// intrinsics table of the target unchanged.

#ifndef INGOT_PASSES_LEGALIZE_EXPANSIONS_H
#define INGOT_PASSES_LEGALIZE_EXPANSIONS_H

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot {
struct TargetDescription;
} // namespace ingot

namespace ingot::legalize {

/// Expands operations on f16, bf16, 8-bit and 4-bit floats: conversions to
/// operations on bits, arithmetic to arithmetic in f32.
void populateExpandHalf(mlir::RewritePatternSet &patterns,
                        const TargetDescription &target);
/// Expands square roots, correctly rounded, if the target has no instruction
/// for them.
llvm::LogicalResult expandSqrt(mlir::math::SqrtOp op,
                               const TargetDescription &target,
                               mlir::PatternRewriter &rewriter);
/// Expands arithmetic for which C has no operator (see ExpandArith.cpp), such
/// as minimum and maximum, sign operations on vectors, arithmetic and
/// conversions of i1, and the operations of VectorOps.td other than dot
/// products. Forms minimum and maximum of float vectors where the target has
/// instructions for them.
void populateExpandArith(mlir::RewritePatternSet &patterns,
                         const TargetDescription &target);
/// Expands reductions of vectors to operations on halves, quarters and so on.
/// Expands a math function of a vector, if the target has no instruction of
/// this width, to functions of the vector's halves or lanes. If the target can
/// multiply a vector by a lane, gives each multiply-add its own copy of the
/// broadcast lane.
void populateExpandVector(mlir::RewritePatternSet &patterns,
                          const TargetDescription &target);

/// Expands dot products of 8-bit and 16-bit elements for which the target has
/// no instruction: widens the elements, multiplies them and adds the products
/// one by one.
llvm::LogicalResult expandDot(kernel::DotOp op, const TargetDescription &target,
                              mlir::PatternRewriter &rewriter);

/// Replaces indices that do not affect the address, such as indices of
/// dimensions of size 1, by the constant 0. Inlines loops with one iteration.
void populateFoldIndices(mlir::RewritePatternSet &patterns);
/// Merges contiguous axes of a buffer if their indices are quotients and
/// remainders of one index, which then becomes the index of the merged axis.
void populateJoinAxes(mlir::RewritePatternSet &patterns);
/// Rewrites the first step of a sum of products, fma(a, b, 0), as a * b.
void populateStartSums(mlir::RewritePatternSet &patterns);
/// Drops unused values carried by loops or returned by conditionals.
void populateDropUnread(mlir::RewritePatternSet &patterns);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_EXPANSIONS_H
