#ifndef INGOT_PASSES_SCHEDULE_GPU_SPLITLANES_H
#define INGOT_PASSES_SCHEDULE_GPU_SPLITLANES_H

#include "dialects/kernel/KernelDialect.h"

namespace ingot::schedule {

/// Makes scalars of the vectors in a kernel, one for each lane. Fails where an operation
/// has no such form.
mlir::LogicalResult splitLanes(kernel::FuncOp kernel);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_SPLITLANES_H
