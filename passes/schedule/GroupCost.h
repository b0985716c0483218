// Cost estimates of fusion groups.

#ifndef INGOT_PASSES_SCHEDULE_GROUPCOST_H
#define INGOT_PASSES_SCHEDULE_GROUPCOST_H

#include "dialects/graph/ops/Contraction.h"
#include "passes/schedule/GroupView.h"
#include "targets/TargetDescription.h"

namespace ingot::schedule {

using graph::multiplyAddsOf;
int64_t multiplyAddsOf(GroupView group);

/// Returns the work of a group: its multiply-adds, plus one unit for each
/// result element of each of its operators.
int64_t workOf(GroupView group);
/// Returns the f32 multiply-adds that a core starts per cycle; each is one unit
/// of workOf.
double workPerCycle(const TargetDescription &target);

/// Returns the bytes of an operand that a group reads; slices and gathers read
/// only the elements that they return.
int64_t bytesRead(mlir::BlockArgument operand);

/// Cycles of decision-tree operators, fitted to eight forests on Zen 4 (within
/// 15 %, November 2026). graph.forest walks from the root to a leaf for each
/// input row, several rows interleaved. Each step down takes `ofStep` for two
/// loads, a comparison and another load. graph.forest_masks tests every node
/// for a vector of input rows. It takes `ofNode` per node for four loads,
/// `ofWord` per word of the leaf masks to find the first set bit of each row,
/// and `ofTree` per tree to add the leaf of each row.
struct ForestCycles {
  static constexpr double ofStep = 7, ofNode = 2, ofWord = 30, ofTree = 30;
};

/// Estimates the cycles of all operators of `group` except contractions
/// (convolutions and matrix products), assuming that vector instructions start
/// at the rate of multiply-adds.
double elementCyclesOf(GroupOnTarget group);

/// Estimates the cycles of `group` on one core, assuming that vector
/// instructions start at the rate of multiply-adds and that all data comes from
/// beyond the L2 cache, where another core may have left it.
int64_t cyclesOf(GroupOnTarget group);

/// Bytes up to which a tensor is assumed to stay in the shared last-level cache
/// (Zen 5 with 32 MB, November 2026: in matrix products of Swin, EdgeNeXt and
/// ALBERT, to divide the rows of the left operand into blocks costs 0 to 3 % if
/// that operand has up to 4 MB, and saves 4 to 25 % from 8 MB on).
inline constexpr int64_t cachedBytes = 6 << 20;

/// Whether a kernel of a core takes long enough to divide it among threads.
bool paysToFork(GroupOnTarget group);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GROUPCOST_H
