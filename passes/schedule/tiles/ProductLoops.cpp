#include "passes/schedule/tiles/ProductLoops.h"

#include "dialects/graph/ExprNames.h"
#include "passes/schedule/tiles/RowTiles.h"
#include "passes/schedule/tiles/TileStore.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

bool ProductStrategy::matches(GroupView group,
                              const TargetDescription &target) const {
  auto product = dyn_cast_or_null<MatMulOp>(group.anchor());
  return product && group.results().size() == 1 &&
         ProductSizes::fitTiles(product) && fits(product, target) &&
         dimsOf(product.getResult()) == dimsOf(group.results()[0]);
}

ArrayRef<PlanKey> ProductStrategy::planKeys() const {
  static const PlanKey keys[] = {
      {"columns", 1, 1 << 16}, {"rows", 1, 1 << 16}, {"splits", 1, 4}};
  return keys;
}

SmallVector<Plan>
ProductStrategy::plans(GroupView group, const TargetDescription &target) const {
  auto product = cast<MatMulOp>(group.anchor());
  auto packed = product.getB().getDefiningOp<UnpackPanelsOp>();
  int64_t lanes = this->lanes(product, target);
  std::vector<TileChoice> tiles = fittingPanels(
      this->tiles(product, target), packed, shapeOf(product).back(), lanes);
  return plansOf(tiles, [&](const TileChoice &tile) {
    return Plan(product.getContext(),
                {{"columns", panelOf(packed, tile, lanes)},
                 {"rows", tile.rows},
                 {"splits", group.isStrict() ? 1 : tile.splits}});
  });
}

double ProductStrategy::cost(GroupView group, const Plan &plan,
                             const TargetDescription &target) const {
  auto product = cast<MatMulOp>(group.anchor());
  return cycles(product, tileOf(plan, lanes(product, target)), target) *
         double(ProductSizes(product).batches.most());
}

std::string ProductStrategy::refuse(GroupView group, const Plan &plan,
                                    const TargetDescription &target) const {
  auto product = cast<MatMulOp>(group.anchor());
  int64_t columns = plan.number("columns");
  // What is read in place is read in vectors that fit exactly.
  bool inPanels = mayBeInPanels(product.getB(), group.packs) &&
                  shapeOf(product.getB()).size() == 2;
  std::string why =
      inPanels ? refusePanels(columns,
                              panelVectors(product, columns, target).width(),
                              product.getB().getDefiningOp<UnpackPanelsOp>())
               : "";
  return why.empty() ? refuseTile(tileOf(plan, lanes(product, target)),
                                  mostSplits(product), group.isStrict())
                     : why;
}

void ProductStrategy::pack(GroupOp group, const Plan &plan,
                           const TargetDescription &target) const {
  auto product = cast<MatMulOp>(GroupView{&group.getBody().front()}.anchor());
  if (shapeOf(product.getB()).size() != 2)
    return;
  int64_t panel = plan.number("columns"),
          left = shapeOf(product).back() % panel;
  packPanels(group, product->getOpOperand(1), panel,
             left ? panelVectors(product, left, target).width() : 0,
             steps(product, target));
}

StepStrips ProductLoops::fetchAhead(const PackedPanels &panels,
                                    const Place &place, int64_t tileRows) {
  if (place.count < tileRows || steps.known() != panels.steps * panels.group)
    return {};
  return panels.fetchAhead(b, place.panel, b.index(panels.steps), panels.steps,
                           place.firstRow / double(tileRows),
                           rows.most() / tileRows);
}

Exprs ProductLoops::operandIndex(Value operand, const Place &place, Expr row,
                                 Expr column) {
  ArrayRef<int64_t> own = shapeOf(operand);
  Exprs batch(place.batch.begin(), place.batch.end());
  if (oneMatrix && operand == left) {
    batch = rowsOf(row);
    row = batch.pop_back_val();
  }
  Exprs at;
  for (size_t axis = 0; axis + 2 < own.size(); ++axis)
    at.push_back(own[axis] == 1
                     ? b.index(0)
                     : batch[batch.size() - (own.size() - 2) + axis]);
  at.push_back(row);
  at.push_back(column);
  return at;
}

Exprs ProductLoops::rowsOf(Expr row) {
  Exprs at = b.delinearize(row, ArrayRef(sizes).drop_back());
  for (auto [axis, i] : llvm::enumerate(at))
    named(i, axisName(axis, sizes.size()));
  return at;
}

Expr ProductLoops::rowAt(const Place &place, int64_t row) {
  return named(place.firstRow + double(row), "row_" + Twine(row));
}

Exprs ProductLoops::resultIndex(const Place &place, int64_t row, Expr column) {
  Exprs at = oneMatrix ? rowsOf(rowAt(place, row))
                       : Exprs(place.batch.begin(), place.batch.end());
  if (!oneMatrix)
    at.push_back(rowAt(place, row));
  at.push_back(column);
  return at;
}

void ProductLoops::store(Tile &tile, Value result, const Place &place,
                         Expr firstColumn) {
  storeTile(
      b, tile, result,
      [&](int64_t row, Expr column) { return resultIndex(place, row, column); },
      firstColumn);
}

Expr ProductLoops::firstColumn(const Place &place, int64_t panelWidth) {
  return place.panel ? named(*place.panel * double(panelWidth), "column")
                     : b.index(columns / panelWidth * panelWidth);
}

void ProductLoops::overTiles(
    int64_t tileRows, int64_t panelWidth,
    llvm::function_ref<void(const Place &)> tile,
    llvm::function_ref<void(bool, llvm::function_ref<void()>)> around) {
  int64_t fullPanels = columns / panelWidth, rest = columns % panelWidth;
  auto overRows = [&](ArrayRef<Expr> batch, std::optional<Expr> panel) {
    if (panel)
      named(*panel, "panel");
    auto ofRows = [&] {
      forRowTiles(b, rows, tileRows, [&](Expr first, int64_t count) {
        tile({batch, named(first, "row"), count, panel});
      });
    };
    around ? around(panel.has_value(), ofRows) : ofRows();
  };
  auto overPanels = [&](ArrayRef<Expr> batch, std::optional<Expr> panel) {
    overRows(batch, panel);
    if (panel && rest)
      b.when(isLast(*panel, fullPanels),
             [&] { overRows(batch, std::nullopt); });
  };
  ArrayRef<Dim> batchSizes = ArrayRef(sizes).drop_back(2);
  if (batches != 1) {
    b.parallelFor(batches, [&](Expr batch) {
      Exprs at = b.delinearize(named(batch, "batch"), batchSizes);
      if (fullPanels == 0)
        return overPanels(at, std::nullopt);
      b.forRange(b.index(0), b.index(fullPanels),
                 [&](Expr panel) { overPanels(at, panel); });
    });
    return;
  }
  // Not read where the rows are one matrix.
  Exprs at(batchSizes.size(), b.index(0));
  if (fullPanels == 0)
    return overPanels(at, std::nullopt);
  b.parallelFor(fullPanels, [&](Expr panel) { overPanels(at, panel); });
}

} // namespace ingot::schedule
