// What an elementwise expression reads.

#ifndef INGOT_PASSES_SCHEDULE_STOREDOPERANDS_H
#define INGOT_PASSES_SCHEDULE_STOREDOPERANDS_H

#include "dialects/graph/GraphDialect.h"

namespace ingot::schedule {

/// The tensors in memory from which `v` is computed element by element, if all of them have
/// the shape of `v`; constants and tensors of one element are not asked. None if there are
/// other shapes, or other operators on the way.
std::optional<llvm::SmallVector<mlir::Value>> storedOperands(mlir::Value v);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_STOREDOPERANDS_H
