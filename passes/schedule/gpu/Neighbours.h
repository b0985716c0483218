// Threads of a device that compute several neighbouring elements of a result.
//
// A thread that loads and stores 16 bytes at once has as much on its way to memory as
// eight that have two each, and a device begins only so many blocks at a time: of
// 67,108,864 sums of bf16, one for each thread, 524,288 blocks took 632 us on an H100 SXM
// (November 2026), where their 402 MB take 165.

#ifndef INGOT_PASSES_SCHEDULE_GPU_NEIGHBOURS_H
#define INGOT_PASSES_SCHEDULE_GPU_NEIGHBOURS_H

#include "passes/schedule/Strategy.h"

namespace ingot::schedule {

/// Returns how many neighbours a thread loads and stores at once: those whose result takes
/// 16 bytes, and their operands at most two accesses of as much. Of a whole stretch of
/// memory, the second one finds in the cache what the first one leaves.
int64_t lanesOfAccess(GroupView group);

/// The entry of plans that says how many a thread has: a power of two.
llvm::ArrayRef<PlanKey> elementsKey();
int64_t elementsOfThread(const Plan &plan);

/// As many neighbours along the last of `trips` as make full accesses to memory, and fewer,
/// where at least `enough` threads are left for each processor; the first plan is the one
/// to use. They divide `run`, the neighbours that are computed alike. A plan without entries
/// where there is one.
llvm::SmallVector<Plan> plansByElements(GroupView group,
                                        llvm::ArrayRef<graph::Dim> trips,
                                        const graph::Dim &run, int64_t enough,
                                        const TargetDescription &target);
/// The same where the last axis is shorter than an access, like the channels of an image:
/// whole rows of it, as many as make a full access to an operand that has the axis in front
/// of it side by side. Nothing where the last axis is not so short.
llvm::SmallVector<Plan> plansByRows(GroupView group,
                                    llvm::ArrayRef<graph::Dim> trips,
                                    int64_t enough,
                                    const TargetDescription &target);

/// As forIndependent, in lanes along the last of `trips`: as many of `elements` as divide it.
void forNeighbours(KernelBuilder &b, llvm::ArrayRef<graph::Dim> trips,
                   int64_t elements,
                   llvm::function_ref<void(llvm::ArrayRef<graph::Expr>)> body);
/// As forIndependent, for whole rows of the last of `trips`, all of which are computed before
/// one is stored. False, and nothing is built, where `elements` are not several such rows.
bool forNeighbourRows(
    KernelBuilder &b, llvm::ArrayRef<graph::Dim> trips, int64_t elements,
    llvm::function_ref<graph::Expr(llvm::ArrayRef<graph::Expr>)> element,
    llvm::function_ref<void(graph::Expr, llvm::ArrayRef<graph::Expr>)> store);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_NEIGHBOURS_H
