// What warpgroups of a block multiply, and its kernel.

#ifndef INGOT_PASSES_SCHEDULE_GPU_WARPGROUPTILE_H
#define INGOT_PASSES_SCHEDULE_GPU_WARPGROUPTILE_H

#include "passes/schedule/gpu/BlockOperands.h"

namespace ingot::schedule {

/// Of a strip, the bytes of a row; of a warpgroup, its threads and the rows of a product.
inline constexpr int64_t stripBytes = 128, groupThreads = 128, groupRows = 64;

/// The tile of a block. `groups` warpgroups divide its rows; in each of `slices` such parts
/// they compute the whole tile, of strips of their own. One more warpgroup fetches. Blocks of
/// a cluster have neighbouring tiles: those beside each other share what they fetch of the
/// left operand, those below each other of the right one. Or they are behind each other: all
/// have one tile, and divide its strips.
struct WarpgroupTile {
  int64_t rows, columns, groups, slices = 1, stages = 2, resident = 1;
  int64_t below = 1, beside = 1, behind = 1;
  int64_t cluster() const { return below * beside * behind; }
  /// Tiles of the result below and beside each other, in whole clusters.
  graph::Dim tilesBelow(const BlockOperands &operands) const;
  int64_t tilesBeside(const BlockOperands &operands) const;
  /// Blocks that fetch for a block, itself among them.
  int64_t providers() const { return below + beside - 1; }
  /// Bytes of a strip that the block itself fetches.
  int64_t fetchedBytes() const {
    return (rows / beside + columns / below) * stripBytes;
  }

  int64_t consumers() const { return groups * slices; }
  int64_t ofSlice() const { return groups * groupThreads; }
  int64_t threads() const { return (consumers() + 1) * groupThreads; }
  /// Products of a warpgroup one below the other, and sums that a thread has of each.
  int64_t productsDown() const { return rows / groups / groupRows; }
  int64_t sumsOfProduct() const { return columns / 2; }
  int64_t sums() const { return productsDown() * sumsOfProduct(); }
  int64_t bytesOfStrip() const { return (rows + columns) * stripBytes; }
  int64_t sumBytes() const {
    return (slices - 1 + (behind > 1)) * rows * columns * 4;
  }
  int64_t gates() const { return 2 * stages + (slices > 1 || behind > 1); }
  int64_t sharedBytes() const {
    return stages * bytesOfStrip() + sumBytes() + gates() * 8;
  }
  /// Registers of a thread as the kernel starts, and those of threads that multiply once
  /// the threads that fetch have given away all but `ofFetching`; the same where there is
  /// nothing to gain.
  int64_t registersAtStart(const Device &device) const;
  int64_t registersOfSums(const Device &device) const;
  static constexpr int64_t ofFetching = 56;
};

/// How an operand is where tiles of it are copied from (WarpgroupCopies.cpp); none where they
/// cannot be.
enum class TileOrder { None, Packed, Steps, Windows, Turned };
TileOrder leftOrderOf(const BlockOperands &operands, GroupView group);
TileOrder rightOrderOf(const BlockOperands &operands, GroupView group);
/// Rows or columns that a turned tile has side by side: 128 bytes.
inline constexpr int64_t turnedWidth = 64;

/// A tensor in memory that is an operand, or whose last two axes are exchanged to be one;
/// null if the operand is none of both.
struct StoredMatrix {
  mlir::Value tensor;
  bool isTransposed = false;
};
StoredMatrix storedMatrix(mlir::Value operand);

/// Whether a convolution is a product of the positions of its input as they are.
bool isPointwise(graph::ConvOp conv);

/// How often warpgroups copy a strip of both operands; 0 where tiles cannot be copied as
/// `copy_tile` does it: an operand is no tensor in memory, or its rows are at no multiples
/// of 16 bytes, or it has columns side by side that are not of 16 bits.
int64_t stripsOf(const BlockOperands &operands, GroupView group);

/// How many blocks the kernel has: one for each tile, or, where there are more than the
/// device runs at a time, so many that take one after the other.
graph::Dim warpgroupBlocks(const BlockOperands &operands,
                           const WarpgroupTile &tile, const Device &device);

/// Builds the kernel; false, with nothing built, if the buffers do not allow it.
bool emitWarpgroupProduct(KernelBuilder &b, const BlockOperands &operands,
                          const WarpgroupTile &tile);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_WARPGROUPTILE_H
