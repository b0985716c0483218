// The strategy for matrix products of f32 or f64 in register tiles:
//
//   [..., M, K] x [..., K, N]
//
// The right operand is packed into panels if it is a constant (weights); if it
// is computed (activations), it is read in place row by row. Elements of the
// left operand are read in place and broadcast.

#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/PanelKernel.h"
#include "passes/schedule/tiles/ProductLoops.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class MatrixProductStrategy : public ModelledProduct<MatrixProductStrategy> {
public:
  void emit(KernelBuilder &b) const override {
    auto product = cast<MatMulOp>(b.group.anchor());
    Type type = elementOf(product.getA());
    ProductLoops loops(b, product, RowsLeft::SharedWithLast);
    int64_t columns = loops.columns;
    if (loops.columns == 0 || loops.rows == 0 || loops.batches == 0)
      return;
    auto panels = PackedPanels::of(b, product.getB());
    int64_t panelWidth = b.plan.number("columns");
    loops.overTiles(
        b.plan.number("rows"), panelWidth,
        [&](const ProductLoops::Place &place) {
          ColumnVectors vectors = ColumnVectors::cover(
              place.panel ? panelWidth : columns % panelWidth, b.target, type,
              panels.has_value());
          Expr firstColumn = loops.firstColumn(place, panelWidth);
          SmallVector<int64_t> offsets{0};
          for (int64_t lanes : vectors.lanes)
            offsets.push_back(offsets.back() + lanes);
          StepChunks chunks;
          if (panels)
            chunks = loops.fetchAhead(*panels, place, b.plan.number("rows"));
          Tile tile = zeroTile(b, place.count, vectors, type);
          loops.fetchForEpilogue(tile, product.getResult(), place, firstColumn);
          accumulate(
              b, tile, 0, place.count, loops.steps, b.plan.number("splits"),
              [&](int64_t row, Expr k) {
                return loops.loadLeft(place, loops.rowAt(place, row), k);
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
              },
              "step", chunks);
          loops.store(tile, product.getResult(), place, firstColumn);
        });
  }

  static TileModel model(MatMulOp product, const TargetDescription &target) {
    ProductSizes sizes(product);
    Type type = elementOf(product.getA());
    return TileModel(sizes.rows.most(), sizes.columns, sizes.steps.most(),
                     target, type,
                     sizes.steps.most() * type.getIntOrFloatBitWidth() / 8);
  }

protected:
  bool fits(MatMulOp product, const TargetDescription &) const override {
    return isa<Float32Type, Float64Type>(elementOf(product.getA())) &&
           (product.getB().getDefiningOp<UnpackPanelsOp>() ||
            isa<BlockArgument>(product.getB()));
  }
  ColumnVectors panelVectors(MatMulOp product, int64_t columns,
                             const TargetDescription &target) const override {
    return ColumnVectors::cover(columns, target, elementOf(product.getA()),
                                /*padded=*/true);
  }
  int64_t lanes(MatMulOp product,
                const TargetDescription &target) const override {
    return target.maxLanes(elementOf(product.getA()));
  }
  int64_t mostSplits(MatMulOp product) const override {
    return ProductSizes(product).steps.most();
  }
};

} // namespace

std::unique_ptr<Strategy> createMatrixProductStrategy() {
  return std::make_unique<MatrixProductStrategy>();
}

} // namespace ingot::schedule
