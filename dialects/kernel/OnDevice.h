// What verifiers of operations ask that only threads of a device do.

#ifndef INGOT_DIALECTS_KERNEL_ONDEVICE_H
#define INGOT_DIALECTS_KERNEL_ONDEVICE_H

#include "dialects/kernel/KernelDialect.h"

namespace ingot::kernel {

/// Whether the threads of a block share a buffer.
bool isShared(mlir::Value buffer);
/// Whether there is an index for each axis of a buffer.
bool fitsRank(mlir::Value buffer, mlir::ValueRange indices);
/// Refuses what threads of a device do in a kernel that has none.
llvm::LogicalResult verifyOnDevice(mlir::Operation *op);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_ONDEVICE_H
