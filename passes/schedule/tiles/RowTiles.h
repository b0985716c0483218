// Division of rows into tiles.
//
// Covers the rows of a matrix, or the positions of an image, by tiles with a
// fixed number of rows. If few rows remain after the last whole tile, they can
// be divided with it, since a tile of few rows does not hide the latency of its
// sums: 20 rows are 6 + 6 + 4 + 4. If the number of rows is dynamic, the
// remaining rows are divided into powers of two:
//
//     for (row = 0; row < n / 6 * 6; row += 6) a tile of 6 rows
//     if (n % 6 % 8 >= 4) a tile of 4 rows, if (... % 4 >= 2) one of 2, ...

#ifndef INGOT_PASSES_SCHEDULE_TILES_ROWTILES_H
#define INGOT_PASSES_SCHEDULE_TILES_ROWTILES_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Emits a tile of `count` rows from row `first` on.
using RowTile = llvm::function_ref<void(graph::Expr first, int64_t count)>;

/// Whether few remaining rows get a tile of their own or are divided with the
/// last whole tile.
enum class RowsLeft { InOwnTile, SharedWithLast };

/// The tiling of a static number of rows: `whole` whole tiles, followed by
/// those in `last`.
struct RowTiling {
  int64_t whole;
  llvm::SmallVector<int64_t, 2> last;

  /// If the target prefers small code, `left` is ignored and remaining rows get
  /// their own tile.
  RowTiling(int64_t rows, int64_t tileRows, RowsLeft left,
            const TargetDescription &target);
};

/// Calls `tile` for tiles of `tileRows` rows, and smaller ones for the
/// remaining rows, that cover [0, rows).
void forRowTiles(KernelBuilder &b, const graph::Dim &rows, int64_t tileRows,
                 RowTile tile, RowsLeft left = RowsLeft::InOwnTile);
/// Calls `tile` for tiles that cover [0, rows), if the number of rows is
/// computed at run time.
void forRowTiles(KernelBuilder &b, graph::Expr rows, int64_t tileRows,
                 RowTile tile);
/// Calls `tile` for the tiles of block number `block`. Blocks of `blockRows`
/// rows, a multiple of `tileRows`, cover [0, rows); the last one has the
/// remaining rows.
void forRowTilesOfBlock(KernelBuilder &b, int64_t rows, int64_t tileRows,
                        graph::Expr block, int64_t blockRows, RowTile tile,
                        RowsLeft left = RowsLeft::InOwnTile);
/// Like forRowTiles with RowsLeft::InOwnTile. Tiles, and parts of the `steps`
/// of each, are divided among threads: see parallelFor.
void forRowTilesParallel(
    KernelBuilder &b, const graph::Dim &rows, int64_t tileRows, int64_t steps,
    llvm::function_ref<void(graph::Expr first, int64_t count,
                            const KernelBuilder::Part &part)>
        tile);

/// Returns whether `number` is the last of [0, count).
graph::Expr isLast(graph::Expr number, int64_t count);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_ROWTILES_H
