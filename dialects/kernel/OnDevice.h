// Checks common to the verifiers of operations that only threads of a GPU
// execute.

#ifndef INGOT_DIALECTS_KERNEL_ONDEVICE_H
#define INGOT_DIALECTS_KERNEL_ONDEVICE_H

#include "dialects/kernel/KernelDialect.h"

namespace ingot::kernel {

/// Whether a buffer is in shared memory.
bool isShared(mlir::Value buffer);
/// Whether there is one index for each axis of a buffer.
bool fitsRank(mlir::Value buffer, mlir::ValueRange indices);
/// Rejects an operation of GPU threads in a kernel that does not run on GPU
/// threads.
llvm::LogicalResult verifyOnDevice(mlir::Operation *op);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_ONDEVICE_H
