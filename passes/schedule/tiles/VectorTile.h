// Vector tiles on small cores.

#ifndef INGOT_PASSES_SCHEDULE_TILES_VECTORTILE_H
#define INGOT_PASSES_SCHEDULE_TILES_VECTORTILE_H

#include "mlir/IR/Types.h"
#include "passes/schedule/tiles/TileChoice.h"
#include "targets/TargetDescription.h"

namespace ingot::schedule {

/// Estimates the issue cycles of the work in vector tiles of this shape on an
/// in-order core; infinite if the shape does not fit.
double vectorTileCost(const TileWork &work, const TargetDescription &target,
                      mlir::Type type, const CursorTileChoice &tile);
/// Returns the tiles that fit, best first; with `panelWidth` columns if that is
/// not 0. `together` is the number of steps per iteration of the inner loop.
std::vector<CursorTileChoice> rankVectorTiles(const TileWork &work,
                                              const TargetDescription &target,
                                              mlir::Type type,
                                              int64_t panelWidth = 0);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_VECTORTILE_H
