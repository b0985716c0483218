// An order of groups with less alive beyond a limit.

#ifndef INGOT_PASSES_PLAN_ORDERLAUNCHES_H
#define INGOT_PASSES_PLAN_ORDERLAUNCHES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::plan {

/// Reorders the groups of `main` where the bytes that are alive beyond `limit`, summed over
/// all groups, become fewer then.
void orderGroups(mlir::func::FuncOp main, int64_t limit);

} // namespace ingot::plan

#endif // INGOT_PASSES_PLAN_ORDERLAUNCHES_H
