// Division of rows into tiles.
//
// Covers the rows of a matrix, or the positions of an image, by tiles with a
// fixed number of rows. A tile of few rows does not hide the latency of its
// sums. If few rows remain after the last whole tile, they can therefore be
// divided together with the rows of that tile: 20 rows in tiles of 6 become 6 +
// 6 + 4 + 4. If the number of rows, n, is dynamic, the remaining rows are
// divided into powers of two:
//
//     for (row = 0; row < n / 6 * 6; row += 6) a tile of 6 rows
//     left = n % 6
//     if (left >= 4) a tile of 4 rows
//     if (left % 4 >= 2) a tile of 2 rows
//     if (left % 2 >= 1) a tile of 1 row

#ifndef INGOT_PASSES_SCHEDULE_TILES_ROWTILES_H
#define INGOT_PASSES_SCHEDULE_TILES_ROWTILES_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// A function that emits a tile of `count` rows from row `first` on.
using RowTile = llvm::function_ref<void(graph::Expr first, int64_t count)>;

/// What becomes of the few rows that may remain after the last whole tile: they
/// get a tile of their own, or they and the rows of the last whole tile are
/// divided into two tiles.
enum class RowsLeft { InOwnTile, SharedWithLast };

/// The tiling of a static number of rows: first `whole` whole tiles, then a
/// tile for each entry of `last`, with that number of rows.
struct RowTiling {
  int64_t whole;
  llvm::SmallVector<int64_t, 2> last;

  /// If the target prefers small code, `left` is ignored: remaining rows get
  /// their own tile.
  RowTiling(int64_t rows, int64_t tileRows, RowsLeft left,
            const TargetDescription &target);
};

/// Calls `tile` for tiles that cover [0, rows): tiles of `tileRows` rows, then
/// smaller tiles for the remaining rows.
void forRowTiles(KernelBuilder &b, const graph::Dim &rows, int64_t tileRows,
                 RowTile tile, RowsLeft left = RowsLeft::InOwnTile);
/// Calls `tile` for tiles that cover [0, rows), like the overload for
/// `graph::Dim`, if the number of rows is computed at run time.
void forRowTiles(KernelBuilder &b, graph::Expr rows, int64_t tileRows,
                 RowTile tile);
/// Calls `tile` for the tiles of the block with number `block`. Blocks of
/// `blockRows` rows, a multiple of `tileRows`, cover [0, rows). The last block
/// has the remaining rows.
void forRowTilesOfBlock(KernelBuilder &b, int64_t rows, int64_t tileRows,
                        graph::Expr block, int64_t blockRows, RowTile tile,
                        RowsLeft left = RowsLeft::InOwnTile);
/// Like forRowTiles with RowsLeft::InOwnTile, but threads divide the tiles. If
/// there are few tiles, threads also divide the `steps` units of work of each
/// tile into equal parts, and `tile` emits one `part`
/// (KernelBuilder::parallelFor).
void forRowTilesParallel(
    KernelBuilder &b, const graph::Dim &rows, int64_t tileRows, int64_t steps,
    llvm::function_ref<void(graph::Expr first, int64_t count,
                            const KernelBuilder::Part &part)>
        tile);

/// Returns whether `number` is the last of [0, count).
graph::Expr isLast(graph::Expr number, int64_t count);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_ROWTILES_H
