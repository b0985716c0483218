// Register tiles of dot products of two rows by two columns (DotTile.h).

#ifndef INGOT_PASSES_SCHEDULE_TILES_PAIRTILE_H
#define INGOT_PASSES_SCHEDULE_TILES_PAIRTILE_H

#include "passes/schedule/tiles/DotTile.h"

namespace ingot::schedule {

/// Like accumulateDots, adds the product of the operands to rows [firstRow,
/// endRow) of the tile, but by products of two rows by two columns
/// (DotForm::ofPairs). The sums are reordered before and after: the two halves
/// of a row's vector become the lower halves of two vectors, whose upper halves
/// are those of the next row. A last single row is multiplied twice.
void accumulatePairs(KernelBuilder &b, Tile &tile, const DotForm &form,
                     int64_t steps, const DotOperands &operands,
                     int64_t firstRow, int64_t endRow);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_PAIRTILE_H
