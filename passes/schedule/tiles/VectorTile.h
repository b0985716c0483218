// Tiles of vectors on small cores.

#ifndef INGOT_PASSES_SCHEDULE_TILES_VECTORTILE_H
#define INGOT_PASSES_SCHEDULE_TILES_VECTORTILE_H

#include "mlir/IR/Types.h"
#include "passes/schedule/tiles/TileChoice.h"
#include "targets/TargetDescription.h"

namespace ingot::schedule {

/// Estimates the issue cycles of the work in tiles of vectors of this shape, of a
/// core that finishes one instruction after the other; infinite if the shape does
/// not fit.
double vectorTileCost(const TileWork &work, const TargetDescription &target,
                      mlir::Type type, const CursorTileChoice &tile);
/// The tiles that fit, the best first; with `panelWidth` columns if that is not 0.
/// `together` counts the steps of one trip of the inner loop.
std::vector<CursorTileChoice> rankVectorTiles(const TileWork &work,
                                              const TargetDescription &target,
                                              mlir::Type type,
                                              int64_t panelWidth = 0);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_VECTORTILE_H
