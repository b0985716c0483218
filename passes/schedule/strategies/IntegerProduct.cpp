// The strategy for matrix products of narrow types (integers, bf16 or f16) in
// register tiles:
//
//   [..., M, K] x [..., K, N] -> si32 or f32
//
// The target must have an instruction that sums groups of adjacent products
// along K (kernel.dot). Constant weights are packed such that the elements of a
// group are adjacent. A computed right operand is read in place, one matrix row
// for each K index of a group, and interleaved in registers. FormIntegerDots
// has already removed zero points.

#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/DotTile.h"
#include "passes/schedule/tiles/ProductLoops.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

void emitDotProduct(KernelBuilder &b, int64_t rows) {
  auto product = cast<MatMulOp>(b.group.anchor());
  DotForm form = *dotForm(product, b.target);
  Value left = product.getA(), right = product.getB();
  ProductLoops loops(b, product);
  if (loops.columns == 0 || loops.rows == 0 || loops.batches == 0)
    return;
  auto panels = PackedPanels::of(b, right, form.isMixed());
  int64_t panelWidth = b.plan.number("columns");
  loops.overTiles(rows, panelWidth, [&](const ProductLoops::Place &place) {
    ColumnVectors vectors =
        coverWithDots(place.panel ? panelWidth : loops.columns % panelWidth,
                      form, b.target, panels.has_value());
    Expr firstColumn = loops.firstColumn(place, panelWidth);
    Tile tile =
        zeroTile(b, place.count, vectors, elementOf(product.getResult()));
    auto elementOfRow = [&](int64_t row, Expr step) {
      return loops.loadLeft(place, place.firstRow + double(row), step);
    };
    auto groupsOfColumns = [&](Expr group, int64_t count, int64_t column,
                               int64_t lanes) {
      if (panels)
        return panels->load(b, place.panel, group, column, lanes);
      Exprs rows;
      for (int64_t i = 0; i < count; ++i)
        rows.push_back(b.withLanes(lanes, [&] {
          return b.load(
              right, loops.operandIndex(right, place,
                                        group * double(form.group) + double(i),
                                        firstColumn + double(column)));
        }));
      return interleaveRows(b, rows, form.group);
    };
    StepChunks chunks;
    if (panels)
      chunks = loops.fetchAhead(*panels, place, rows);
    accumulateDots(b, tile, form, *loops.steps.known(),
                   {elementOfRow, groupsOfColumns, elementOf(left),
                    elementOf(right), chunks, [&](Expr group) {
                      return panels->isWide(b, place.panel, group);
                    }});
    loops.store(tile, product.getResult(), place, firstColumn);
  });
}

namespace {

class IntegerProductStrategy : public ModelledProduct<IntegerProductStrategy> {
public:
  void emit(KernelBuilder &b) const override {
    emitDotProduct(b, b.plan.number("rows"));
  }

  bool readsVectors(GroupOnTarget group, BlockArgument operand) const override {
    Value a = cast<MatMulOp>(group.anchor()).getA();
    return (operand != a || !operand.hasOneUse()) &&
           Strategy::readsVectors(group, operand);
  }

  static DotModel model(MatMulOp product, const TargetDescription &target) {
    ProductSizes sizes(product);
    return DotModel(sizes.rows.most(), sizes.columns, sizes.steps.most(),
                    *dotForm(product, target), target);
  }

protected:
  bool fits(MatMulOp product, const TargetDescription &target) const override {
    std::optional<DotForm> form = dotForm(product, target);
    auto packed = product.getB().getDefiningOp<UnpackPanelsOp>();
    return form && !form->isScalar() && ProductSizes(product).steps.known() &&
           shapeOf(product.getA()).back() > 0 &&
           isa<BlockArgument>(product.getA()) &&
           (packed ? int64_t(packed.getGroup()) == form->group
                   : isa<BlockArgument>(product.getB()));
  }
  ColumnVectors panelVectors(MatMulOp product, int64_t columns,
                             const TargetDescription &target) const override {
    return coverWithDots(columns, *dotForm(product, target), target,
                         /*padded=*/true);
  }
  int64_t steps(MatMulOp product,
                const TargetDescription &target) const override {
    return dotForm(product, target)->group;
  }
  int64_t lanes(MatMulOp product,
                const TargetDescription &target) const override {
    return dotForm(product, target)->lanes.front();
  }
};

} // namespace

std::unique_ptr<Strategy> createIntegerProductStrategy() {
  return std::make_unique<IntegerProductStrategy>();
}

} // namespace ingot::schedule
