// The tile of attention that a block computes on tensor cores, and its kernel.

#ifndef INGOT_PASSES_SCHEDULE_GPU_TENSORATTENTIONTILE_H
#define INGOT_PASSES_SCHEDULE_GPU_TENSORATTENTIONTILE_H

#include "passes/schedule/gpu/AttentionBlock.h"
#include "passes/schedule/gpu/TensorTile.h"

namespace ingot::schedule {

/// The tile of a thread block: its queries, the keys that it processes at a
/// time, and the slices (sets of warps) that divide these keys.
struct TensorAttentionTile {
  int64_t queries, keys, slices;
  /// Lengths of a key row and a value row, padded to whole MMAs.
  int64_t depth, width;
  int64_t elementBytes;

  TensorAttentionTile(const AttentionAnchor &anchor, int64_t queries,
                      int64_t keys, int64_t slices);
  int64_t vectorElements() const { return vectorAccessBytes / elementBytes; }
  /// The number of steps (K) of an MMA.
  int64_t steps() const { return 2 * vectorElements(); }
  /// A slice is a set of warps that processes a part of each block of keys.
  /// warpsOfSlice() returns the number of warps of a slice, warps() that of the
  /// thread block, and sliceKeys() the number of keys that a slice processes in
  /// each block of keys.
  int64_t warpsOfSlice() const { return queries / unitRows; }
  int64_t warps() const { return warpsOfSlice() * slices; }
  int64_t sliceKeys() const { return keys / slices; }
  /// The number of weighted sums of a thread, for its two queries.
  int64_t values() const { return width / 2; }
  /// Returns the length, in elements, of a row in shared memory that has `used`
  /// elements: an odd number of 16-byte units, so that adjacent rows use
  /// different banks.
  int64_t row(int64_t used) const {
    return (llvm::divideCeil(used, vectorElements()) | 1) * vectorElements();
  }
  int64_t sharedBytes(int64_t warp) const {
    return 2 * keys * (row(depth) + row(width)) * elementBytes +
           4 * mlir::ShapedType::getNumElements(parts(warp));
  }
  llvm::SmallVector<int64_t> parts(int64_t warp) const {
    return AttentionBlock::partsOfSlices(slices, warpsOfSlice() * warp, 2,
                                         values());
  }
  /// Estimates the registers of a thread: for queries, scores and weights,
  /// sums, and 56 for addresses, about as many as nvcc 13 uses.
  int64_t registers() const {
    return depth / steps() * 4 + sliceKeys() / 2 +
           sliceKeys() * elementBytes / 8 + values() + 56;
  }
};

/// Returns the estimated seconds of the attention kernel with the fastest tile.
double leastTensorAttentionSeconds(const AttentionAnchor &anchor,
                                   const TargetDescription &target);

/// Emits an attention kernel for tensor cores with this tile.
void emitTensorAttention(KernelBuilder &b, const AttentionAnchor &anchor,
                         const TensorAttentionTile &tile);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_TENSORATTENTIONTILE_H
