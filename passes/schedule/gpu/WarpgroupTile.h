// The tile that the warpgroups of a block compute, and its kernel.

#ifndef INGOT_PASSES_SCHEDULE_GPU_WARPGROUPTILE_H
#define INGOT_PASSES_SCHEDULE_GPU_WARPGROUPTILE_H

#include "passes/schedule/gpu/BlockOperands.h"

namespace ingot::schedule {

/// Bytes per row of a K tile, threads of a warpgroup, and rows of an MMA of a
/// warpgroup.
inline constexpr int64_t kTileRowBytes = 128, groupThreads = 128,
                         groupRows = 64;

/// The tile of a block. `groups` warpgroups divide its rows. There are `slices`
/// such sets of warpgroups, each of which computes the whole tile for different
/// K tiles. One more warpgroup fetches K tiles, into `stages` pipeline stages.
/// An SM holds `resident` blocks.
///
/// A cluster is a grid of blocks with adjacent tiles: `below` tile rows of
/// `beside` tiles each. The blocks of a tile row share the copies of the left
/// operand (multicast), the blocks of a tile column those of the right operand.
/// Or both numbers are 1, and the `behind` blocks of the cluster compute the
/// same tile and split K.
struct WarpgroupTile {
  int64_t rows, columns, groups, slices = 1, stages = 2, resident = 1;
  int64_t below = 1, beside = 1, behind = 1;
  int64_t cluster() const { return below * beside * behind; }
  /// Return the number of tile rows and tile columns of the result, rounded up
  /// to whole clusters.
  graph::Dim tilesBelow(const BlockOperands &operands) const;
  int64_t tilesBeside(const BlockOperands &operands) const;
  /// The number of blocks in a cluster that fetch data for one block, including
  /// this block itself.
  int64_t providers() const { return below + beside - 1; }
  /// Bytes of a K tile that the block itself fetches.
  int64_t fetchedBytes() const {
    return (rows / beside + columns / below) * kTileRowBytes;
  }

  int64_t consumers() const { return groups * slices; }
  int64_t ofSlice() const { return groups * groupThreads; }
  int64_t threads() const { return (consumers() + 1) * groupThreads; }
  /// The number of MMAs of a warpgroup along the rows, and the number of sums
  /// that a thread has in each MMA.
  int64_t productsDown() const { return rows / groups / groupRows; }
  int64_t sumsOfProduct() const { return columns / 2; }
  int64_t sums() const { return productsDown() * sumsOfProduct(); }
  int64_t kTileBytes() const { return (rows + columns) * kTileRowBytes; }
  int64_t sumBytes() const {
    return (slices - 1 + (behind > 1)) * rows * columns * 4;
  }
  int64_t mbarriers() const { return 2 * stages + (slices > 1 || behind > 1); }
  int64_t sharedBytes() const {
    return stages * kTileBytes() + sumBytes() + mbarriers() * 8;
  }
  /// Return the registers of each thread at the start, and those of a consumer
  /// thread after each producer thread has given all its registers but
  /// `ofFetching` to the consumers. The numbers are equal if consumers would
  /// not gain any.
  int64_t registersAtStart(const Device &device) const;
  int64_t registersOfSums(const Device &device) const;
  static constexpr int64_t ofFetching = 56;
};

/// The layout of an operand whose tiles TMA copies (WarpgroupCopies.cpp); None
/// if TMA cannot copy them.
enum class TileOrder { None, Packed, Steps, Windows, Turned };
TileOrder leftOrderOf(const BlockOperands &operands, GroupView group);
TileOrder rightOrderOf(const BlockOperands &operands, GroupView group);
/// The number of contiguous rows or columns in a tile of TileOrder::Turned: 128
/// bytes of 16-bit elements.
inline constexpr int64_t turnedWidth = 64;

/// The argument of the group that is an operand, directly or with its last two
/// axes transposed. `tensor` is null if the operand is computed in any other
/// way.
struct StoredMatrix {
  mlir::Value tensor;
  bool isTransposed = false;
};
StoredMatrix storedMatrix(mlir::Value operand);

/// Whether a convolution is a matrix product of its input's positions (1x1
/// kernel, stride 1, no padding).
bool isPointwise(graph::ConvOp conv);

/// Returns the number of K tiles; 0 if warpgroups cannot compute the product: a
/// convolution with groups, weights of 2, 4 or 8 bits, or an operand that TMA
/// cannot copy (TileOrder::None). For example, TMA cannot copy an operand that
/// is computed, whose rows are not at multiples of 16 bytes, or whose steps (K)
/// are not contiguous and whose elements do not have 16 bits.
int64_t kTilesOf(const BlockOperands &operands, GroupView group);

/// Returns the number of blocks of the kernel: one per tile, or `behind` per
/// tile if the blocks of a cluster split K. If the device cannot run all these
/// blocks at once, K is not split and the number of tiles is static, returns as
/// many blocks as it can run; each of them then processes several tiles
/// (persistent blocks).
graph::Dim warpgroupBlocks(const BlockOperands &operands,
                           const WarpgroupTile &tile, const Device &device);

/// Emits the kernel. Returns false and emits nothing if TMA descriptors cannot
/// describe the buffers of the operands.
bool emitWarpgroupProduct(KernelBuilder &b, const BlockOperands &operands,
                          const WarpgroupTile &tile);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_WARPGROUPTILE_H
