// Matrix products in register tiles.
//
// [..., M, K] x [..., K, N]. The right operand is either packed into panels
// (weights) or read in place, row by row (activations); the left one is read in
// place and broadcast. A right operand without batches makes the rows of all
// batches one matrix. Batches and panels are parallel.

#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/CompactPanels.h"
#include "passes/schedule/tiles/PanelKernel.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class MatrixProductStrategy : public Strategy {
public:
  StringRef name() const override { return "matrix-product"; }

  bool matches(GroupView group, const TargetDescription &) const override {
    auto product = dyn_cast_or_null<MatMulOp>(group.anchor());
    return product && group.results().size() == 1 &&
           isa<Float32Type, Float64Type>(elementOf(product.getA())) &&
           (product.getB().getDefiningOp<UnpackPanelsOp>() ||
            isa<BlockArgument>(product.getB())) &&
           shapeOf(product.getResult()) == shapeOf(group.results()[0]);
  }

  void emit(KernelBuilder &b) const override {
    auto product = cast<MatMulOp>(b.group.anchor());
    Type type = elementOf(product.getA());
    ArrayRef<int64_t> shape = shapeOf(product.getResult());
    int64_t rows = shape[shape.size() - 2], columns = shape.back(),
            steps = shapeOf(product.getA()).back();
    ArrayRef<int64_t> batchShape = shape.drop_back(2);
    int64_t batches = std::accumulate(batchShape.begin(), batchShape.end(),
                                      int64_t(1), std::multiplies<>());
    bool oneMatrix = isOneMatrix(product);
    if (oneMatrix) {
      rows *= batches;
      batches = 1;
    }
    if (rows * columns * batches == 0)
      return;
    auto panels = PackedPanels::of(b, product.getB());
    if (Value a = b.bufferOf(product.getA()); a && panels && oneMatrix &&
                                              steps > 0 && b.target.smallCode &&
                                              hasFlatEpilogue(b, product)) {
      CompactPanels compact(b, *panels, /*bias=*/{});
      return emitCompactMatrix(b, product, b.view(a, {rows, steps}), compact);
    }
    TileChoice choice =
        chooseTile(rows, columns, std::max<int64_t>(steps, 1), b.target, type);
    int64_t panelWidth =
        panels ? panels->panelWidth : choice.vectors * b.target.maxLanes(type);
    int64_t fullPanels = columns / panelWidth, rest = columns % panelWidth;

    auto operandIndex = [&](Value operand, ArrayRef<Expr> outer, Expr row,
                            Expr column) {
      ArrayRef<int64_t> s = shapeOf(operand);
      Exprs batch(outer.begin(), outer.end());
      if (oneMatrix && operand == product.getA()) {
        batch = rowsOf(b, row, shape);
        row = batch.pop_back_val();
      }
      Exprs at;
      for (size_t axis = 0; axis + 2 < s.size(); ++axis)
        at.push_back(s[axis] == 1
                         ? b.index(0)
                         : batch[batch.size() - (s.size() - 2) + axis]);
      at.push_back(row);
      at.push_back(column);
      return at;
    };
    auto tileAt = [&](ArrayRef<Expr> batch, Expr firstRow, int64_t count,
                      std::optional<Expr> panel) {
      ColumnVectors vectors = ColumnVectors::cover(
          panel ? panelWidth : rest, b.target, type, panels.has_value());
      Expr firstColumn =
          panel ? named(named(*panel, "panel") * double(panelWidth), "column")
                : b.index(fullPanels * panelWidth);
      named(firstRow, "row");
      auto rowAt = [&](int64_t row) {
        return named(firstRow + double(row), "row_" + Twine(row));
      };
      SmallVector<int64_t> offsets{0};
      for (int64_t lanes : vectors.lanes)
        offsets.push_back(offsets.back() + lanes);
      Tile tile = zeroTile(b, count, vectors, type);
      accumulate(
          b, tile, 0, count, steps, steps >= choice.splits ? choice.splits : 1,
          [&](int64_t row, Expr k) {
            return b.load(product.getA(),
                          operandIndex(product.getA(), batch, rowAt(row), k));
          },
          [&](Expr k, size_t v) {
            if (panels)
              return panels->load(b, panel, k, offsets[v], vectors.lanes[v]);
            return b.withLanes(vectors.lanes[v], [&] {
              return b.load(product.getB(),
                            operandIndex(product.getB(), batch, k,
                                         named(firstColumn + double(offsets[v]),
                                               "column_" + Twine(offsets[v]))));
            });
          });
      storeTile(
          b, tile, product.getResult(),
          [&](int64_t row, Expr column) {
            Exprs at = oneMatrix ? rowsOf(b, rowAt(row), shape)
                                 : Exprs(batch.begin(), batch.end());
            if (!oneMatrix)
              at.push_back(rowAt(row));
            at.push_back(column);
            return at;
          },
          firstColumn);
    };
    auto overRows = [&](ArrayRef<Expr> batch, std::optional<Expr> panel) {
      int64_t tiles = rows / choice.rows, left = rows % choice.rows;
      if (tiles == 1)
        tileAt(batch, b.index(0), choice.rows, panel);
      else if (tiles > 1)
        b.loop(b.index(0), b.index(tiles * choice.rows), choice.rows, {},
               [&](Expr first, ArrayRef<Expr>) -> Exprs {
                 tileAt(batch, first, choice.rows, panel);
                 return {};
               });
      if (left)
        tileAt(batch, b.index(tiles * choice.rows), left, panel);
    };
    // Panel by panel: the right operand is read once, the left one is smaller
    // or comes from the cache.
    auto overPanels = [&](ArrayRef<Expr> batch, std::optional<Expr> panel) {
      if (panel) {
        overRows(batch, panel);
        if (rest)
          b.when(named(equal(*panel, double(fullPanels - 1)), "is_last"),
                 [&] { overRows(batch, std::nullopt); });
      } else {
        overRows(batch, std::nullopt);
      }
    };
    auto batchIndex = [&](Expr batch) {
      return b.delinearize(named(batch, "batch"), batchShape);
    };
    if (batches > 1) {
      b.parallelFor(batches, [&](Expr batch) {
        Exprs at = batchIndex(batch);
        if (fullPanels == 0)
          return overPanels(at, std::nullopt);
        b.forRange(b.index(0), b.index(fullPanels),
                   [&](Expr panel) { overPanels(at, panel); });
      });
      return;
    }
    Exprs at(batchShape.size(),
             b.index(0)); // not read where the rows are one matrix
    if (fullPanels == 0)
      return overPanels(at, std::nullopt);
    b.parallelFor(fullPanels, [&](Expr panel) { overPanels(at, panel); });
  }

private:
  /// Takes the number of a row apart, into the axes of `shape` but the last.
  static Exprs rowsOf(KernelBuilder &b, Expr row, ArrayRef<int64_t> shape) {
    Exprs at = b.delinearize(row, shape.drop_back());
    for (auto [axis, i] : llvm::enumerate(at))
      named(i, axisName(axis, shape.size()));
    return at;
  }
};

} // namespace

bool isOneMatrix(MatMulOp product) {
  ArrayRef<int64_t> a = shapeOf(product.getA()),
                    y = shapeOf(product.getResult());
  return a.drop_back() == y.drop_back() &&
         llvm::all_of(shapeOf(product.getB()).drop_back(2),
                      [](int64_t size) { return size == 1; });
}

std::unique_ptr<Strategy> createMatrixProductStrategy() {
  return std::make_unique<MatrixProductStrategy>();
}

} // namespace ingot::schedule
