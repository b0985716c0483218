// What a block of threads computes of attention by matrix units, and its kernel.

#ifndef INGOT_PASSES_SCHEDULE_GPU_TENSORATTENTIONTILE_H
#define INGOT_PASSES_SCHEDULE_GPU_TENSORATTENTIONTILE_H

#include "passes/schedule/gpu/AttentionBlock.h"
#include "passes/schedule/gpu/TensorTile.h"

namespace ingot::schedule {

/// What a block computes.
struct TensorAttentionTile {
  int64_t queries, keys, slices;
  /// Of a row of keys, and of one of values, filled up to whole units.
  int64_t depth, width;
  int64_t elementBytes;

  TensorAttentionTile(const AttentionAnchor &anchor, int64_t queries,
                      int64_t keys, int64_t slices);
  int64_t piece() const { return pieceBytes / elementBytes; }
  /// Of a unit.
  int64_t steps() const { return 2 * piece(); }
  /// Warps of a slice, and the keys that each slice has of a block of them.
  int64_t warpsOfSlice() const { return queries / unitRows; }
  int64_t warps() const { return warpsOfSlice() * slices; }
  int64_t sliceKeys() const { return keys / slices; }
  /// Of two queries, what a thread has in its sums.
  int64_t values() const { return width / 2; }
  /// Elements of a row of a tile that has so many in use.
  int64_t row(int64_t used) const {
    return (llvm::divideCeil(used, piece()) | 1) * piece();
  }
  int64_t sharedBytes(int64_t warp) const {
    return 2 * keys * (row(depth) + row(width)) * elementBytes +
           4 * mlir::ShapedType::getNumElements(parts(warp));
  }
  llvm::SmallVector<int64_t> parts(int64_t warp) const {
    return AttentionBlock::partsOfSlices(slices, warpsOfSlice() * warp, 2,
                                         values());
  }
  /// Of a thread: queries, scores and what they become, sums, and about as many for places
  /// as nvcc 13 takes.
  int64_t registers() const {
    return depth / steps() * 4 + sliceKeys() / 2 +
           sliceKeys() * elementBytes / 8 + values() + 56;
  }
};

/// The time that the fastest blocks are estimated to take.
double leastTensorAttentionSeconds(const AttentionAnchor &anchor,
                                   const TargetDescription &target);

/// Builds the kernel.
void emitTensorAttention(KernelBuilder &b, const AttentionAnchor &anchor,
                         const TensorAttentionTile &tile);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_TENSORATTENTIONTILE_H
