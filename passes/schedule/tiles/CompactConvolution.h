// Convolutions in little code.

#ifndef INGOT_PASSES_SCHEDULE_TILES_COMPACTCONVOLUTION_H
#define INGOT_PASSES_SCHEDULE_TILES_COMPACTCONVOLUTION_H

#include "passes/schedule/tiles/CursorTile.h"

namespace ingot::schedule {

/// What the tiles of a convolution and the pool after it (or null) cover.
/// `isBuffer`: the input lies in memory, in the order of its axes.
TileWork convolutionWork(graph::ConvOp conv, mlir::Operation *pool,
                         bool isBuffer = true);

/// Builds a convolution and the pool after it (or null) for a target whose code
/// has to be small; false if it has no form for it.
bool emitCompactConvolution(KernelBuilder &b, graph::ConvOp conv,
                            mlir::Operation *pool);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_COMPACTCONVOLUTION_H
