// Builds a group from chosen operators.

#ifndef INGOT_PASSES_DECIDE_OPERATORGROUP_H
#define INGOT_PASSES_DECIDE_OPERATORGROUP_H

#include "dialects/graph/GraphDialect.h"
#include "targets/TargetDescription.h"

namespace ingot::decide {

/// Returns a new constant of the type of `like`, a tensor without elements.
mlir::Value emptyConstant(mlir::OpBuilder &builder, mlir::Value like);

/// Moves the operators `ordered` into a group, which replaces the last of them,
/// and chooses the strategy and plan of the group. Constants whose elements are
/// all equal are copied into the group. With `packs`, constant weights will be
/// packed for the plan, so they are operands of the group in any case. With
/// `savesMemory`, the plan avoids scratch memory.
graph::GroupOp moveToGroup(llvm::ArrayRef<mlir::Operation *> ordered,
                           const TargetDescription &target, bool packs,
                           bool savesMemory);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_OPERATORGROUP_H
