// Operations that copy data between device and host; HostOps.td describes them.

#ifndef INGOT_DIALECTS_KERNEL_HOSTOPS_H
#define INGOT_DIALECTS_KERNEL_HOSTOPS_H

#include "dialects/kernel/KernelDialect.h"

#define GET_OP_CLASSES
#include "dialects/kernel/HostOps.h.inc"

namespace ingot::kernel {

/// Whether a buffer is in the memory that is used beside the main one: VTCM or,
/// for a GPU target, host memory.
bool isInSecondMemory(mlir::Value buffer);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_HOSTOPS_H
