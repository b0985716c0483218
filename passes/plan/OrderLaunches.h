// Reorders groups so that less memory is live beyond a limit.

#ifndef INGOT_PASSES_PLAN_ORDERLAUNCHES_H
#define INGOT_PASSES_PLAN_ORDERLAUNCHES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::plan {

/// Reorders the groups of `main` if this reduces the sum over all groups of the
/// live bytes beyond `limit`.
void orderGroups(mlir::func::FuncOp main, int64_t limit);

} // namespace ingot::plan

#endif // INGOT_PASSES_PLAN_ORDERLAUNCHES_H
