// Canonicalization patterns, by family of operators.
//
// The patterns do not change results, so they also apply with --strict.
// Exceptions are the bits of NaN, and the sign of zeros where a comment says
// so. Rewrites that change rounding are in a pass of the `simplify` stage that
// --strict disables.

#ifndef INGOT_GRAPH_OPS_PATTERNS_H
#define INGOT_GRAPH_OPS_PATTERNS_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot::graph {

/// Adds patterns for neutral elements, repeated functions, clamps, conversions
/// and redundant expansions.
void populateElementwisePatterns(mlir::RewritePatternSet &patterns);
/// Adds patterns for transposes, reshapes, slices of concatenations,
/// concatenations of slices, and gathers of ranges.
void populateMovementPatterns(mlir::RewritePatternSet &patterns);
/// Adds a pattern for reductions over axes of size 1.
void populateReductionPatterns(mlir::RewritePatternSet &patterns);
/// Adds patterns for explicit padding before convolutions and pools.
void populateWindowPatterns(mlir::RewritePatternSet &patterns);

/// Returns the value that all elements of the constant `v` have; nullopt if
/// they differ or `v` is not a float constant. Looks through reshapes and
/// expansions.
std::optional<llvm::APFloat> uniformFloat(mlir::Value v);
/// Returns the value that all elements of the float or integer constant `v`
/// have, as a double; nullopt if they differ or `v` is not such a constant.
std::optional<double> uniformNumber(mlir::Value v);
/// Builds a constant whose elements are all `number`.
mlir::Value uniformConstant(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::RankedTensorType type, double number);
/// Whether `v` is a constant whose elements are all `number`. 0.0 and -0.0 are
/// different.
bool isUniform(mlir::Value v, double number);

} // namespace ingot::graph

#endif // INGOT_GRAPH_OPS_PATTERNS_H
