// The strategy for matrix products of narrow types in registers that hold
// two-dimensional tiles of a matrix (RegisterTiles.h):
//
//   [..., M, K] x [K, N] -> si32 or f32
//
// The target must have such registers, and there must be enough rows (M). In
// other cases, IntegerProduct.cpp uses vector dot products; both strategies
// pack weights alike.

#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/DotTile.h"
#include "passes/schedule/tiles/ProductLoops.h"
#include "passes/schedule/tiles/RegisterTiles.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class TileProductStrategy : public ModelledProduct<TileProductStrategy> {
public:
  bool matches(GroupOnTarget group) const override {
    return ProductStrategy::matches(group) &&
           mayBeInPanels(cast<MatMulOp>(group.anchor()).getB(), group.packs);
  }

  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    std::string why = ProductStrategy::refuse(group, plan);
    TileChoice block =
        tileOf(plan, lanes(cast<MatMulOp>(group.anchor()), group.target));
    return why.empty() ? refuseBlock(block.rows, block.vectors, group.target)
                       : why;
  }

  void emit(KernelBuilder &b) const override {
    auto product = cast<MatMulOp>(b.group.anchor());
    TileForm form = *formOf(product, b.target);
    Value left = product.getA();
    ProductLoops loops(b, product);
    if (loops.columns == 0 || loops.rows == 0 || loops.batches == 0)
      return;
    Value rows = b.bufferOf(left);
    if (loops.oneMatrix)
      rows = b.view(rows, {loops.rows.most(), *loops.steps.known()});
    if (!rows)
      return emitDotProduct(b, /*rows=*/1); // `left` is not contiguous
    PackedPanels panels = *PackedPanels::of(b, product.getB());
    int64_t blockRows = b.plan.number("rows"),
            panelWidth = b.plan.number("columns");
    auto tilesOf = [&](int64_t count, bool isPanel) {
      return RegisterTiles(
          b, form, count,
          form.cover(isPanel ? panelWidth : loops.columns % panelWidth));
    };
    bool hasWhole = mayDiffer(loops.rows.floorDiv(blockRows), 0);
    loops.overTiles(
        blockRows, panelWidth,
        [&](const ProductLoops::Place &place) {
          RegisterTiles tiles = tilesOf(place.count, place.panel.has_value());
          if (place.count != blockRows)
            tiles.shape();
          tiles.clear();
          auto at = [&](Expr row, Expr step) -> Exprs {
            Expr of = place.firstRow + row;
            return loops.oneMatrix ? Exprs{of, step}
                                   : loops.operandIndex(left, place, of, step);
          };
          tiles.multiply({rows, at, pitchOfRows(rows)}, panels, place.panel,
                         b.index(0));
          Expr column = loops.firstColumn(place, panelWidth);
          tiles.store(elementOf(product.getResult()), /*mostTogether=*/4,
                      [&](Tile &tile, Expr row) {
                        loops.store(tile, product.getResult(),
                                    {place.batch, place.firstRow + row,
                                     tile.rows, place.panel},
                                    column);
                      });
        },
        [&](bool isPanel, llvm::function_ref<void()> ofRows) {
          if (hasWhole)
            tilesOf(blockRows, isPanel).shape();
          ofRows();
          RegisterTiles::release(b);
        });
  }

  bool readsVectors(GroupOnTarget group, BlockArgument operand) const override {
    Value a = cast<MatMulOp>(group.anchor()).getA();
    return (operand != a || !operand.hasOneUse()) &&
           Strategy::readsVectors(group, operand);
  }

  static RegisterTileModel model(MatMulOp product,
                                 const TargetDescription &target) {
    ProductSizes sizes(product);
    return RegisterTileModel(*formOf(product, target), sizes.rows.most(),
                             sizes.columns, /*runs=*/1, target);
  }

protected:
  bool fits(MatMulOp product, const TargetDescription &target) const override {
    std::optional<TileForm> form = formOf(product, target);
    std::optional<DotForm> dots = dotForm(product, target);
    if (!form || !dots || dots->isScalar() || dots->group != form->group ||
        !isa<BlockArgument>(product.getA()))
      return false;
    auto packed = product.getB().getDefiningOp<UnpackPanelsOp>();
    if (packed &&
        (int64_t(packed.getGroup()) != form->group ||
         packed.getPanel() % form->lanes || packed.getTail() % form->lanes))
      return false;
    ProductSizes sizes(product);
    RegisterTileModel tiles = model(product, target);
    DotModel vectors(sizes.rows.most(), sizes.columns, sizes.steps.most(),
                     *dots, target);
    return tiles.cycles(tiles.ranked().front()) <
           vectors.cycles(vectors.ranked().front());
  }
  ColumnVectors panelVectors(MatMulOp product, int64_t columns,
                             const TargetDescription &target) const override {
    return formOf(product, target)->cover(columns);
  }
  int64_t steps(MatMulOp product,
                const TargetDescription &target) const override {
    return formOf(product, target)->group;
  }
  int64_t lanes(MatMulOp product,
                const TargetDescription &target) const override {
    return formOf(product, target)->lanes;
  }

private:
  static std::optional<TileForm> formOf(MatMulOp product,
                                        const TargetDescription &target) {
    std::optional<int64_t> steps = ProductSizes(product).steps.known();
    if (!steps || !product.isWidening() || !product.getZeros().empty() ||
        shapeOf(product.getB()).size() != 2)
      return std::nullopt;
    return TileForm::of(elementOf(product.getA()), elementOf(product.getB()),
                        *steps, target);
  }
};

} // namespace

std::unique_ptr<Strategy> createTileProductStrategy() {
  return std::make_unique<TileProductStrategy>();
}

} // namespace ingot::schedule
