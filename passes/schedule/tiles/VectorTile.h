// The choice of vector tiles for small in-order cores.

#ifndef INGOT_PASSES_SCHEDULE_TILES_VECTORTILE_H
#define INGOT_PASSES_SCHEDULE_TILES_VECTORTILE_H

#include "mlir/IR/Types.h"
#include "passes/schedule/tiles/TileChoice.h"
#include "targets/TargetDescription.h"

namespace ingot::schedule {

/// Estimates the issue cycles of the work in vector tiles of shape `tile` on an
/// in-order core; infinite if the tile does not fit the registers.
double vectorTileCost(const TileWork &work, const TargetDescription &target,
                      mlir::Type type, const CursorTileChoice &tile);
/// Returns the vector tiles that fit the registers, best first. If `panelWidth`
/// is not 0, all have `panelWidth` columns, rounded up to whole vectors. The
/// field `together` of a tile is the number of K steps per iteration of the
/// inner loop.
std::vector<CursorTileChoice> rankVectorTiles(const TileWork &work,
                                              const TargetDescription &target,
                                              mlir::Type type,
                                              int64_t panelWidth = 0);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_VECTORTILE_H
