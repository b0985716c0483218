// Names of expressions in generated code (dialects/kernel/ValueNames.h).

#ifndef INGOT_GRAPH_EXPRNAMES_H
#define INGOT_GRAPH_EXPRNAMES_H

#include "dialects/graph/Expr.h"
#include "dialects/kernel/ValueNames.h"

#include <string>

namespace ingot::graph {

/// Returns `x`, which generated code is to call `name` unless `x` has a name.
Expr named(Expr x, const llvm::Twine &name);

/// Returns what a position along an axis of a tensor is called: "row" and
/// "column" of a matrix.
std::string axisName(size_t axis, size_t rank);
/// The same for tensors of images, channels last: "batch", "row", "column",
/// "channel".
std::string imageAxisName(size_t axis, size_t rank);
/// The same for the spatial axes of images alone: "row", "column".
std::string spatialAxisName(size_t axis, size_t spatialRank);

} // namespace ingot::graph

#endif // INGOT_GRAPH_EXPRNAMES_H
