// Ranks tiles of dot products by their estimated time.

#include "passes/schedule/tiles/DotTile.h"
#include "passes/schedule/tiles/HalfTile.h"
#include "passes/schedule/tiles/PairTile.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

DotModel::DotModel(int64_t rows, int64_t columns, int64_t steps,
                   const DotForm &form, const TargetDescription &target,
                   int64_t runs)
    : rows(rows), vectorsNeeded(llvm::divideCeil(columns, form.lanes.front())),
      groups(llvm::divideCeil(steps, form.group)),
      stages(form.stage ? runs * llvm::divideCeil(steps, runs * form.stage)
                        : 0),
      form(form), target(target) {}

/// Returns the number of loops over K steps of a convolution, each with f16
/// stages of its own; one if all K steps fit into a stage
/// (ConvolutionLoops.cpp).
static int64_t runsOf(ConvOp conv, const DotForm &form) {
  ArrayRef<int64_t> w = shapeOf(conv.getW());
  if (form.stage && form.group == 1 &&
      ShapedType::getNumElements(w.drop_back()) <= form.stage)
    return 1;
  return ShapedType::getNumElements(
      w.drop_back(groupsKernelRows(conv, form) ? 3 : 2));
}

DotModel::DotModel(ConvOp conv, int64_t positions, const DotForm &form,
                   const TargetDescription &target)
    : DotModel(positions, shapeOf(conv.getResult()).back(),
               ShapedType::getNumElements(shapeOf(conv.getW()).drop_back()),
               form, target, runsOf(conv, form)) {
  addsHalves = addsStagesInHalves(conv, form);
}

double DotModel::cycles(const TileChoice &tile) const {
  const IssueRates &rates = target.rates;
  double product = double(form.lanes.front() * form.group) / form.perCycle;
  // Besides its dot products, each group of K steps takes a broadcast for each
  // row and a load for each vector of weights. Widening takes two more
  // instructions for a row and three more for a vector.
  double widened = !form.widened ? 0 : form.isMixed() ? 1 - form.shortShare : 1;
  double perRow =
             (2 * widened + 1 / double(form.rowGroups)) / rates.instructions,
         perVector = (3 * widened + 1) / rates.instructions;
  // If the lanes of a vector of sums take different K steps, each column has
  // its own register of weights to load.
  if (form.acrossLanes)
    perVector *= double(form.lanes.front());
  // Two vectors of weights are loaded for a vector of sums of two rows, and two
  // rows are interleaved for two groups of K steps.
  if (form.ofPairs) {
    perVector *= 2;
    perRow += 0.5 / rates.multiplyAdds;
  }
  auto perStep = [&](int64_t r, int64_t v) {
    double products =
        double(form.ofPairs ? llvm::alignTo(r, 2) * v : r * v) * product;
    // With f16, loads overlap with multiply-adds. Broadcasts of a word do so as
    // well (Emerald Rapids), except on cores whose multiply-adds take a lane of
    // a vector as factor, where a broadcast is a vector operation (LD1R, by
    // Arm's software optimization guides). A vector of f16 has the columns of
    // two vectors of f32. If two tiles multiply equally fast, the one with
    // fewer instructions is better; a tenth of the issue time accounts for
    // that.
    if (form.stage && form.group == 1) {
      auto halves = double(llvm::divideCeil(v, 2));
      double issue =
          (double(r + 1) * halves + double(r) / double(form.rowGroups)) /
          rates.instructions;
      return std::max({rates.multiplyAddLatency,
                       double(r) * halves * 2 * product, issue}) +
             issue / 10;
    }
    if (form.stage)
      return std::max({rates.multiplyAddLatency,
                       products + (target.multiplyByLane ? double(r) : 0) /
                                      rates.multiplyAdds,
                       double(r * v + r + v) / rates.instructions});
    return std::max(rates.dotLatency,
                    products + double(r) * perRow + double(v) * perVector);
  };
  int64_t rest = vectorsNeeded % tile.vectors;
  auto overColumns = [&](int64_t r) {
    return double(vectorsNeeded / tile.vectors) * perStep(r, tile.vectors) +
           (rest ? perStep(r, rest) : 0);
  };
  double total = double(rows / tile.rows) * overColumns(tile.rows);
  if (rows % tile.rows)
    total += overColumns(rows % tile.rows);
  // At the end of an f16 stage (DotForm::stage), each lane of the partial sums
  // is extracted, widened by two instructions and added. If a dot product takes
  // a single K step, half registers are widened by one instruction instead;
  // with several stages, the f32 totals are also loaded and stored, since they
  // are in memory. So are f16 totals, to which f16 sums are added.
  double widening = double(stages * rows * vectorsNeeded * form.group) *
                    (form.group == 1 ? 2 : 4) / rates.multiplyAdds;
  if (addsHalves && stages > 1)
    widening = double(stages * rows * vectorsNeeded) *
               (2 / rates.loads + 1 / rates.multiplyAdds) / 2;
  else if (form.group == 1 && stages > 1)
    widening += double(stages * rows * vectorsNeeded) *
                (1 / rates.loads + 1 / rates.multiplyAdds) / 2;
  // If the lanes of a vector of sums take different K steps, the sums of
  // several columns are reduced to one vector at the end, pair by pair.
  double adding =
      form.acrossLanes
          ? double(rows * vectorsNeeded * (form.lanes.front() - 1)) /
                rates.multiplyAdds
          : 0;
  // Sums of pairs of rows are reordered at the end.
  if (form.ofPairs)
    adding = double(rows * vectorsNeeded) / rates.multiplyAdds;
  return total * double(groups) + widening + adding;
}

