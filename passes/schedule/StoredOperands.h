// Finds the tensors in memory that an elementwise expression reads.

#ifndef INGOT_PASSES_SCHEDULE_STOREDOPERANDS_H
#define INGOT_PASSES_SCHEDULE_STOREDOPERANDS_H

#include "dialects/graph/GraphDialect.h"

namespace ingot::schedule {

/// Returns the block arguments from which `v` is computed by elementwise
/// operators, if all have the shape of `v`; constants and one-element tensors
/// are ignored. Returns nullopt if there are other shapes or operators.
std::optional<llvm::SmallVector<mlir::Value>> storedOperands(mlir::Value v);

/// Whether `op` is cheap and computes its result from stored tensors, directly
/// or through other cheap operators. Stored tensors are arguments, constants,
/// and results that have several users or for whose operator `isFree` is false
/// (it is in another group). If so, none of these cheap operators can be part
/// of the epilogue of an anchor.
bool readsStored(mlir::Operation *op,
                 llvm::function_ref<bool(mlir::Operation *)> isFree);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_STOREDOPERANDS_H
