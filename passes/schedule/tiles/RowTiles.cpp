#include "passes/schedule/tiles/RowTiles.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

Expr isLast(Expr number, int64_t count) {
  return named(equal(number, double(count - 1)), "is_last");
}

/// Emits tiles for the last `left` rows before row `end`. `left` is dynamic,
/// less than `tileRows`, and a multiple of `unit`.
static void forRowsLeft(KernelBuilder &b, Expr end, Expr left, int64_t tileRows,
                        int64_t unit, RowTile tile) {
  int64_t most = (tileRows - 1) / unit;
  if (most == 0)
    return;
  named(left, "left");
  int64_t count = static_cast<int64_t>(llvm::bit_floor(uint64_t(most))) * unit;
  for (; count >= unit; count /= 2) {
    b.when(left >= double(count),
           [&] { tile(named(end - left, "first_of_" + Twine(count)), count); });
    if (count > unit)
      left = named(left % double(count), "left_of_" + Twine(count));
  }
}

RowTiling::RowTiling(int64_t rows, int64_t tileRows, RowsLeft left,
                     const TargetDescription &target)
    : whole(rows / tileRows) {
  int64_t count = rows % tileRows;
  if (count == 0)
    return;
  if (left == RowsLeft::SharedWithLast && whole > 0 && 2 * count < tileRows &&
      !target.smallCode) {
    --whole;
    count += tileRows;
    last.push_back(count - count / 2);
    count /= 2;
  }
  last.push_back(count);
}

/// Calls `tile` for the tiles of `tiling.last`. The first of them begins at row
/// `first`.
static void forLastTiles(KernelBuilder &b, int64_t first,
                         const RowTiling &tiling, RowTile tile) {
  ArrayRef<int64_t> last = tiling.last;
  if (last.size() == 2 && last[0] == last[1]) {
    b.loop(b.index(first), b.index(first + 2 * last[0]), last[0], {},
           [&](Expr row, ArrayRef<Expr>) -> Exprs {
             tile(row, last[0]);
             return {};
           });
    return;
  }
  for (int64_t count : last) {
    tile(b.index(first), count);
    first += count;
  }
}

void forRowTiles(KernelBuilder &b, const Dim &rows, int64_t tileRows,
                 RowTile tile, RowsLeft left) {
  std::optional<RowTiling> tiling;
  if (auto known = rows.known())
    tiling.emplace(*known, tileRows, left, b.target);
  Dim whole =
      (tiling ? Dim(tiling->whole) : rows.floorDiv(tileRows)) * tileRows;
  if (whole == tileRows)
    tile(b.index(0), tileRows);
  else if (mayDiffer(whole, 0))
    b.loop(b.index(0), b.size(whole), tileRows, {},
           [&](Expr first, ArrayRef<Expr>) -> Exprs {
             tile(first, tileRows);
             return {};
           });
  if (tiling)
    return forLastTiles(b, *whole.known(), *tiling, tile);
  if (auto rest = (rows - whole).known()) {
    if (*rest)
      tile(b.size(whole), *rest);
    return;
  }
  Expr end = b.size(rows);
  forRowsLeft(b, end, end % double(tileRows), tileRows,
              std::gcd(tileRows, rows.divisor()), tile);
}

void forRowTiles(KernelBuilder &b, Expr rows, int64_t tileRows, RowTile tile) {
  Expr left = rows % double(tileRows);
  b.loop(b.index(0), rows - left, tileRows, {},
         [&](Expr first, ArrayRef<Expr>) -> Exprs {
           tile(first, tileRows);
           return {};
         });
  forRowsLeft(b, rows, left, tileRows, /*unit=*/1, tile);
}

void forRowTilesOfBlock(KernelBuilder &b, int64_t rows, int64_t tileRows,
                        Expr block, int64_t blockRows, RowTile tile,
                        RowsLeft left) {
  RowTiling tiling(rows, tileRows, left, b.target);
  int64_t whole = tiling.whole * tileRows;
  Expr first = named(block * double(blockRows), "first_row"),
       end = first + double(blockRows);
  // The last block may have no whole tile, only remaining rows.
  if (rows % blockRows != 0)
    end = min(end, double(whole));
  b.loop(first, named(end, "end_row"), tileRows, {},
         [&](Expr row, ArrayRef<Expr>) -> Exprs {
           tile(row, tileRows);
           return {};
         });
  if (!tiling.last.empty())
    b.when(isLast(block, llvm::divideCeil(rows, blockRows)),
           [&] { forLastTiles(b, whole, tiling, tile); });
}

void forRowTilesParallel(
    KernelBuilder &b, const Dim &rows, int64_t tileRows, int64_t steps,
    llvm::function_ref<void(Expr, int64_t, const KernelBuilder::Part &)> tile) {
  using Part = KernelBuilder::Part;
  Dim tiles = rows.floorDiv(tileRows);
  auto left = (rows - tiles * tileRows).known();
  if (tiles == 0 && left)
    return tile(b.index(0), *left, {b.index(0), 1});
  auto firstOf = [&](Expr number) {
    return named(number, "tile") * double(tileRows);
  };
  if (left && (*left == 0 || tiles.known()))
    return b.parallelFor(tiles, steps, [&](Expr number, const Part &part) {
      tile(firstOf(number), tileRows, part);
      // The thread with the last tile also computes the remaining rows.
      if (*left)
        b.when(isLast(number, *tiles.known()),
               [&] { tile(b.index(*tiles.known() * tileRows), *left, part); });
    });
  // The last of all tiles may have fewer rows.
  Dim allTiles = (rows + (tileRows - 1)).floorDiv(tileRows);
  b.parallelFor(allTiles, steps, [&](Expr number, const Part &part) {
    Expr first = firstOf(number), end = b.size(rows);
    b.branch(
        first + double(tileRows) <= end, [&] { tile(first, tileRows, part); },
        [&] {
          forRowsLeft(
              b, end, end - first, tileRows, std::gcd(tileRows, rows.divisor()),
              [&](Expr from, int64_t count) { tile(from, count, part); });
        });
  });
}

} // namespace ingot::schedule
