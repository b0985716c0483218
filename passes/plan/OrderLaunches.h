// Reorders groups so that the live memory exceeds a limit less.

#ifndef INGOT_PASSES_PLAN_ORDERLAUNCHES_H
#define INGOT_PASSES_PLAN_ORDERLAUNCHES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::plan {

/// Reorders the groups of `main` if this reduces the number of bytes by which
/// the live memory exceeds `limit`, added up over all groups.
void orderGroups(mlir::func::FuncOp main, int64_t limit);

} // namespace ingot::plan

#endif // INGOT_PASSES_PLAN_ORDERLAUNCHES_H
