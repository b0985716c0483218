// Reorders groups so that less memory is live beyond a limit.

#ifndef INGOT_PASSES_PLAN_ORDERLAUNCHES_H
#define INGOT_PASSES_PLAN_ORDERLAUNCHES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::plan {

/// Reorders the groups of `main` if this leaves fewer live bytes beyond
/// `limit`, added up over all groups.
void orderGroups(mlir::func::FuncOp main, int64_t limit);

} // namespace ingot::plan

#endif // INGOT_PASSES_PLAN_ORDERLAUNCHES_H
