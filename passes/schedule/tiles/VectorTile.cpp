// The choice of vector tiles for small in-order cores.
//
// A K step of a tile of r rows by v vectors loads v vectors of weights and r
// scalars, and multiplies each pair. With few registers, tiles have few rows
// and vectors: with eight registers and four lanes, 3 x 2 (12 instructions,
// including one for the loop, for 24 products) or 2 x 3, whereas 6 x 1 would
// take 14 instructions. The choice between such tiles depends on the overhead
// per tile and on the positions that are recomputed because tiles do not divide
// a row.

#include "passes/schedule/tiles/VectorTile.h"

using namespace mlir;

namespace ingot::schedule {
namespace {

/// Returns the issue cycles of the work in tiles of `rows` rows by `vectors`
/// vectors.
double costOf(const TileWork &work, const InstructionCosts &costs, int64_t rows,
              int64_t vectors, int64_t columnVectors, int64_t together) {
  auto tile = [&](int64_t v) {
    double step = static_cast<double>((rows + v) * costs.load +
                                      rows * v * costs.multiplyAdd);
    // Low-overhead loops still take one instruction per iteration.
    double trips = static_cast<double>(work.steps) /
                   static_cast<double>(together) * costs.takenBranch;
    // A stretch (a contiguous range of K steps, see TileWork) also takes
    // address computations, and a comparison for each row that may be padding.
    double stretch = static_cast<double>(work.steps) * step + trips +
                     5.0 * static_cast<double>(rows) + 6;
    return static_cast<double>(work.stretches) * stretch +
           static_cast<double>(rows * v) * (costs.store + 4) + 12;
  };
  int64_t full = columnVectors / vectors, left = columnVectors % vectors;
  double columns = static_cast<double>(full) * tile(vectors);
  if (left > 0)
    columns += tile(left);
  return static_cast<double>(llvm::divideCeil(work.positions, rows)) * columns;
}

} // namespace

double vectorTileCost(const TileWork &work, const TargetDescription &target,
                      Type type, const CursorTileChoice &tile) {
  // The most rows of a tile. The address of each row takes a core register.
  constexpr int64_t mostRows = 6;
  int64_t lanes = target.maxLanes(type);
  int64_t vectors = llvm::divideCeil(tile.columns, lanes),
          columnVectors = llvm::divideCeil(work.columns, lanes);
  // Registers hold the sums and up to two vectors of weights of a K step.
  // Further vectors of weights can be loaded when a register is free.
  bool fits = tile.rows * vectors + std::min<int64_t>(vectors, 2) <=
              target.vectorRegisters;
  if (!fits || tile.rows > std::min(work.positions, mostRows) ||
      tile.rows % work.multiple != 0 || tile.groups != 1 ||
      work.steps % tile.together != 0 ||
      (work.exact && work.positions % tile.rows != 0))
    return INFINITY;
  double cost = costOf(work, target.costs, tile.rows, vectors, columnVectors,
                       tile.together);
  // If the last panel of weights is narrower, it takes more code: add a small
  // penalty.
  return columnVectors % vectors ? cost * 1.02 : cost;
}

std::vector<CursorTileChoice> rankVectorTiles(const TileWork &work,
                                              const TargetDescription &target,
                                              Type type, int64_t panelWidth) {
  int64_t lanes = target.maxLanes(type);
  int64_t together = !target.smallestCode && work.steps % 2 == 0 ? 2 : 1;
  Ranking<CursorTileChoice> ranking;
  for (int64_t columns = lanes; columns < work.columns + lanes;
       columns += lanes)
    for (int64_t rows = work.multiple;
         rows <= work.positions && rows <= int64_t(target.vectorRegisters);
         rows += work.multiple)
      if (!panelWidth ||
          columns == static_cast<int64_t>(llvm::alignTo(panelWidth, lanes))) {
        CursorTileChoice tile{rows, columns, together};
        ranking.add(tile, vectorTileCost(work, target, type, tile));
      }
  return std::move(ranking).ranked(
      {work.multiple, panelWidth ? panelWidth : lanes, 1});
}

} // namespace ingot::schedule