std::vector<TileChoice> DotModel::ranked() const {
  constexpr int64_t mostVectors = 12;
  // A widened operand takes two registers, for its even and its odd K steps.
  // The mask for widening and a product take one more register each. If the
  // elements of a row are passed as a word (byWord), they are in a scalar
  // register, and their address is in another one.
  // If products are summed in 16 bits (shortGroups), each operand takes a
  // register for each of these groups, and the ones and a 16-bit sum take two.
  int64_t registersOfEach =
      form.widened ? 2 : std::max<int64_t>(form.shortGroups, 1);
  int64_t registers =
      target.vectorRegisters - (form.widened || form.shortGroups ? 2 : 0);
  // If instructions select a lane of a row's operand, the operand of each row
  // stays in a register for several groups of K steps.
  int64_t ofRow = form.rowGroups > 1;
  int64_t mostRows = form.byWord ? target.scalarRegisters / 2 : rows;
  // With f16 stages (DotForm::stage), each sum needs two registers, for the
  // partial sum of the stage and for the total, unless the totals are in memory
  // during a stage.
  int64_t sumsOfEach = form.stage ? 2 : 1;
  // If the lanes of a vector of sums take different K steps, each column (not
  // each vector of columns) has a register of weights, and a register of sums
  // for each row. Two more registers are reserved, one of them for the row's
  // operand.
  if (form.acrossLanes) {
    sumsOfEach = registersOfEach = form.lanes.front();
    registers -= 2 - registersOfEach;
  }
  auto mostRowsBeside = [&](int64_t v) {
    // Besides the sums and an operand of two groups for each pair of rows, six
    // registers are for weights and for rows that are being interleaved: with
    // four, g++ 12 spills sums.
    if (form.ofPairs) {
      int64_t most = (registers - 6) / (v + 1) / 2 * 2;
      return std::max<int64_t>(most, 1);
    }
    // Two vectors of f32 sums share one vector of f16 partial sums and one of
    // weights. Instructions take a lane of the lower 16 registers only: with 14
    // rows, clang 22 adds a move or a spill to every second multiply-add, with 9
    // rows none.
    if (form.stage && form.group == 1) {
      constexpr int64_t mostRowsByLane = 10;
      int64_t halves = (v + 1) / 2,
              most = (registers - halves - 1) / (halves + ofRow);
      return ofRow ? std::min(most, mostRowsByLane) : most;
    }
    int64_t most = (registers - registersOfEach * (v + 1) - ofRow) /
                   (sumsOfEach * v + ofRow);
    // In loops with more than 16 such vectors of sums, clang 22 moves most of
    // them to another register in each iteration (30 moves for 72 instructions
    // that multiply or add).
    if (form.acrossLanes)
      most = std::min(most,
                      int64_t(target.vectorRegisters) / 2 / (sumsOfEach * v));
    return most;
  };
  Ranking<TileChoice> ranking(/*tolerance=*/0.001);
  for (int64_t v = 1; v <= std::min(vectorsNeeded, mostVectors); ++v)
    for (int64_t r = 1; r <= std::min({rows, mostRows, mostRowsBeside(v)}); ++r)
      ranking.add({r, v, 1}, cycles({r, v, 1}));
  return std::move(ranking).ranked({1, 1, 1});
}

} // namespace ingot::schedule
