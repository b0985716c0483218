#ifndef INGOT_PASSES_SCHEDULE_GPU_SCALARIZEVECTORS_H
#define INGOT_PASSES_SCHEDULE_GPU_SCALARIZEVECTORS_H

#include "dialects/kernel/KernelDialect.h"

namespace ingot::schedule {

/// Replaces the vectors in a kernel by one scalar per lane. Fails if an
/// operation cannot be split.
mlir::LogicalResult scalarizeVectors(kernel::FuncOp kernel);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_SCALARIZEVECTORS_H
