// Groups that can be computed row by row, one behind the other.
//
//   row-chain(%x, ..) { %1 = group(%x, ..) { conv }, %2 = group(%1, ..) { depthwise },
//                       %3 = group(%2, ..) { conv } }

#ifndef INGOT_PASSES_SCHEDULE_ROWCHAIN_H
#define INGOT_PASSES_SCHEDULE_ROWCHAIN_H

#include "passes/schedule/GroupView.h"
#include "targets/TargetDescription.h"

namespace ingot::schedule {

/// A depthwise convolution, the convolution whose result it reads, and a pointwise
/// convolution of its own result; `first` or `last` is null where there is none.
struct RowChain {
  graph::GroupOp first, depthwise, last;

  /// The chain around a depthwise group: with what is before it and behind it, each of
  /// them only if it can be a part.
  static std::optional<RowChain> around(graph::GroupOp depthwise);
  /// What a group is made of; none if it is no chain.
  static std::optional<RowChain> of(GroupView group);

  llvm::SmallVector<graph::GroupOp> stages() const;
  /// Memory that one thread needs for what passes from one stage to the next: of the
  /// rows that a window reads, and of one row.
  llvm::SmallVector<int64_t> scratchBytes() const;
  /// Parts that are enough for threads.
  static constexpr int64_t enoughParts = 4;
  /// Into how many parts threads can divide the rows of all images. Each part has memory
  /// of its own: for more than enough of them the second cache holds all of it, else that
  /// of one beside the input and the result. And each begins with rows of the first result
  /// that the part before computes as well. Both take a tenth of all work at most.
  int64_t parts(const TargetDescription &target) const;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_ROWCHAIN_H
