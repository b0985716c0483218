// Finds buffers whose rows vector loads and stores can access.

#ifndef INGOT_PASSES_SCHEDULE_CONTIGUOUSROWS_H
#define INGOT_PASSES_SCHEDULE_CONTIGUOUSROWS_H

#include "mlir/IR/Value.h"

namespace ingot::schedule {

/// Whether the elements along the last axis of a buffer are contiguous in
/// memory; true if there is only one. They need not be if the buffer is part of
/// a larger tensor, for example a column of a matrix. False for null.
bool hasContiguousRows(mlir::Value buffer);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_CONTIGUOUSROWS_H
