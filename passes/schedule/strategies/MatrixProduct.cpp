// Matrix products in register tiles.
//
// [..., M, K] x [..., K, N]. The right operand is either packed into panels
// (weights) or read in place, row by row (activations); the left one is read in
// place and broadcast.

#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/CompactPanels.h"
#include "passes/schedule/tiles/PanelKernel.h"
#include "passes/schedule/tiles/ProductLoops.h"

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
    ProductLoops loops(b, product);
    int64_t rows = loops.rows, columns = loops.columns, steps = loops.steps;
    if (rows * columns * loops.batches == 0)
      return;
    auto panels = PackedPanels::of(b, product.getB());
    if (Value a = b.bufferOf(product.getA()); a && panels && loops.oneMatrix &&
                                              steps > 0 && b.target.smallCode &&
                                              hasFlatEpilogue(b, product)) {
      CompactPanels compact(b, *panels, /*bias=*/{});
      return emitCompactMatrix(b, product, b.view(a, {rows, steps}), compact);
    }
    TileChoice choice =
        chooseTile(rows, columns, std::max<int64_t>(steps, 1), b.target, type);
    int64_t panelWidth =
        panels ? panels->panelWidth : choice.vectors * b.target.maxLanes(type);
    loops.overTiles(
        choice.rows, panelWidth, [&](const ProductLoops::Place &place) {
          ColumnVectors vectors = ColumnVectors::cover(
              place.panel ? panelWidth : columns % panelWidth, b.target, type,
              panels.has_value());
          Expr firstColumn = loops.firstColumn(place, panelWidth);
          SmallVector<int64_t> offsets{0};
          for (int64_t lanes : vectors.lanes)
            offsets.push_back(offsets.back() + lanes);
          Tile tile = zeroTile(b, place.count, vectors, type);
          accumulate(
              b, tile, 0, place.count, steps,
              steps >= choice.splits ? choice.splits : 1,
              [&](int64_t row, Expr k) {
                return b.load(product.getA(),
                              loops.operandIndex(product.getA(), place,
                                                 loops.rowAt(place, row), k));
              },
              [&](Expr k, size_t v) {
                if (panels)
                  return panels->load(b, place.panel, k, offsets[v],
                                      vectors.lanes[v]);
                return b.withLanes(vectors.lanes[v], [&] {
                  return b.load(
                      product.getB(),
                      loops.operandIndex(product.getB(), place, k,
                                         named(firstColumn + double(offsets[v]),
                                               "column_" + Twine(offsets[v]))));
                });
              });
          storeTile(
              b, tile, product.getResult(),
              [&](int64_t row, Expr column) {
                return loops.resultIndex(place, row, column);
              },
              firstColumn);
        });
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
