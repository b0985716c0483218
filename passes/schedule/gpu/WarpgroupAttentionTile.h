// The tile of attention that the warpgroups of a block compute, and its kernel.

#ifndef INGOT_PASSES_SCHEDULE_GPU_WARPGROUPATTENTIONTILE_H
#define INGOT_PASSES_SCHEDULE_GPU_WARPGROUPATTENTIONTILE_H

#include "passes/schedule/gpu/AttentionBlock.h"
#include "passes/schedule/gpu/WarpgroupTile.h"

namespace ingot::schedule {

/// The tile of a block. Each of `groups` warpgroups has 64 queries. There are
/// `slices` such sets of warpgroups; each processes all of these queries and
/// every `slices`-th block of `keys`. One more warpgroup fetches.
struct WarpgroupAttentionTile {
  int64_t groups, slices, keys, stages, resident;
  /// Length of a key row and of a value row, in units of 128 bytes.
  int64_t depthKTiles, widthKTiles;
  /// The number of MMAs, of 16 steps (K) each, for the dot product of a query
  /// and a key.
  int64_t depthUnits;
  /// Registers of a thread for addresses and for the elementwise function f of
  /// the scores: with nvcc 13, 48 if f is at most one operator, such as a
  /// scale, and 56 if f consists of more, such as a scale and a mask.
  int64_t others;

  WarpgroupAttentionTile(const AttentionAnchor &anchor, int64_t groups,
                         int64_t slices, int64_t keys, int64_t stages,
                         int64_t resident);

  /// The number of elements in 128 bytes, and the steps (K) of an MMA.
  static constexpr int64_t kTile = kTileRowBytes / 2, unit = 16;

  int64_t queries() const { return groups * groupRows; }
  int64_t width() const { return widthKTiles * kTile; }
  int64_t consumers() const { return groups * slices; }
  int64_t threads() const { return (consumers() + 1) * groupThreads; }
  /// The number of weighted sums of a thread, for its two queries.
  int64_t sums() const { return width() / 2; }
  int64_t scores() const { return keys / 2; }
  /// Numbers per thread that each slice (set of warpgroups) except the first
  /// one passes to the first slice: sums, and the largest score and total of
  /// each query.
  int64_t parts() const { return sums() + 4; }
  int64_t bytesOfQueries() const {
    return depthKTiles * queries() * kTileRowBytes;
  }
  int64_t bytesOfStage() const {
    return (depthKTiles + widthKTiles) * keys * kTileRowBytes;
  }
  int64_t mbarriers() const { return 2 * stages + 1 + (slices > 1); }
  int64_t sharedBytes() const {
    return bytesOfQueries() + stages * bytesOfStage() +
           (slices - 1) * parts() * groups * groupThreads * 4 + mbarriers() * 8;
  }
  /// Registers of a consumer thread: sums, scores, packed weights, and others.
  int64_t registers() const {
    return sums() + scores() + scores() / 2 + others;
  }
  /// Returns a WarpgroupTile with the same warpgroups, which computes the
  /// registers of a thread at the start of the kernel and after setmaxnreg.
  WarpgroupTile warpgroups() const {
    WarpgroupTile tile{queries(), width(), groups};
    tile.slices = slices;
    tile.resident = resident;
    return tile;
  }
};

/// The location of an operand of attention, for a TMA descriptor. A descriptor
/// can describe an argument of the group that needs no conversion and has rows
/// of contiguous elements at multiples of 16 bytes.
struct MappedMatrices {
  OperandPlace place;
  /// The axis of rows in the operand.
  int64_t rowAxis;
  /// The number of rows, and the number of elements in each row (`used`).
  graph::Dim rows;
  int64_t used;

  static MappedMatrices queriesOf(const AttentionAnchor &anchor);
  static MappedMatrices keysOf(const AttentionAnchor &anchor);
  static MappedMatrices valuesOf(const AttentionAnchor &anchor);

  /// Whether a TMA descriptor can describe the tensor, as far as this can be
  /// decided before the strides of its buffer are known.
  bool mayHaveMap() const;
  /// Whether a TMA descriptor can describe the tensor in this buffer; false if
  /// `buffer` is null.
  bool hasMap(mlir::Value buffer) const;
};

/// Emits the kernel. Returns false and emits nothing if TMA descriptors cannot
/// describe the buffers of the operands.
bool emitWarpgroupAttention(KernelBuilder &b, const AttentionAnchor &anchor,
                            const WarpgroupAttentionTile &tile);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_WARPGROUPATTENTIONTILE_H
