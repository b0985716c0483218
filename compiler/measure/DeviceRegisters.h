#ifndef INGOT_COMPILER_MEASURE_DEVICEREGISTERS_H
#define INGOT_COMPILER_MEASURE_DEVICEREGISTERS_H

#include "dialects/kernel/KernelDialect.h"
#include "targets/TargetDescription.h"

namespace ingot {

/// Estimates the 32-bit registers of a GPU thread: the largest number of
/// registers for values that are live at the same time, and a few more for
/// addresses, within the limits of the GPU. GPU compilers may use fewer or
/// more.
int64_t estimateRegisters(kernel::FuncOp kernel, const Device &device);

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_DEVICEREGISTERS_H
