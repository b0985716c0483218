// Tests the tile sizes of kernels: properties that hold for every target.
#include "mlir/IR/BuiltinTypes.h"
#include "passes/schedule/tiles/ColumnTiles.h"
#include "passes/schedule/tiles/CursorTile.h"

#include <catch2/catch.hpp>

using namespace ingot;
using namespace ingot::schedule;

TEST_CASE("column vectors cover all columns", "[kernel]") {
  mlir::MLIRContext context;
  for (const TargetDescription &target : allTargets())
    for (mlir::Type type : {mlir::Type(mlir::Float32Type::get(&context)),
                            mlir::Type(mlir::Float64Type::get(&context))})
      for (int64_t columns = 1; columns <= 70; ++columns) {
        INFO(target.name.str() << ", " << columns << " columns");
        // If memory after the columns must not be read, the vectors have
        // exactly as many lanes as there are columns.
        auto exact = ColumnVectors::cover(columns, target, type, false);
        CHECK(exact.width() == columns);
        // Panels, the packed weights of these columns, are padded with the
        // narrowest vector that holds the remaining columns; no vector is
        // superfluous.
        auto padded = ColumnVectors::cover(columns, target, type, true);
        CHECK(padded.columns == columns);
        CHECK(padded.width() >= columns);
        CHECK(padded.width() - padded.lanes.back() < columns);
        for (int64_t lanes : padded.lanes)
          CHECK(lanes <= target.maxLanes(type));
      }
}

TEST_CASE("tiles fit into the registers", "[kernel]") {
  mlir::MLIRContext context;
  mlir::Type f32 = mlir::Float32Type::get(&context);
  for (const TargetDescription &target : allTargets())
    for (int64_t rows : {1, 2, 7, 8, 14, 49, 56, 3136})
      for (int64_t columns : {1, 3, 10, 16, 24, 40, 64, 1000})
        for (int64_t steps : {1, 3, 27, 64, 4608}) {
          // The tiles of microcontrollers without vectors are tested below.
          if (target.smallCode && target.maxLanes(f32) == 1)
            continue;
          INFO(target.name.str() << ": " << rows << " x " << columns << ", "
                                 << steps << " steps");
          TileChoice tile =
              TileModel(rows, columns, steps, target, f32).ranked().front();
          CHECK(tile.rows >= 1);
          CHECK(tile.rows <= rows);
          CHECK(tile.vectors >= 1);
          CHECK((tile.vectors - 1) * target.maxLanes(f32) < columns);
          CHECK(tile.splits >= 1);
          CHECK(tile.splits <= std::max<int64_t>(steps, 1));
          // Registers must suffice for the accumulators, for one vector of
          // weights per vector of columns, and for one element of a row.
          if (target.vectorRegisters)
            CHECK(tile.rows * tile.vectors * tile.splits + tile.vectors + 1 <=
                  target.vectorRegisters);
          if (target.loadsBeforeMultiplyAdds && tile.splits == 1)
            CHECK(tile.rows * tile.vectors + tile.rows + tile.vectors <=
                  target.vectorRegisters);
        }
}

TEST_CASE("rows of a tile do not evict one another from the first cache",
          "[kernel]") {
  mlir::MLIRContext context;
  mlir::Type f32 = mlir::Float32Type::get(&context);
  const TargetDescription &target = *lookupTarget("x86-64-v4");
  int64_t way = target.l1WayBytes, ways = target.l1Bytes / way;
  auto rowsOf = [&](int64_t rowBytes) {
    return TileModel(196, 256, 1024, target, f32, rowBytes)
        .ranked()
        .front()
        .rows;
  };
  // If rows are a multiple of `way` bytes apart, the cache lines that one step
  // reads map to the same set, and one line of the set is needed for the
  // weights.
  CHECK(rowsOf(way) < ways);
  CHECK(rowsOf(3 * way) < ways);
  // If rows are at other distances, these cache lines map to two sets, or to
  // many.
  CHECK(rowsOf(way / 2) < 2 * ways);
  CHECK(rowsOf(way + 64) == rowsOf(0));
  CHECK(rowsOf(0) > ways);
}

TEST_CASE("tiles have more sums than just hide the latency", "[kernel]") {
  mlir::MLIRContext context;
  mlir::Type f32 = mlir::Float32Type::get(&context);
  // A 4 x 2 tile would divide the 128 rows without remainder, but its 8
  // accumulators barely hide the latency.
  TileChoice tile = TileModel(128, 384, 384, *lookupTarget("x86-64-v3"), f32)
                        .ranked()
                        .front();
  CHECK(tile.rows == 6);
  CHECK(tile.vectors == 2);
}

