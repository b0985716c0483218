#include "passes/schedule/tiles/PairTile.h"

#include "dialects/kernel/DotLane.h"
#include "dialects/kernel/ValueNames.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/schedule/tiles/HalfTile.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

void accumulatePairs(KernelBuilder &b, Tile &tile, const DotForm &form,
                     int64_t steps, const DotOperands &operands,
                     int64_t firstRow, int64_t endRow) {
  bool aIsUnsigned = operands.aType.isUnsignedInteger(),
       bIsUnsigned = operands.bType.isUnsignedInteger();
  size_t vectors = tile.columns.lanes.size();
  auto pairs = size_t(llvm::divideCeil(endRow - firstRow, 2));
  auto secondOf = [&](size_t pair) {
    return std::min(firstRow + 2 * int64_t(pair) + 1, endRow - 1);
  };
  // Joins the elements [first, first + count) of x and of y.
  auto join = [&](Value x, Value y, int64_t first, int64_t count) -> Value {
    int64_t lanes = cast<VectorType>(x.getType()).getNumElements();
    SmallVector<int64_t> order;
    for (int64_t from : {first, lanes + first})
      llvm::append_range(order, llvm::seq<int64_t>(from, from + count));
    return vector::ShuffleOp::create(b.builder, b.loc, x, y, order);
  };
  Type sumType = tile.sums.front().type;
  int64_t half = form.lanes.front() / 2;
  auto nameOfSum = [&](size_t pair, size_t v, int64_t part) {
    return tile.nameAt("sums", firstRow + 2 * int64_t(pair),
                       2 * int64_t(v) + part);
  };
  Exprs sums;
  for (size_t pair = 0; pair < pairs; ++pair)
    for (size_t v = 0; v < vectors; ++v)
      for (int64_t part : {0, 1}) {
        Value first = tile.sums[(firstRow + 2 * pair) * vectors + v].value,
              second = tile.sums[secondOf(pair) * vectors + v].value;
        sums.push_back(
            named(b.wrap(join(first, second, part * half, half), sumType),
                  nameOfSum(pair, v, part)));
      }
  auto addGroup = [&](Expr group, ArrayRef<Value> rows, Exprs &sums) {
    int64_t column = 0;
    for (size_t v = 0; v < vectors; ++v)
      for (int64_t part : {0, 1}) {
        Value weights = kernel::nameValue(
            asStored(b, operands.b(group, form.group, column, half)),
            "w_" + Twine(2 * v + part));
        column += half;
        for (auto [pair, x] : llvm::enumerate(rows)) {
          Expr &sum = sums[(pair * vectors + v) * 2 + part];
          auto dot = kernel::DotOp::create(b.builder, b.loc,
                                           sum.value.getType(), x, weights,
                                           sum.value, aIsUnsigned, bIsUnsigned);
          dot->setAttr(kernel::kOfPairsAttr, b.builder.getUnitAttr());
          sum.value =
              kernel::nameValue(dot.getResult(), nameOfSum(pair, v, part));
        }
      }
  };
  // Returns the elements of the groups of K steps from `step` on, by pairs of
  // rows. `count` is the number of elements that exist.
  auto loadRows = [&](Expr step, int64_t count) {
    SmallVector<Value> rows;
    for (int64_t row = firstRow; row < endRow; ++row)
      rows.push_back(kernel::nameValue(
          count > form.group
              ? asStored(b, b.withLanes(count,
                                        [&] { return operands.a(row, step); }))
              : loadGroup(b, form, operands, row, step, count),
          "x_" + Twine(row)));
    return rows;
  };
  auto pairsAt = [&](ArrayRef<Value> rows, int64_t part) {
    SmallVector<Value> result;
    for (size_t pair = 0; pair < pairs; ++pair)
      result.push_back(kernel::nameValue(
          join(rows[2 * pair], rows[secondOf(pair) - firstRow],
               part * form.group, form.group),
          "pair_" + Twine(firstRow + 2 * int64_t(pair))));
    return result;
  };
  auto addOne = [&](int64_t group, int64_t count) {
    Expr at = named(b.index(group), "group");
    addGroup(
        at, pairsAt(loadRows(named(at * double(form.group), "step"), count), 0),
        sums);
  };
  int64_t groups = steps / form.group, left = steps % form.group,
          several = form.rowGroups;
  if (groups >= several)
    sums = b.loop(groups / several, sums, [&](Expr trip, ArrayRef<Expr> given) {
      Exprs next(given.begin(), given.end());
      SmallVector<Value> rows =
          loadRows(named(trip * double(several * form.group), "step"),
                   several * form.group);
      for (int64_t part = 0; part < several; ++part)
        addGroup(named(trip * double(several) + double(part), "group"),
                 pairsAt(rows, part), next);
      return next;
    });
  for (int64_t done = groups / several * several; done < groups; ++done)
    addOne(done, form.group);
  if (left)
    addOne(groups, left);
  for (size_t pair = 0; pair < pairs; ++pair)
    for (size_t v = 0; v < vectors; ++v)
      for (int64_t row = firstRow + 2 * pair; row <= secondOf(pair); ++row) {
        const Expr *both = &sums[(pair * vectors + v) * 2];
        tile.sums[row * vectors + v] =
            named(b.wrap(join(both[0].value, both[1].value,
                              (row - firstRow) % 2 * half, half),
                         sumType),
                  tile.nameAt("sum", row, v));
      }
}

} // namespace ingot::schedule
