// How operators become a group, once it is decided which.

#ifndef INGOT_PASSES_DECIDE_OPERATORGROUP_H
#define INGOT_PASSES_DECIDE_OPERATORGROUP_H

#include "dialects/graph/GraphDialect.h"
#include "targets/TargetDescription.h"

namespace ingot::decide {

/// A tensor of the type of `like`, which has no elements.
mlir::Value emptyConstant(mlir::OpBuilder &builder, mlir::Value like);

/// Moves operators, in their order, into a group in the place of the last of them, and
/// decides its strategy and plan. Constants that are one number go along. `packs`: weights
/// will be in the order of the plan.
graph::GroupOp moveToGroup(llvm::ArrayRef<mlir::Operation *> ordered,
                           const TargetDescription &target, bool packs,
                           bool savesMemory);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_OPERATORGROUP_H