TEST_CASE("tiles are ranked by their cycles", "[kernel]") {
  mlir::MLIRContext context;
  mlir::Type f32 = mlir::Float32Type::get(&context);
  const TargetDescription &target = *lookupTarget("x86-64-v4");
  for (int64_t rows : {1, 7, 49, 197, 3136})
    for (int64_t columns : {10, 24, 96, 1000}) {
      TileModel model(rows, columns, 64, target, f32);
      std::vector<TileChoice> tiles = model.ranked();
      INFO(rows << " x " << columns);
      for (size_t i = 0; i < tiles.size(); ++i) {
        // The first tile is at most a thousandth slower than any other.
        CHECK(model.cycles(tiles[0]) <= model.cycles(tiles[i]) * 1.0011);
        if (i > 1)
          CHECK(model.cycles(tiles[i - 1]) <= model.cycles(tiles[i]));
      }
      // withVectors() keeps the tiles with this number of vectors, in the same
      // order, but at least one tile.
      for (int64_t vectors : {1, 2, 64}) {
        std::vector<TileChoice> some = withVectors(vectors, tiles);
        REQUIRE(!some.empty());
        for (const TileChoice &tile : some)
          CHECK(tile.vectors == vectors);
      }
    }
}

TEST_CASE("tiles that are read through cursors fit into the registers",
          "[kernel]") {
  mlir::MLIRContext context;
  mlir::Type f32 = mlir::Float32Type::get(&context);
  for (const TargetDescription &target : allTargets())
    for (int64_t rows : {1, 5, 9, 14, 125, 2304})
      for (int64_t columns : {1, 3, 10, 16, 64, 1001})
        for (int64_t steps : {1, 3, 9, 16, 640})
          for (bool exact : {false, true}) {
            if (!target.smallCode || target.maxLanes(f32) > 1)
              continue;
            INFO(target.name.str() << ": " << rows << " x " << columns << ", "
                                   << steps << " steps");
            TileWork work{rows, columns, steps};
            work.exact = exact;
            CursorTileChoice tile =
                rankCursorTiles(work, target, {f32, f32, f32, {}}).front();
            CHECK(tile.rows >= 1);
            CHECK(tile.rows <= rows);
            CHECK(tile.columns <= columns);
            CHECK(steps % tile.stepsOfTrip() == 0);
            CHECK((!exact || rows % tile.rows == 0));
            CHECK(tile.rows * tile.columns + tile.columns + 1 <=
                  target.vectorRegisters);
            if (tile.together > 1)
              CHECK(tile.rows * tile.together + tile.columns <=
                    target.loadRegisterCount);
          }
}

TEST_CASE("what a kernel position reads inside the input", "[kernel]") {
  for (int64_t stride : {1, 2, 3})
    for (int64_t dilation : {1, 2})
      for (int64_t kernel : {1, 3, 5})
        for (int64_t low : {0, 1, 2}) {
          int64_t input = 9, reach = (kernel - 1) * dilation;
          // The padding is `low` at both ends.
          int64_t output = (input + 2 * low - reach - 1) / stride + 1;
          if (input + 2 * low <= reach)
            continue;
          WindowAxis axis{input, output, kernel, stride, dilation, low};
          INFO("stride " << stride << ", dilation " << dilation << ", kernel "
                         << kernel << ", low " << low);
          int64_t leading = 0, trailing = 0;
          for (int64_t first = 0; first < output; ++first) {
            int64_t start = first * stride - low;
            leading += start < 0;
            trailing += start + reach >= input;
            int64_t count = std::min<int64_t>(4, output - first);
            bool all = true;
            for (int64_t k = 0; k < kernel; ++k) {
              auto [lo, hi] = axis.inside(k, {start, start - input}, count);
              for (int64_t o = 0; o < count; ++o) {
                int64_t at = (first + o) * stride - low + k * dilation;
                bool inside = at >= 0 && at < input;
                CHECK((o >= lo && o < hi) == inside);
                all &= inside;
              }
            }
            TilePlace place = axis.placeOf(first, count);
            CHECK((!place.fromStart && !place.fromEnd) == all);
          }
          CHECK(std::min(axis.leading(), output) == leading);
          CHECK(axis.trailing() == trailing);
          CHECK(axis.hasNoBorders() == (leading == 0 && trailing == 0));
        }
}
