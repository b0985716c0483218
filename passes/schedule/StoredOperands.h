// What an elementwise expression reads.

#ifndef INGOT_PASSES_SCHEDULE_STOREDOPERANDS_H
#define INGOT_PASSES_SCHEDULE_STOREDOPERANDS_H

#include "dialects/graph/GraphDialect.h"

namespace ingot::schedule {

/// The tensors in memory from which `v` is computed element by element, if all of them have
/// the shape of `v`; constants and tensors of one element are not asked. None if there are
/// other shapes, or other operators on the way.
std::optional<llvm::SmallVector<mlir::Value>> storedOperands(mlir::Value v);

/// Whether a cheap operator computes from what is in memory, by way of cheap operators that
/// nobody else reads: none of them can be the end of a group with an anchor.
/// `isFree`: in no other group.
bool readsStored(mlir::Operation *op,
                 llvm::function_ref<bool(mlir::Operation *)> isFree);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_STOREDOPERANDS_H
