// Transfers between kernels of a device and kernels of the host: see
// HostOps.td.

#ifndef INGOT_DIALECTS_KERNEL_HOSTOPS_H
#define INGOT_DIALECTS_KERNEL_HOSTOPS_H

#include "dialects/kernel/KernelDialect.h"

#define GET_OP_CLASSES
#include "dialects/kernel/HostOps.h.inc"

namespace ingot::kernel {

/// Whether a buffer is in VTCM or, for a GPU target, in host memory.
bool isInSecondMemory(mlir::Value buffer);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_HOSTOPS_H
