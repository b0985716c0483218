// Names of expressions, which become names of variables in generated code
// (dialects/kernel/ValueNames.h).

#ifndef INGOT_GRAPH_EXPRNAMES_H
#define INGOT_GRAPH_EXPRNAMES_H

#include "dialects/graph/Expr.h"
#include "dialects/kernel/ValueNames.h"

#include <string>

namespace ingot::graph {

/// Gives `x` the name `name` in generated code, unless it already has one.
Expr named(Expr x, const llvm::Twine &name);

/// Returns the name of an index along an axis of a tensor of `rank`, for
/// example "row" or "column" for a matrix.
std::string axisName(size_t axis, size_t rank);
/// Returns the name of an index along an axis of an image, channels last:
/// "batch", "row", "column", "channel".
std::string imageAxisName(size_t axis, size_t rank);
/// Returns the name of an index along a spatial axis of an image: "row",
/// "column".
std::string spatialAxisName(size_t axis, size_t spatialRank);

} // namespace ingot::graph

#endif // INGOT_GRAPH_EXPRNAMES_H
