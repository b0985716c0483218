// The strategy for matrix products of f32 or f64 in register tiles:
//
//   [..., M, K] x [..., K, N]
//
// The right operand is packed into panels if it is a constant (weights); if it
// is computed (activations), it is read in place row by row. Elements of the
// left operand are read in place and broadcast, or its rows are packed
// (PackedRows.h): the plan's entry `packed` is the number of rows that are
// packed at once, and `parts` the number of parts for threads.

#include "dialects/graph/ElementsData.h"
#include "passes/schedule/GroupCost.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/PackedRows.h"
#include "passes/schedule/tiles/PanelKernel.h"
#include "passes/schedule/tiles/ProductLoops.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class MatrixProductStrategy : public ModelledProduct<MatrixProductStrategy> {
public:
  ArrayRef<PlanKey> planKeys() const override {
    static const PlanKey keys[] = {
        {"block", 1, 1 << 30, {}, /*isOptional=*/true},
        {"columns", 1, 1 << 16},
        {"packed", 1, 1 << 30, {}, /*isOptional=*/true},
        {"parts", 1, 64, {}, /*isOptional=*/true},
        {"rows", 1, 1 << 16},
        {"splits", 1, 4}};
    return keys;
  }

  SmallVector<Plan> plans(GroupOnTarget group) const override {
    SmallVector<Plan> all = ModelledProduct::plans(group);
    auto product = cast<MatMulOp>(group.anchor());
    auto work = packableWork(group, product);
    if (!work || group.savesMemory)
      return all;
    int64_t lanes = this->lanes(product, group.target);
    auto weights = product.getB().getDefiningOp<UnpackPanelsOp>();
    auto choice = packedChoice(*work, tileOf(all.front(), lanes),
                               weights ? int64_t(weights.getPanel()) : 0,
                               paysToFork(group), group.target);
    if (!choice)
      return all;
    if (all.size() == mostPlans)
      all.pop_back();
    all.insert(all.begin(), Plan(product.getContext(),
                                 {{"columns", choice->tile.vectors * lanes},
                                  {"packed", choice->block},
                                  {"parts", choice->parts},
                                  {"rows", choice->tile.rows},
                                  {"splits", 1}}));
    return all;
  }

  SmallVector<int64_t> scratchBytes(GroupOnTarget group,
                                    const Plan &plan) const override {
    auto block = plan.optionalNumber("packed");
    if (!block)
      return {};
    auto product = cast<MatMulOp>(group.anchor());
    PackedChoice choice{{}, *block, plan.optionalNumber("parts").value_or(1)};
    return {choice.elements(ProductSizes(product).steps.most()) *
            bytesPerElement(elementOf(product.getA()))};
  }

  std::optional<Plan> planWithin(GroupOnTarget group,
                                 int64_t bytes) const override {
    return packedPlanWithin(*this, group, bytes);
  }

  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    std::string why = ModelledProduct::refuse(group, plan);
    auto block = plan.optionalNumber("packed");
    if (why.empty() && !block && plan.optionalNumber("parts"))
      return "the plan has parts, which are only for packed rows";
    if (!why.empty() || !block)
      return why;
    auto product = cast<MatMulOp>(group.anchor());
    auto work = packableWork(group, product);
    if (!work || plan.number("splits") != 1 || plan.optionalNumber("block"))
      return "the plan packs rows, which is possible only for a product of two "
             "matrices of floats by constant weights, whose sizes are known "
             "when "
             "compiling, without a block and without split sums";
    return refusePacked(*work, tileOf(plan, this->lanes(product, group.target)),
                        *block, group.target);
  }

  void emit(KernelBuilder &b) const override {
    auto product = cast<MatMulOp>(b.group.anchor());
    Type type = elementOf(product.getA());
    ProductLoops loops(b, product, RowsLeft::SharedWithLast);
    int64_t columns = loops.columns;
    if (loops.columns == 0 || loops.rows == 0 || loops.batches == 0)
      return;
    auto panels = PackedPanels::of(b, product.getB());
    int64_t panelWidth = b.plan.number("columns");
    if (b.plan.optionalNumber("packed"))
      return packed(b, product, loops, *panels);
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

private:
  /// Returns the sizes of a product whose rows can be packed; nothing for other
  /// products.
  static std::optional<PackedWork> packableWork(GroupOnTarget group,
                                                MatMulOp product) {
    ProductSizes sizes(product);
    auto rows = sizes.rows.known(), steps = sizes.steps.known();
    bool hasPanels = shapeOf(product.getB()).size() == 2 &&
                     mayBeInPanels(product.getB(), group.packs);
    if (!rows || !steps || mayDiffer(sizes.batches, 1) || !hasPanels ||
        !isa<BlockArgument>(product.getA()))
      return std::nullopt;
    return PackedWork{*rows, sizes.columns, *steps, elementOf(product.getA())};
  }

  /// Emits a product whose rows are packed.
  static void packed(KernelBuilder &b, MatMulOp product, ProductLoops &loops,
                     const PackedPanels &panels) {
    PackedWork work{*loops.rows.known(), loops.columns, *loops.steps.known(),
                    elementOf(product.getA())};
    PackedRows rows(b, work,
                    {{b.plan.number("rows"), 0, 1},
                     b.plan.number("packed"),
                     b.plan.optionalNumber("parts").value_or(1)});
    Exprs batch(shapeOf(product).size() - 2, b.index(0));
    auto ofPanel = [&](std::optional<Expr> panel,
                       PackedRows::ForTiles forTiles) {
      int64_t rest = work.columns % panels.panelWidth;
      ColumnVectors vectors =
          ColumnVectors::cover(panel ? panels.panelWidth : rest, b.target,
                               work.type, /*padded=*/true);
      forTiles([&](Expr first, int64_t count, Expr start) {
        ProductLoops::Place place{batch, first, count, panel};
        Tile tile = zeroTile(b, count, vectors, work.type);
        ArrayRef<int64_t> lanes = vectors.lanes;
        rows.accumulate(
            tile, start,
            [&](Expr k, size_t v) {
              return panels.load(
                  b, panel, k,
                  std::accumulate(lanes.begin(), lanes.begin() + v, int64_t(0)),
                  lanes[v]);
            },
            "step");
        loops.store(tile, product.getResult(), place,
                    loops.firstColumn(place, panels.panelWidth));
      });
    };
    auto load = [&](Expr row, Expr step) {
      return loops.loadLeft({batch, row, 1, std::nullopt}, row, step);
    };
    rows.emit(load, [&](PackedRows::ForTiles forTiles) {
      b.forRange(b.index(0), b.index(panels.fullPanels),
                 [&](Expr panel) { ofPanel(named(panel, "panel"), forTiles); });
      if (work.columns % panels.panelWidth)
        ofPanel(std::nullopt, forTiles);
    });
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
