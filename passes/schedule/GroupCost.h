// What a group costs to compute.

#ifndef INGOT_PASSES_SCHEDULE_GROUPCOST_H
#define INGOT_PASSES_SCHEDULE_GROUPCOST_H

#include "passes/schedule/GroupView.h"
#include "targets/TargetDescription.h"

namespace ingot::schedule {

/// Returns the multiply-adds of the operators that have them: as many for each
/// element of the result as the contracted part of the weights has.
int64_t multiplyAddsOf(mlir::Operation *op);
int64_t multiplyAddsOf(GroupView group);

/// Returns the multiply-adds, and one for each element of any operator's result.
int64_t workOf(GroupView group);
/// The multiply-adds of f32 that a core begins in a cycle, which is the work of one.
double workPerCycle(const TargetDescription &target);

/// Returns the bytes of an operand that a group reads: what reads parts of it reads these.
int64_t bytesRead(mlir::BlockArgument operand);

/// Cycles that decision trees take, by eight forests on Zen 4 (within 15 %, November 2026).
/// Of several walks side by side, a step of one waits for two loads, a comparison and
/// another load. A node of a tree that all rows ask takes four loads for as many rows as a
/// vector has lanes, a word of its leaves what finds the first bit of each row, and a tree
/// what adds the leaf of each row.
struct ForestCycles {
  static constexpr double ofStep = 7, ofNode = 2, ofWord = 30, ofTree = 30;
};

/// Estimates the cycles of all operators but contractions, as if two vectors were computed
/// in each.
double elementCyclesOf(GroupView group, const TargetDescription &target);

/// Estimates the cycles of one core: as if two vectors were computed in each cycle,
/// and what is read and written came from behind the second cache, where another core
/// may have left it.
int64_t cyclesOf(GroupView group, const TargetDescription &target);

/// Bytes of one tensor that are kept behind the second cache, in what several cores share
/// (Zen 5 with 32 MB, November 2026: products of Swin, EdgeNeXt and ALBERT lose 0 to 3% by
/// reading up to 4 MB in blocks, and gain 4 to 25% from 8 MB on).
inline constexpr int64_t cachedBytes = 6 << 20;

/// Returns whether a kernel takes long enough for threads to share it.
bool paysToFork(GroupView group, const TargetDescription &target);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GROUPCOST_H
