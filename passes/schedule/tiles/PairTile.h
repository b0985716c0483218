// Register tiles of dot products of two rows by two columns (DotTile.h).

#ifndef INGOT_PASSES_SCHEDULE_TILES_PAIRTILE_H
#define INGOT_PASSES_SCHEDULE_TILES_PAIRTILE_H

#include "passes/schedule/tiles/DotTile.h"

namespace ingot::schedule {

/// Returns `tile` with its sums in the order of products of two rows by two
/// columns (DotForm::ofPairs), by pairs of rows: the two halves of a row's
/// vector become the lower halves of two vectors, whose upper halves are those
/// of the next row. The last one of an odd number of rows is paired with itself.
Tile pairRows(KernelBuilder &b, const Tile &tile, const DotForm &form);
/// Returns a tile from pairRows with its sums in the order of rows.
Tile unpairRows(KernelBuilder &b, const Tile &tile, const DotForm &form);

/// Like accumulateDots, adds the product of the operands to rows [firstRow,
/// endRow) of a tile from pairRows. An odd last row is multiplied twice.
void accumulatePaired(KernelBuilder &b, Tile &tile, const DotForm &form,
                      int64_t steps, const DotOperands &operands,
                      int64_t firstRow, int64_t endRow);

/// Like accumulatePaired, for a tile with its sums in the order of rows, which
/// are reordered before and after.
void accumulatePairs(KernelBuilder &b, Tile &tile, const DotForm &form,
                     int64_t steps, const DotOperands &operands,
                     int64_t firstRow, int64_t endRow);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_PAIRTILE_H
