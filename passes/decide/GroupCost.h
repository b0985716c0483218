// What a group costs to compute.

#ifndef INGOT_PASSES_DECIDE_GROUPCOST_H
#define INGOT_PASSES_DECIDE_GROUPCOST_H

#include "dialects/graph/GraphDialect.h"

namespace ingot::decide {

/// The multiply-adds of the operators that have them: as many for each element
/// of the result as the contracted part of the weights has.
int64_t multiplyAddsOf(mlir::Operation *op);
int64_t multiplyAddsOf(graph::GroupOp group);

/// Multiply-adds, and one for each element of any operator's result.
int64_t workOf(graph::GroupOp group);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_GROUPCOST_H
