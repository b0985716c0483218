// Tiles of vectors on small cores.

#ifndef INGOT_PASSES_SCHEDULE_TILES_VECTORTILE_H
#define INGOT_PASSES_SCHEDULE_TILES_VECTORTILE_H

#include "mlir/IR/Types.h"
#include "passes/schedule/tiles/TileChoice.h"
#include "targets/TargetDescription.h"

namespace ingot::schedule {

/// The cheapest tile of vectors for a core that finishes one instruction after
/// the other; with `panelWidth` columns if that is not 0. Its `together` counts
/// the steps of one trip of the inner loop.
CursorTileChoice chooseVectorTile(const TileWork &work,
                                  const TargetDescription &target,
                                  mlir::Type type, int64_t panelWidth = 0);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_VECTORTILE_H
