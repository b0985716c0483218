// The tile of a product that a block computes on tensor cores, and its kernel.

#ifndef INGOT_PASSES_SCHEDULE_GPU_TENSORTILE_H
#define INGOT_PASSES_SCHEDULE_GPU_TENSORTILE_H

#include "passes/schedule/DeviceTime.h"
#include "passes/schedule/gpu/BlockOperands.h"

namespace ingot::schedule {

/// 16-byte units per row of a K tile.
inline constexpr int64_t kTileRowVectors = 4;
/// The numbers of rows and columns of an MMA. An MMA has half as many steps (K)
/// as a K tile.
inline constexpr int64_t unitRows = 16, unitColumns = 8;

/// The tile of a block and the tile of each warp. The warps of the block form
/// `slices` slices, each of which computes the whole tile for different K
/// tiles. If `shares` is not 0, that many blocks divide the K tiles of all
/// output tiles evenly (StreamProduct.cpp).
struct TensorTile {
  int64_t rows, columns, warpRows, warpColumns, stages, slices = 1, shares = 0;

  int64_t warpsAcross() const { return columns / warpColumns; }
  /// The number of warps in a slice, a set of warps that computes the whole
  /// tile for some of the K tiles.
  int64_t warps() const { return rows / warpRows * warpsAcross(); }
  int64_t threads(const Device &device) const {
    return warps() * slices * device.warp;
  }
  /// Estimates the registers of a thread: for sums, for MMA operands, and 48
  /// for addresses, about as many as nvcc 13 uses.
  int64_t registers() const {
    return warpRows * warpColumns / 32 + warpRows / 4 + warpColumns / 4 + 48;
  }
  /// Bytes of shared memory: for the K tiles, and for the sums that all other
  /// slices (sets of warps) pass to the first one.
  int64_t sharedBytes() const {
    return slices * stages * (rows + columns) * kTileRowVectors *
               vectorAccessBytes +
           sumBytes();
  }
  int64_t sumBytes() const { return (slices - 1) * rows * columns * 4; }
};

/// Whether tensor cores multiply the types of `operands` with the requested
/// precision. In strict mode, this holds for integers only.
bool areMultipliedByUnits(const BlockOperands &operands, GroupOnTarget group);
/// Estimate the seconds of a product in the fastest tile.
/// leastWholeTileSeconds() is for blocks that compute whole tiles,
/// leastShareSeconds() for blocks that compute stream-K shares (infinite if a
/// size is dynamic). leastTensorSeconds() returns the smaller of these times.
double leastWholeTileSeconds(const BlockOperands &operands,
                             const TargetDescription &target);
double leastShareSeconds(const BlockOperands &operands,
                         const TargetDescription &target);
double leastTensorSeconds(const BlockOperands &operands,
                          const TargetDescription &target);

/// Returns why a block cannot have this tile; empty if it can.
std::string refuseTensorTile(const TensorTile &tile,
                             const TargetDescription &target);
/// Returns how many blocks with this tile an SM holds at once.
int64_t residentTensorBlocks(const TensorTile &tile, const Device &device);

/// Returns the K loop of a block, for a product of `kTiles` K tiles of 64 bytes
/// per row.
KTileLoop tensorLoop(const BlockOperands &operands, const TensorTile &tile,
                     int64_t kTiles, const Device &device);

/// Returns `tile` with as many of its pipeline stages as fit shared memory, but
/// at least two; with two on devices without asynchronous copies.
TensorTile withFittingStages(TensorTile tile, const Device &device);

/// Emits the kernel of a product on tensor cores. In packed weights, the steps
/// (K) of each column must be contiguous (isInColumns).
void emitTensorProduct(KernelBuilder &b, const BlockOperands &operands,
                       const TensorTile &tile);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_TENSORTILE_H
