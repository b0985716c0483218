// What a block of threads multiplies by matrix units, and its kernel.

#ifndef INGOT_PASSES_SCHEDULE_GPU_TENSORTILE_H
#define INGOT_PASSES_SCHEDULE_GPU_TENSORTILE_H

#include "passes/schedule/DeviceTime.h"
#include "passes/schedule/gpu/BlockOperands.h"

namespace ingot::schedule {

/// Pieces of a row in a strip.
inline constexpr int64_t stripPieces = 4;
/// Of what a warp multiplies at once; half a strip is its steps.
inline constexpr int64_t unitRows = 16, unitColumns = 8;

/// The tile of a block, and that of each of its warps. In each of `slices` parts of the
/// block warps compute the whole tile, of strips of their own. With `shares`, so many
/// blocks divide the strips of all tiles evenly (StreamProduct.cpp).
struct TensorTile {
  int64_t rows, columns, warpRows, warpColumns, stages, slices = 1, shares = 0;

  int64_t warpsAcross() const { return columns / warpColumns; }
  /// Warps of a slice.
  int64_t warps() const { return rows / warpRows * warpsAcross(); }
  int64_t threads(const Device &device) const {
    return warps() * slices * device.warp;
  }
  /// Registers of a thread: sums, matrices that are multiplied, and about as many for
  /// places as nvcc 13 takes.
  int64_t registers() const {
    return warpRows * warpColumns / 32 + warpRows / 4 + warpColumns / 4 + 48;
  }
  /// Shared memory: of strips, and of the sums of all slices but the first.
  int64_t sharedBytes() const {
    return slices * stages * (rows + columns) * stripPieces * pieceBytes +
           sumBytes();
  }
  int64_t sumBytes() const { return (slices - 1) * rows * columns * 4; }
};

/// Whether matrix units multiply such operands, as precisely as was asked for.
bool areMultipliedByUnits(const BlockOperands &operands, GroupView group,
                          const TargetDescription &target);
/// Estimates the time of the best tile: of whole tiles, of those in shares, or of either.
double leastWholeTileSeconds(const BlockOperands &operands,
                             const TargetDescription &target);
double leastShareSeconds(const BlockOperands &operands,
                         const TargetDescription &target);
double leastTensorSeconds(const BlockOperands &operands,
                          const TargetDescription &target);

/// Says why a block cannot have such a tile; empty if it can.
std::string refuseTensorTile(const TensorTile &tile,
                             const TargetDescription &target);
/// Blocks of such tiles that a processor holds at once.
int64_t residentTensorBlocks(const TensorTile &tile, const Device &device);

/// What a block of such tiles does, of products of so many strips of 64 bytes.
StripLoop tensorLoop(const BlockOperands &operands, const TensorTile &tile,
                     int64_t strips, const Device &device);

/// The tile with as many of its stages as there is use and room for.
TensorTile withFittingStages(TensorTile tile, const Device &device);

/// Builds the kernel; weights are packed with the steps of each column side by side.
void emitTensorProduct(KernelBuilder &b, const BlockOperands &operands,
                       const TensorTile &tile);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_TENSORTILE_H
