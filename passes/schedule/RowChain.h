// Chains of convolution groups that can be computed row by row:
//
//   row-chain(%x, ..) {
//     %1 = group(%x, ..) { conv }
//     %2 = group(%1, ..) { depthwise }
//     %3 = group(%2, ..) { conv }
//   }

#ifndef INGOT_PASSES_SCHEDULE_ROWCHAIN_H
#define INGOT_PASSES_SCHEDULE_ROWCHAIN_H

#include "passes/schedule/GroupView.h"
#include "targets/TargetDescription.h"

namespace ingot::schedule {

/// A depthwise convolution with the convolution that produces its input and the
/// pointwise convolution that reads its result. `first` or `last` is null if
/// absent.
struct RowChain {
  graph::GroupOp first, depthwise, last;

  /// Returns the chain around a depthwise group, with the groups before and
  /// after it that can be part of the chain.
  static std::optional<RowChain> around(graph::GroupOp depthwise);
  /// Returns the chain that a group consists of; none if it is not a chain.
  static std::optional<RowChain> of(GroupView group);

  llvm::SmallVector<graph::GroupOp> stages() const;
  /// Returns the bytes of scratch memory per thread between the stages: the
  /// rows that a depthwise window covers, and one row of its result.
  llvm::SmallVector<int64_t> scratchBytes() const;
  /// The number of parts that is enough for most thread counts.
  static constexpr int64_t enoughParts = 4;
  /// Returns into how many parts threads can divide the rows of all images.
  /// Each part has its own scratch memory; more than enoughParts only if all of
  /// it fits the L2 cache, else that of one part must fit beside input and
  /// result. Each part also recomputes the first stage's rows that overlap the
  /// previous part. Both together may cost at most a tenth of the work.
  int64_t parts(const TargetDescription &target) const;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_ROWCHAIN_H
