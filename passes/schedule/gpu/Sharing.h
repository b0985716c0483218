// Work that the threads of a block divide among themselves.

#ifndef INGOT_PASSES_SCHEDULE_GPU_SHARING_H
#define INGOT_PASSES_SCHEDULE_GPU_SHARING_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Calls `body` for those of `count` things that are this one's of `threads` threads: its
/// own number, and each `threads` further on. Not a loop: for few rounds.
void share(KernelBuilder &b, graph::Expr thread, int64_t threads, int64_t count,
           llvm::function_ref<void(graph::Expr)> body);

/// The shared memory of a block: what a kernel may declare, or on 9.0, whose kernels ask the
/// driver for more, all there is.
int64_t mostShared(const Device &device);

/// Has the elements of a row that threads share stay in registers from one pass over it to the
/// next, in the block where `b` builds: each is loaded once, in front of the first exchange
/// between threads where possible, and of what is stored in the same place only the last is.
/// No thread reads what another one stores in a row.
void holdRow(KernelBuilder &b);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_SHARING_H
