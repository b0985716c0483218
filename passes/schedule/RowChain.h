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
  /// after it that can be part of the chain; nullopt if neither of them can, or
  /// if `depthwise` itself cannot.
  static std::optional<RowChain> around(graph::GroupOp depthwise);
  /// Returns the chain that `group` computes; nullopt if `group` computes
  /// anything else.
  static std::optional<RowChain> of(GroupView group);

  llvm::SmallVector<graph::GroupOp> stages() const;
  /// Returns the bytes of each scratch buffer that a thread needs between the
  /// convolutions of the chain: if there is a `first`, for the rows that a
  /// depthwise window covers; if there is a `last`, for one row of the depthwise
  /// result; and if one of them packs its input, for the packed rows of a tile.
  llvm::SmallVector<int64_t> scratchBytes() const;
  /// Returns the elements that a tile of packed rows of `first` or `last` takes
  /// at most; 0 if neither packs its input.
  int64_t packedElements() const;
  /// A number of parts of the image rows that two or four threads can share
  /// evenly.
  static constexpr int64_t enoughParts = 4;
  /// Returns into how many parts threads can divide the rows of all images.
  /// Each part has its own scratch memory. If the L2 cache cannot hold the
  /// scratch memory of all parts, there are at most enoughParts parts, and the
  /// scratch memory of one part must fit in half of the cache, beside input and
  /// result. Each part also recomputes the rows of the first stage that overlap
  /// the previous part. Recomputation and traffic of scratch memory together
  /// may cost at most a tenth of the work.
  int64_t parts(const TargetDescription &target) const;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_ROWCHAIN_H
