// Convolutions in little code.

#ifndef INGOT_PASSES_SCHEDULE_TILES_COMPACTCONVOLUTION_H
#define INGOT_PASSES_SCHEDULE_TILES_COMPACTCONVOLUTION_H

#include "passes/schedule/tiles/CursorTile.h"

namespace ingot::schedule {

/// What the tiles of a convolution and the pool after it (or null) cover if its
/// input is in memory, in the order of its axes.
TileWork convolutionWork(graph::ConvOp conv, mlir::Operation *pool);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_COMPACTCONVOLUTION_H
