// Work that the threads of a block divide among themselves.

#ifndef INGOT_PASSES_SCHEDULE_GPU_SHARING_H
#define INGOT_PASSES_SCHEDULE_GPU_SHARING_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Calls `body` for this thread's share of `count` items: item number `thread`,
/// and every `threads`-th item after that. Unrolled, so only for few
/// iterations.
void share(KernelBuilder &b, graph::Expr thread, int64_t threads, int64_t count,
           llvm::function_ref<void(graph::Expr)> body);

/// Returns the shared memory available to a block: the static limit, or all of
/// it on compute capability 9.0, whose kernels request more from the driver.
int64_t mostShared(const Device &device);

/// Keeps elements in registers between passes over a row that several threads
/// share, in the block in which `b` builds. Each element is loaded once, before
/// the first shuffle if possible, and only the last store to each element
/// remains. No thread may read elements that another thread stores.
void holdRow(KernelBuilder &b);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_SHARING_H
