// Names of expressions in generated code (dialects/kernel/ValueNames.h).

#ifndef INGOT_GRAPH_EXPRNAMES_H
#define INGOT_GRAPH_EXPRNAMES_H

#include "dialects/graph/Expr.h"
#include "dialects/kernel/ValueNames.h"

#include <string>

namespace ingot::graph {

/// Gives `x` the name `name` in generated code, unless it already has one.
Expr named(Expr x, const llvm::Twine &name);

/// Returns the name of an index along an axis of a tensor: "row" and "column"
/// of a matrix.
std::string axisName(size_t axis, size_t rank);
/// The same for images, channels last: "batch", "row", "column", "channel".
std::string imageAxisName(size_t axis, size_t rank);
/// The same for the spatial axes alone: "row", "column".
std::string spatialAxisName(size_t axis, size_t spatialRank);

} // namespace ingot::graph

#endif // INGOT_GRAPH_EXPRNAMES_H
