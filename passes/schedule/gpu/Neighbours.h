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
/// many as fill 16 bytes of the result and need at most two 16-byte accesses to
/// each operand. The second access hits the cache line that the first one has
/// loaded.
int64_t lanesOfAccess(GroupView group);
/// Returns how many elements of each operand `accesses` accesses load.
int64_t elementsOfAccess(GroupView group, int64_t accesses = 1);

/// Return the plan entry for the number of elements per thread, and its value
/// in `plan`; 1 if `plan` lacks it.
llvm::ArrayRef<PlanKey> elementsKey();
int64_t elementsOfThread(const Plan &plan);

/// Returns plans for different numbers of adjacent elements per thread along
/// the last axis of the iteration space `trips`: lanesOfAccess(group), half of
/// it, and so on, the preferred plan first. Numbers that leave fewer than
/// `enough` threads per SM are omitted, as are those that do not divide `run`,
/// the number of adjacent elements that are computed in the same way. The last
/// plan has no entries and means one element per thread; it is the only one on
/// a CPU.
llvm::SmallVector<Plan> plansByElements(GroupOnTarget group,
                                        llvm::ArrayRef<graph::Dim> trips,
                                        const graph::Dim &run, int64_t enough);
/// Returns plans in which each thread computes several whole rows along the
/// last axis, if that axis is short, like the channels of an image. A thread
/// gets at most as many rows as fill one 16-byte access to an operand in which
/// the second-to-last axis is contiguous. The last plan has no entries and
/// means one element per thread. Returns no plans on a CPU, or if there are
/// fewer than two axes, if the last axis has more than 4 elements, or if one of
/// the last two axes has a dynamic size.
llvm::SmallVector<Plan> plansByRows(GroupOnTarget group,
                                    llvm::ArrayRef<graph::Dim> trips,
                                    int64_t enough);

/// Emits a loop nest over `trips`, divided among threads, with vectors along
/// the last axis. The number of lanes is the greatest common divisor of
/// `elements` and the size of that axis. `body` gets the index of the first
/// lane.
void forNeighbours(KernelBuilder &b, llvm::ArrayRef<graph::Dim> trips,
                   int64_t elements,
                   llvm::function_ref<void(llvm::ArrayRef<graph::Expr>)> body);
/// Emits a loop nest over `trips`, divided among threads, in which each thread
/// computes `elements` elements, several whole rows along the last axis, before
/// it stores the first one. Returns false and emits nothing unless `elements`
/// is the size of at least two rows, whose number divides the second-to-last
/// axis.
bool forNeighbourRows(
    KernelBuilder &b, llvm::ArrayRef<graph::Dim> trips, int64_t elements,
    llvm::function_ref<graph::Expr(llvm::ArrayRef<graph::Expr>)> element,
    llvm::function_ref<void(graph::Expr, llvm::ArrayRef<graph::Expr>)> store);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_NEIGHBOURS_H
