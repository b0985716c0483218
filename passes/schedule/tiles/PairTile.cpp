#include "passes/schedule/tiles/PairTile.h"

#include "dialects/kernel/DotLane.h"
#include "dialects/kernel/ValueNames.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/schedule/tiles/HalfTile.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

/// Joins the elements [first, first + count) of x and of y.
static Value join(KernelBuilder &b, Value x, Value y, int64_t first,
                  int64_t count) {
  int64_t lanes = cast<VectorType>(x.getType()).getNumElements();
  SmallVector<int64_t> order;
  for (int64_t from : {first, lanes + first})
    llvm::append_range(order, llvm::seq<int64_t>(from, from + count));
  return vector::ShuffleOp::create(b.builder, b.loc, x, y, order);
}

/// Returns a name for a vector of sums of rows `row` and `row` + 1.
static std::string nameOfSums(const Tile &tile, int64_t row, size_t vector,
                              int64_t part) {
  return tile.nameAt("sums", row, 2 * vector + size_t(part));
}

Tile pairRows(KernelBuilder &b, const Tile &tile, const DotForm &form) {
  int64_t half = form.lanes.front() / 2;
  auto vectors = int64_t(tile.columns.lanes.size());
  Tile paired{tile.rows, tile.columns, {}};
  for (int64_t row = 0; row < tile.rows; row += 2)
    for (int64_t v = 0; v < vectors; ++v)
      for (int64_t part : {0, 1}) {
        int64_t second = std::min(row + 1, tile.rows - 1);
        Expr first = tile.sums[row * vectors + v];
        Value both = join(b, first.value, tile.sums[second * vectors + v].value,
                          part * half, half);
        paired.sums.push_back(
            named(b.wrap(both, first.type), nameOfSums(tile, row, v, part)));
      }
  return paired;
}

Tile unpairRows(KernelBuilder &b, const Tile &tile, const DotForm &form) {
  int64_t half = form.lanes.front() / 2;
  auto vectors = int64_t(tile.columns.lanes.size());
  Tile result{tile.rows, tile.columns, {}};
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t v = 0; v < vectors; ++v) {
      const Expr *both = &tile.sums[(row / 2 * vectors + v) * 2];
      Value sum = join(b, both[0].value, both[1].value, row % 2 * half, half);
      result.sums.push_back(
          named(b.wrap(sum, both[0].type), tile.nameAt("sum", row, v)));
    }
  return result;
}

namespace {

/// Adds products to the pairs of rows [firstRow, endRow) of a tile from
/// pairRows. `firstRow` is even, and `endRow` is even or the number of rows.
/// The rows [firstUsed, endUsed) are multiplied; others count as zeros.
class PairedProducts {
public:
  PairedProducts(KernelBuilder &b, Tile &tile, const DotForm &form,
                 const DotOperands &operands, int64_t firstUsed,
                 int64_t endUsed)
      : b(b), tile(tile), form(form), operands(operands), firstUsed(firstUsed),
        endUsed(endUsed), firstRow(firstUsed / 2 * 2),
        endRow(std::min<int64_t>(llvm::alignTo(endUsed, 2), tile.rows)) {}

  void accumulate(int64_t steps) {
    int64_t groups = steps / form.group, left = steps % form.group,
            several = form.rowGroups;
    if (groups >= several)
      tile.sums = b.loop(
          groups / several, tile.sums, [&](Expr trip, ArrayRef<Expr> in) {
            Exprs sums(in.begin(), in.end());
            SmallVector<Value> rows =
                loadRows(named(trip * double(several * form.group), "step"),
                         several * form.group);
            for (int64_t part = 0; part < several; ++part)
              addGroup(named(trip * double(several) + double(part), "group"),
                       pairsAt(rows, part), sums);
            return sums;
          });
    for (int64_t done = groups / several * several; done < groups; ++done)
      addOne(done, form.group);
    if (left)
      addOne(groups, left);
  }

private:
  /// Returns the elements of the groups of K steps from `step` on, row by row.
  /// `count` is the number of elements that exist.
  SmallVector<Value> loadRows(Expr step, int64_t count) {
    SmallVector<Value> rows;
    for (int64_t row = firstUsed; row < endUsed; ++row)
      rows.push_back(kernel::nameValue(
          count > form.group
              ? asStored(b, b.withLanes(count,
                                        [&] { return operands.a(row, step); }))
              : loadGroup(b, form, operands, row, step, count),
          "x_" + Twine(row)));
    auto type = cast<VectorType>(rows.front().getType());
    Value zeros = firstUsed == firstRow && endUsed == endRow
                      ? Value()
                      : arith::ConstantOp::create(
                            b.builder, b.loc,
                            cast<TypedAttr>(b.builder.getZeroAttr(type)))
                            .getResult();
    if (firstUsed > firstRow)
      rows.insert(rows.begin(), zeros);
    if (endUsed < endRow)
      rows.push_back(zeros);
    return rows;
  }

