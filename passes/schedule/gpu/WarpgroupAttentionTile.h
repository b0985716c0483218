// What warpgroups of a block compute of attention, and its kernel.

#ifndef INGOT_PASSES_SCHEDULE_GPU_WARPGROUPATTENTIONTILE_H
#define INGOT_PASSES_SCHEDULE_GPU_WARPGROUPATTENTIONTILE_H

#include "passes/schedule/gpu/AttentionBlock.h"
#include "passes/schedule/gpu/WarpgroupTile.h"

namespace ingot::schedule {

/// What a block computes: each of `groups` warpgroups has 64 queries; in each of `slices`
/// such parts they have all of these and every so many blocks of `keys`. One more warpgroup
/// fetches.
struct WarpgroupAttentionTile {
  int64_t groups, slices, keys, stages, resident;
  /// Of a row of keys, and of one of values, in strips of 128 bytes.
  int64_t depthStrips, widthStrips;
  /// Steps of a query and a key, in units of 16.
  int64_t depthUnits;
  /// Registers of a thread for places and for what is done to scores: 48 as nvcc 13 takes them
  /// where that is a factor, 56 where a mask is added.
  int64_t others;

  WarpgroupAttentionTile(const AttentionAnchor &anchor, int64_t groups,
                         int64_t slices, int64_t keys, int64_t stages,
                         int64_t resident);

  /// Elements of a strip, and steps of a unit.
  static constexpr int64_t strip = stripBytes / 2, unit = 16;

  int64_t queries() const { return groups * groupRows; }
  int64_t width() const { return widthStrips * strip; }
  int64_t consumers() const { return groups * slices; }
  int64_t threads() const { return (consumers() + 1) * groupThreads; }
  /// Sums of a thread, of two queries.
  int64_t sums() const { return width() / 2; }
  int64_t scores() const { return keys / 2; }
  /// What a slice leaves for the first one: sums, and the largest score and total of each query.
  int64_t parts() const { return sums() + 4; }
  int64_t bytesOfQueries() const {
    return depthStrips * queries() * stripBytes;
  }
  int64_t bytesOfStage() const {
    return (depthStrips + widthStrips) * keys * stripBytes;
  }
  int64_t gates() const { return 2 * stages + 1 + (slices > 1); }
  int64_t sharedBytes() const {
    return bytesOfQueries() + stages * bytesOfStage() +
           (slices - 1) * parts() * groups * groupThreads * 4 + gates() * 8;
  }
  /// Of a thread that multiplies: sums, scores, the words that these become, and others.
  int64_t registers() const {
    return sums() + scores() + scores() / 2 + others;
  }
  /// Registers as the kernel starts and as it goes on: see WarpgroupTile.
  WarpgroupTile warpgroups() const {
    WarpgroupTile tile{queries(), width(), groups};
    tile.slices = slices;
    tile.resident = resident;
    return tile;
  }
};

/// Where an operand is whose matrices maps can find: in an argument as it is, rows of
/// neighbouring elements at multiples of 16 bytes.
struct MappedMatrices {
  OperandPlace place;
  /// The operand's axis of rows.
  int64_t rowAxis;
  /// Rows, and elements of each.
  graph::Dim rows;
  int64_t used;

  static MappedMatrices queriesOf(const AttentionAnchor &anchor);
  static MappedMatrices keysOf(const AttentionAnchor &anchor);
  static MappedMatrices valuesOf(const AttentionAnchor &anchor);

  /// Whether the tensor suits, as far as that is known before it has a place in memory.
  bool mayHaveMap() const;
  /// Whether it does as it is there; `buffer` may be null.
  bool hasMap(mlir::Value buffer) const;
};

/// Builds the kernel; false, with nothing built, if the buffers do not allow it.
bool emitWarpgroupAttention(KernelBuilder &b, const AttentionAnchor &anchor,
                            const WarpgroupAttentionTile &tile);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_WARPGROUPATTENTIONTILE_H
