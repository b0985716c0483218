// Tests the tile sizes of vector kernels on in-order cores.
#include "mlir/IR/BuiltinTypes.h"
#include "passes/schedule/tiles/VectorTile.h"

#include <catch2/catch.hpp>

using namespace ingot;
using namespace ingot::schedule;

TEST_CASE("tiles of vectors fit and cover", "[kernel]") {
  mlir::MLIRContext context;
  mlir::Type f32 = mlir::Float32Type::get(&context);
  const TargetDescription &target = *lookupTarget("cortex-m55");
  for (int64_t positions : {1, 2, 6, 49, 2304})
    for (int64_t columns : {1, 4, 10, 64, 640})
      for (int64_t steps : {1, 3, 16, 640})
        for (int64_t panel : {0, 4, 8})
          for (int64_t multiple : {1, 2})
            for (bool exact : {false, true}) {
              TileWork work{
                  positions * multiple, columns, steps, 9, multiple, exact};
              CursorTileChoice tile =
                  rankVectorTiles(work, target, f32, panel).front();
              INFO(positions << " x " << columns << ", " << steps << " steps: "
                             << tile.rows << " x " << tile.columns);
              CHECK(tile.rows >= 1);
              CHECK(tile.rows <= work.positions);
              CHECK(tile.rows % multiple == 0);
              CHECK((!exact || work.positions % tile.rows == 0));
              CHECK(tile.columns % 4 == 0);
              CHECK((panel == 0 || panel > columns || tile.columns == panel));
              CHECK(tile.rows * tile.columns / 4 < target.vectorRegisters);
              CHECK(steps % tile.together == 0);
            }
}

TEST_CASE("tiles of vectors are those with the fewest instructions",
          "[kernel]") {
  mlir::MLIRContext context;
  mlir::Type f32 = mlir::Float32Type::get(&context);
  const TargetDescription &target = *lookupTarget("cortex-m55");
  auto choose = [&](int64_t positions, int64_t columns) {
    CursorTileChoice tile =
        rankVectorTiles({positions, columns, 64}, target, f32).front();
    return std::pair(tile.rows, tile.columns / 4);
  };
  // For many positions, the tile has three rows of two vectors: six
  // accumulators, and two vectors of weights. For a single position, the tile
  // has six vectors, so again six accumulators.
  CHECK(choose(2304, 64) == std::pair<int64_t, int64_t>(3, 2));
  CHECK(choose(1, 128) == std::pair<int64_t, int64_t>(1, 6));
  // For four positions, two tiles of two rows are better than two tiles of
  // three.
  CHECK(choose(4, 8).first == 2);
}
