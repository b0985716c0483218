// Rows in tiles.
//
// Covers the rows of a matrix, or the positions of an image, by tiles that have a
// fixed number of rows. Where few are left behind the last whole tile, the two can share
// their rows, since a tile of few rows waits for its sums: 20 rows are 6 + 6 + 4 + 4. Where
// the number of all rows is known only at run time, the rows left are taken apart into
// powers of two:
//
//     for (row = 0; row < n / 6 * 6; row += 6) a tile of 6 rows
//     if (n % 6 % 8 >= 4) a tile of 4 rows, if (... % 4 >= 2) one of 2, ...

#ifndef INGOT_PASSES_SCHEDULE_TILES_ROWTILES_H
#define INGOT_PASSES_SCHEDULE_TILES_ROWTILES_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Builds a tile of `count` rows, from the row `first` on.
using RowTile = llvm::function_ref<void(graph::Expr first, int64_t count)>;

/// What becomes of few rows behind the last whole tile.
enum class RowsLeft { InOwnTile, SharedWithLast };

/// A known number of rows in tiles: so many whole ones, then these.
struct RowTiling {
  int64_t whole;
  llvm::SmallVector<int64_t, 2> last;

  /// Rows are not shared where code has to be small.
  RowTiling(int64_t rows, int64_t tileRows, RowsLeft left,
            const TargetDescription &target);
};

/// Calls `tile` for tiles of `tileRows` rows, and fewer for those left, that cover
/// [0, rows).
void forRowTiles(KernelBuilder &b, const graph::Dim &rows, int64_t tileRows,
                 RowTile tile, RowsLeft left = RowsLeft::InOwnTile);
/// The same for a number of rows that code has computed.
void forRowTiles(KernelBuilder &b, graph::Expr rows, int64_t tileRows,
                 RowTile tile);
/// Calls `tile` for the tiles of one of several blocks of `blockRows` rows, a multiple of
/// `tileRows`, which cover [0, rows); the rows left are in the last one.
void forRowTilesOfBlock(KernelBuilder &b, int64_t rows, int64_t tileRows,
                        graph::Expr block, int64_t blockRows, RowTile tile,
                        RowsLeft left = RowsLeft::InOwnTile);
/// As forRowTiles, rows left in a tile of their own, with the tiles, and pieces of the
/// `steps` of each, divided among threads: see parallelFor.
void forRowTilesParallel(
    KernelBuilder &b, const graph::Dim &rows, int64_t tileRows, int64_t steps,
    llvm::function_ref<void(graph::Expr first, int64_t count,
                            const KernelBuilder::Piece &piece)>
        tile);

/// Returns whether `number` is the last of [0, count).
graph::Expr isLast(graph::Expr number, int64_t count);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_ROWTILES_H
