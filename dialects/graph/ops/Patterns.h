// Canonicalization patterns, by family of operators.
//
// All patterns keep every bit of the result (except which NaN it is, and the
// sign of zeros where a comment says so), so they also apply with --strict.
// Rewrites that change rounding belong to a pass of the `simplify` stage that
// --strict disables.

#ifndef INGOT_GRAPH_OPS_PATTERNS_H
#define INGOT_GRAPH_OPS_PATTERNS_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot::graph {

/// Adds patterns for neutral elements, repeated functions, clamps, conversions
/// and redundant expansions.
void populateElementwisePatterns(mlir::RewritePatternSet &patterns);
/// Adds patterns for slices of concatenations, gathers of ranges, transposes
/// and reshapes.
void populateMovementPatterns(mlir::RewritePatternSet &patterns);
/// Adds a pattern for reductions over axes of size 1.
void populateReductionPatterns(mlir::RewritePatternSet &patterns);
/// Adds patterns for explicit padding before convolutions and pools.
void populateWindowPatterns(mlir::RewritePatternSet &patterns);

/// Returns the number that all elements of the constant `v` have, looking
/// through reshapes and expansions; nothing if `v` is not such a constant.
std::optional<llvm::APFloat> uniformFloat(mlir::Value v);
/// Returns the number that all elements of a float or integer constant `v`
/// have, as a double; nothing if `v` is not such a constant.
std::optional<double> uniformNumber(mlir::Value v);
/// Builds a constant whose elements are all `number`.
mlir::Value uniformConstant(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::RankedTensorType type, double number);
/// Whether `v` is a constant whose elements are all `number`; zeros must have
/// the same sign.
bool isUniform(mlir::Value v, double number);

} // namespace ingot::graph

#endif // INGOT_GRAPH_OPS_PATTERNS_H
