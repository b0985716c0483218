// Rows of buffers that vectors can be loaded from and stored to.

#ifndef INGOT_PASSES_SCHEDULE_DENSEROWS_H
#define INGOT_PASSES_SCHEDULE_DENSEROWS_H

#include "mlir/IR/Value.h"

namespace ingot::schedule {

/// Whether the elements along the last axis of a buffer follow each other in memory. They
/// do not where each is the only one of its row in a larger tensor. Null has no rows.
bool hasDenseRows(mlir::Value buffer);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_DENSEROWS_H
