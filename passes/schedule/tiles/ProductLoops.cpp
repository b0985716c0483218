#include "passes/schedule/tiles/ProductLoops.h"

#include "dialects/graph/ExprNames.h"
#include "passes/schedule/tiles/PanelKernel.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

ProductLoops::ProductLoops(KernelBuilder &b, MatMulOp product)
    : oneMatrix(isOneMatrix(product)), b(b), product(product),
      shape(shapeOf(product.getResult())) {
  rows = shape[shape.size() - 2];
  columns = shape.back();
  steps = shapeOf(product.getA()).back();
  batches = ShapedType::getNumElements(shape.drop_back(2));
  if (oneMatrix) {
    rows *= batches;
    batches = 1;
  }
}

Exprs ProductLoops::operandIndex(Value operand, const Place &place, Expr row,
                                 Expr column) {
  ArrayRef<int64_t> own = shapeOf(operand);
  Exprs batch(place.batch.begin(), place.batch.end());
  if (oneMatrix && operand == product.getA()) {
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
  Exprs at = b.delinearize(row, shape.drop_back());
  for (auto [axis, i] : llvm::enumerate(at))
    named(i, axisName(axis, shape.size()));
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

Expr ProductLoops::firstColumn(const Place &place, int64_t panelWidth) {
  return place.panel ? named(*place.panel * double(panelWidth), "column")
                     : b.index(columns / panelWidth * panelWidth);
}

void ProductLoops::overTiles(int64_t tileRows, int64_t panelWidth,
                             llvm::function_ref<void(const Place &)> tile) {
  int64_t fullPanels = columns / panelWidth, rest = columns % panelWidth;
  auto overRows = [&](ArrayRef<Expr> batch, std::optional<Expr> panel) {
    if (panel)
      named(*panel, "panel");
    int64_t tiles = rows / tileRows, left = rows % tileRows;
    if (tiles == 1)
      tile({batch, b.index(0), tileRows, panel});
    else if (tiles > 1)
      b.loop(b.index(0), b.index(tiles * tileRows), tileRows, {},
             [&](Expr first, ArrayRef<Expr>) -> Exprs {
               named(first, "row");
               tile({batch, first, tileRows, panel});
               return {};
             });
    if (left)
      tile({batch, b.index(tiles * tileRows), left, panel});
  };
  auto overPanels = [&](ArrayRef<Expr> batch, std::optional<Expr> panel) {
    overRows(batch, panel);
    if (panel && rest)
      b.when(named(equal(*panel, double(fullPanels - 1)), "is_last"),
             [&] { overRows(batch, std::nullopt); });
  };
  ArrayRef<int64_t> batchShape = shape.drop_back(2);
  if (batches > 1) {
    b.parallelFor(batches, [&](Expr batch) {
      Exprs at = b.delinearize(named(batch, "batch"), batchShape);
      if (fullPanels == 0)
        return overPanels(at, std::nullopt);
      b.forRange(b.index(0), b.index(fullPanels),
                 [&](Expr panel) { overPanels(at, panel); });
    });
    return;
  }
  // Not read where the rows are one matrix.
  Exprs at(batchShape.size(), b.index(0));
  if (fullPanels == 0)
    return overPanels(at, std::nullopt);
  b.parallelFor(fullPanels, [&](Expr panel) { overPanels(at, panel); });
}

} // namespace ingot::schedule
