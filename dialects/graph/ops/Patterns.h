// Rewrites that make operators fewer, by family.
//
// Registered as the dialect's canonicalization patterns. All of them keep
// every bit of the result (but which NaN it is, and signs of zeros where a
// comment says so), so they hold under --strict as well; what changes
// rounding belongs to a pass of the stage `simplify` that --strict leaves out.

#ifndef INGOT_GRAPH_OPS_PATTERNS_H
#define INGOT_GRAPH_OPS_PATTERNS_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot::graph {

/// Arithmetic with neutral elements, repeated functions, bounds, conversions,
/// operands that are broadcast anyway.
void populateElementwisePatterns(mlir::RewritePatternSet &patterns);
/// Parts of concatenations, gathers of ranges, transposes around reshapes.
void populateMovementPatterns(mlir::RewritePatternSet &patterns);
/// Reductions over axes of size 1.
void populateReductionPatterns(mlir::RewritePatternSet &patterns);
/// Explicit padding in front of convolutions and pools.
void populateWindowPatterns(mlir::RewritePatternSet &patterns);

/// Returns the number that every element of the constant `v` is, seen through
/// reshapes and expansions: nothing if `v` is no such constant.
std::optional<llvm::APFloat> uniformFloat(mlir::Value v);
/// The same as a double, for integers as well.
std::optional<double> uniformNumber(mlir::Value v);
/// Builds such a constant of floats.
mlir::Value uniformConstant(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::RankedTensorType type, double number);
/// Whether `v` is such a constant of `number`, and a zero of its sign.
bool isUniform(mlir::Value v, double number);

} // namespace ingot::graph

#endif // INGOT_GRAPH_OPS_PATTERNS_H
