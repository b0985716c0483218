#ifndef INGOT_COMPILER_MEASURE_DEVICEREGISTERS_H
#define INGOT_COMPILER_MEASURE_DEVICEREGISTERS_H

#include "dialects/kernel/KernelDialect.h"
#include "targets/TargetDescription.h"

namespace ingot {

/// Estimates the 32-bit registers of a device thread: the largest number of
/// live values in the kernel, which compilers may reduce or exceed.
int64_t estimateRegisters(kernel::FuncOp kernel, const Device &device);

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_DEVICEREGISTERS_H
