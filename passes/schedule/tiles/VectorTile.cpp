// Tiles of vectors on small cores.
//
// A step of a tile of r rows by v vectors loads v vectors of weights and r
// factors, and multiplies each by each. Few registers allow only flat tiles:
// with eight of them 3 x 2 (12 instructions for 24 products of four lanes) or
// 2 x 3, where 6 x 1 would take 14. What a tile takes beside its steps, and
// positions that are computed twice because tiles do not come out even, decide
// among these.

#include "passes/schedule/tiles/VectorTile.h"

using namespace mlir;

namespace ingot::schedule {
namespace {

/// Issue cycles of work in tiles of r rows by v vectors.
double costOf(const TileWork &work, const InstructionCosts &costs, int64_t rows,
              int64_t vectors, int64_t columnVectors, int64_t together) {
  auto tile = [&](int64_t v) {
    double step = static_cast<double>((rows + v) * costs.load +
                                      rows * v * costs.multiplyAdd);
    // Low-overhead loops still take an instruction a trip.
    double trips = static_cast<double>(work.steps) /
                   static_cast<double>(together) * costs.takenBranch;
    // Addresses, a comparison for each row that may lie in the padding.
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

CursorTileChoice chooseVectorTile(const TileWork &work,
                                  const TargetDescription &target, Type type,
                                  int64_t panelWidth) {
  // Rows have their addresses in core registers.
  constexpr int64_t mostRows = 6;
  int64_t lanes = target.maxLanes(type);
  int64_t columnVectors = llvm::divideCeil(work.columns, lanes);
  int64_t panel = llvm::divideCeil(panelWidth, lanes);
  int64_t together = !target.smallestCode && work.steps % 2 == 0 ? 2 : 1;
  CursorTileChoice best{work.multiple, panelWidth ? panelWidth : lanes, 1};
  double bestCost = std::numeric_limits<double>::infinity();
  for (int64_t vectors = 1; vectors <= columnVectors; ++vectors) {
    if (panel && vectors != panel)
      continue;
    for (int64_t rows = work.multiple;
         rows <= std::min(work.positions, mostRows); rows += work.multiple) {
      // Sums, and the weights of a step; one of those may be loaded late.
      if (rows * vectors + std::min<int64_t>(vectors, 2) >
              target.vectorRegisters ||
          (work.exact && work.positions % rows != 0))
        continue;
      double cost =
          costOf(work, target.costs, rows, vectors, columnVectors, together);
      // A second shape of panel is more code.
      if (columnVectors % vectors)
        cost *= 1.02;
      if (cost < bestCost) {
        bestCost = cost;
        best = {rows, vectors * lanes, together};
      }
    }
  }
  return best;
}

} // namespace ingot::schedule
