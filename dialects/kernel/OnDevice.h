// Checks shared by the verifiers of the operations that only GPU threads
// execute.

#ifndef INGOT_DIALECTS_KERNEL_ONDEVICE_H
#define INGOT_DIALECTS_KERNEL_ONDEVICE_H

#include "dialects/kernel/KernelDialect.h"

namespace ingot::kernel {

/// Whether a buffer is in shared memory.
bool isShared(mlir::Value buffer);
/// Whether `indices` has one index for each axis of the buffer.
bool fitsRank(mlir::Value buffer, mlir::ValueRange indices);
/// Fails if the operation is in a kernel that does not run on GPU threads.
llvm::LogicalResult verifyOnDevice(mlir::Operation *op);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_ONDEVICE_H