  /// Returns group number `part` of the groups in `rows`, by pairs of rows.
  SmallVector<Value> pairsAt(ArrayRef<Value> rows, int64_t part) {
    SmallVector<Value> pairs;
    for (size_t row = 0; row < rows.size(); row += 2)
      pairs.push_back(kernel::nameValue(
          join(b, rows[row], rows[std::min(row + 1, rows.size() - 1)],
               part * form.group, form.group),
          "pair_" + Twine(firstRow + int64_t(row))));
    return pairs;
  }

  void addOne(int64_t group, int64_t count) {
    Expr at = named(b.index(group), "group");
    addGroup(
        at, pairsAt(loadRows(named(at * double(form.group), "step"), count), 0),
        tile.sums);
  }

  void addGroup(Expr group, ArrayRef<Value> pairs, Exprs &sums) {
    bool aIsUnsigned = operands.aType.isUnsignedInteger(),
         bIsUnsigned = operands.bType.isUnsignedInteger();
    int64_t half = form.lanes.front() / 2, column = 0;
    size_t vectors = tile.columns.lanes.size();
    for (size_t v = 0; v < vectors; ++v) {
      // Adjacent weights are loaded one after the other, so that compilers load
      // both by one instruction.
      std::array<Value, 2> weights;
      for (int64_t part : {0, 1}) {
        weights[part] = kernel::nameValue(
            asStored(b, operands.b(group, form.group, column, half)),
            "w_" + Twine(2 * v + part));
        column += half;
      }
      for (int64_t part : {0, 1})
        for (auto [pair, x] : llvm::enumerate(pairs)) {
          int64_t row = firstRow + 2 * int64_t(pair);
          Expr &sum = sums[(size_t(row / 2) * vectors + v) * 2 + part];
          auto dot = kernel::DotOp::create(
              b.builder, b.loc, sum.value.getType(), x, weights[part],
              sum.value, aIsUnsigned, bIsUnsigned);
          dot->setAttr(kernel::kOfPairsAttr, b.builder.getUnitAttr());
          sum.value = kernel::nameValue(dot.getResult(),
                                        nameOfSums(tile, row, v, part));
        }
    }
  }

  KernelBuilder &b;
  Tile &tile;
  const DotForm &form;
  const DotOperands &operands;
  int64_t firstUsed, endUsed, firstRow, endRow;
};

} // namespace

void accumulatePaired(KernelBuilder &b, Tile &tile, const DotForm &form,
                      int64_t steps, const DotOperands &operands,
                      int64_t firstRow, int64_t endRow) {
  // Rows that are not multiplied count as zeros, which change no integer sum.
  // A product of zero and an infinite float is NaN.
  bool hasWholePairs =
      firstRow % 2 == 0 && (endRow % 2 == 0 || endRow == tile.rows);
  if (hasWholePairs || isa<IntegerType>(operands.bType)) {
    PairedProducts(b, tile, form, operands, firstRow, endRow).accumulate(steps);
    return;
  }
  Tile ofRows = unpairRows(b, tile, form);
  Tile part{endRow - firstRow, tile.columns, {}};
  auto vectors = int64_t(tile.columns.lanes.size());
  auto *first = ofRows.sums.begin() + firstRow * vectors;
  part.sums.assign(first, first + part.rows * vectors);
  accumulatePairs(
      b, part, form, steps,
      {[&](int64_t row, Expr step) { return operands.a(firstRow + row, step); },
       operands.b, operands.aType, operands.bType, operands.chunks},
      0, part.rows);
  llvm::copy(part.sums, first);
  tile = pairRows(b, ofRows, form);
}

void accumulatePairs(KernelBuilder &b, Tile &tile, const DotForm &form,
                     int64_t steps, const DotOperands &operands,
                     int64_t firstRow, int64_t endRow) {
  Tile paired = pairRows(b, tile, form);
  accumulatePaired(b, paired, form, steps, operands, firstRow, endRow);
  tile = unpairRows(b, paired, form);
}

} // namespace ingot::schedule
