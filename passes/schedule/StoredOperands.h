// Finds the stored tensors that an elementwise expression reads.

#ifndef INGOT_PASSES_SCHEDULE_STOREDOPERANDS_H
#define INGOT_PASSES_SCHEDULE_STOREDOPERANDS_H

#include "dialects/graph/GraphDialect.h"

namespace ingot::schedule {

/// Returns the stored tensors from which `v` is computed elementwise, if all
/// have the shape of `v`; constants and one-element tensors are ignored. None
/// if there are other shapes or operators.
std::optional<llvm::SmallVector<mlir::Value>> storedOperands(mlir::Value v);

/// Whether `op` and all operators that compute its operands from stored tensors
/// are cheap and have single uses. Stored tensors are arguments, constants, and
/// results that have several users or belong to another group. `isFree` tells
/// whether an operator is in no other group.
bool readsStored(mlir::Operation *op,
                 llvm::function_ref<bool(mlir::Operation *)> isFree);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_STOREDOPERANDS_H
