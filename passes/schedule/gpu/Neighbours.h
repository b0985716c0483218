// Device threads that compute several adjacent elements of a result.
//
// A thread with 16-byte loads and stores has as many bytes in flight as eight
// threads with two bytes each, and the device starts blocks at a limited rate:
// adding 67,108,864 bf16 elements, one per thread, took 632 us with 524,288
// blocks on an H100 SXM (November 2026), although its 402 MB of traffic take
// 165 us.

#ifndef INGOT_PASSES_SCHEDULE_GPU_NEIGHBOURS_H
#define INGOT_PASSES_SCHEDULE_GPU_NEIGHBOURS_H

#include "passes/schedule/Strategy.h"

namespace ingot::schedule {

/// Returns how many adjacent elements a thread loads and stores at once: as
/// many as fill 16 bytes of the result and at most two 16-byte accesses of each
/// operand. The second access of the two hits the cache line that the first one
/// loaded.
int64_t lanesOfAccess(GroupView group);

/// The plan entry for the number of elements per thread, a power of two.
llvm::ArrayRef<PlanKey> elementsKey();
int64_t elementsOfThread(const Plan &plan);

/// Returns plans with as many adjacent elements along the last of `trips` as
/// make full accesses, and fewer, if at least `enough` threads remain for each
/// SM; the preferred plan first. The number of elements divides `run`, the
/// count of adjacent elements that are computed alike. A plan without entries
/// means one element.
llvm::SmallVector<Plan> plansByElements(GroupOnTarget group,
                                        llvm::ArrayRef<graph::Dim> trips,
                                        const graph::Dim &run, int64_t enough);
/// Returns plans with whole rows per thread if the last axis is shorter than an
/// access, like the channels of an image: as many rows as make a full access to
/// an operand in which the second-to-last axis is contiguous. Empty if the last
/// axis is longer.
llvm::SmallVector<Plan> plansByRows(GroupOnTarget group,
                                    llvm::ArrayRef<graph::Dim> trips,
                                    int64_t enough);

/// Emits a loop nest over `trips`, divided among threads, with vectors along
/// the last axis. A vector has as many lanes as divide both `elements` and the
/// axis.
void forNeighbours(KernelBuilder &b, llvm::ArrayRef<graph::Dim> trips,
                   int64_t elements,
                   llvm::function_ref<void(llvm::ArrayRef<graph::Expr>)> body);
/// Emits a loop nest over `trips`, divided among threads, in which each thread
/// computes several whole rows along the last axis before it stores the first
/// element. Returns false and emits nothing unless `elements` is the size of
/// several rows.
bool forNeighbourRows(
    KernelBuilder &b, llvm::ArrayRef<graph::Dim> trips, int64_t elements,
    llvm::function_ref<graph::Expr(llvm::ArrayRef<graph::Expr>)> element,
    llvm::function_ref<void(graph::Expr, llvm::ArrayRef<graph::Expr>)> store);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_NEIGHBOURS_H
