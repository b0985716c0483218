// What a block of threads multiplies by matrix units, and its kernel.

#ifndef INGOT_PASSES_SCHEDULE_GPU_TENSORTILE_H
#define INGOT_PASSES_SCHEDULE_GPU_TENSORTILE_H

#include "passes/schedule/gpu/BlockOperands.h"

namespace ingot::schedule {

/// Bytes that are copied at once, and pieces of a row in a strip.
inline constexpr int64_t pieceBytes = 16, stripPieces = 4;
/// Of what a warp multiplies at once; half a strip is its steps.
inline constexpr int64_t unitRows = 16, unitColumns = 8;

/// The tile of a block, and that of each of its warps.
struct TensorTile {
  int64_t rows, columns, warpRows, warpColumns, stages;

  int64_t warpsAcross() const { return columns / warpColumns; }
  int64_t threads(const Device &device) const {
    return rows / warpRows * warpsAcross() * device.warp;
  }
  int64_t sharedBytes() const {
    return stages * (rows + columns) * stripPieces * pieceBytes;
  }
};

inline int64_t bytesOf(mlir::Type element) {
  return element.getIntOrFloatBitWidth() / 8;
}

/// Builds the kernel; weights are packed with the steps of each column side by side.
void emitTensorProduct(KernelBuilder &b, const BlockOperands &operands,
                       const TensorTile &tile);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_TENSORTILE_H
