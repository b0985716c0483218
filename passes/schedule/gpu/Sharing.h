// Work that the threads of a block divide among themselves.

#ifndef INGOT_PASSES_SCHEDULE_GPU_SHARING_H
#define INGOT_PASSES_SCHEDULE_GPU_SHARING_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Emits `body` for this thread's share of `count` items: item number `thread`,
/// and every `threads`-th item after that. The code is unrolled, so `threads`
/// threads should have few items each.
void share(KernelBuilder &b, graph::Expr thread, int64_t threads, int64_t count,
           llvm::function_ref<void(graph::Expr)> body);

/// Returns the bytes of shared memory that a block can use: on devices with
/// products by warpgroups (compute capability 9.0) the most that the device
/// allows, since their kernels request it from the driver; on others the limit
/// for statically declared shared memory.
int64_t mostShared(const Device &device);

/// Keeps the elements of a row in registers between the passes over the row,
/// which several threads divide among them. Rewrites the MLIR block in which
/// `b` builds: each element is loaded once, before the first shuffle if
/// possible, and only the last store to each element remains. No thread may
/// read elements that another thread stores.
void holdRow(KernelBuilder &b);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_SHARING_H
