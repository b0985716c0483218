#ifndef INGOT_COMPILER_MEASURE_DEVICEREGISTERS_H
#define INGOT_COMPILER_MEASURE_DEVICEREGISTERS_H

#include "dialects/kernel/KernelDialect.h"
#include "targets/TargetDescription.h"

namespace ingot {

/// Estimates the registers of 32 bits that a thread of a kernel takes: what it keeps at the
/// place where it keeps most, of which compilers save some and others they add.
int64_t estimateRegisters(kernel::FuncOp kernel, const Device &device);

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_DEVICEREGISTERS_H
