// The strategy for RNN, GRU and LSTM layers with constant weights.
//
// Each time step reads all recurrent weights once. The weights are packed into
// panels, so that memory is read sequentially; a panel has the columns that are
// summed together in registers. If the weights take more than three quarters of
// the L2 cache, every other time step reads the panels in reverse order, since
// the panels that were read last are still in the cache.
//
// Weights of bf16 (--fast=bf16) are multiplied by dot products. Before each
// product, the state is rounded to bf16 into a scratch buffer.

#include "dialects/graph/ops/Recurrent.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/DotTile.h"
#include "passes/schedule/tiles/RecurrenceModel.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class RecurrenceStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    Operation *anchor = group.anchor();
    if (!isa_and_nonnull<RNNOp, GRUOp, LSTMOp>(anchor) || group.isStrict() ||
        group.results() != anchor->getResults())
      return false;
    auto packed = packedWeights(anchor);
    auto model = modelOf(group);
    return model && (!packed || int64_t(packed.getGroup()) == stepsOf(*model));
  }

  ArrayRef<PlanKey> planKeys() const override {
    static constexpr StringLiteral orders[] = {"forward", "alternating"};
    static const PlanKey keys[] = {{"columns", 1, 1 << 16},
                                   {"order", 0, 0, orders}};
    return keys;
  }
  SmallVector<Plan> plans(GroupOnTarget group) const override {
    RecurrenceModel model = *modelOf(group);
    auto plan = [&](StringRef order) {
      return Plan(group.anchor()->getContext(), {{"columns", model.columns}},
                  {{"order", order}});
    };
    SmallVector<Plan> plans{plan("forward"), plan("alternating")};
    if (model.exceedsL2())
      std::swap(plans[0], plans[1]);
    return plans;
  }
  double cost(GroupOnTarget group, const Plan &) const override {
    int64_t steps = product(shapeOf(group.anchor()->getOperand(0)).drop_back());
    return double(steps) * modelOf(group)->cycles();
  }
  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    int64_t columns = modelOf(group)->columns;
    if (plan.number("columns") != columns)
      return "the plan has columns = " +
             std::to_string(plan.number("columns")) +
             ", but must have as many columns as are summed at a time, " +
             std::to_string(columns);
    return refusePanels(columns, columns, packedWeights(group.anchor()));
  }

  void pack(GroupOnTarget group, const Plan &plan) const override {
    packPanels(group.op(), recurrentWeights(group.anchor()),
               plan.number("columns"), /*tail=*/0, stepsOf(*modelOf(group)));
  }

  bool takesDynamicSizes() const override { return true; }

  void emit(KernelBuilder &b) const override {
    Operation *anchor = b.group.anchor();
    RecurrenceModel model = *modelOf(b.group);
    b.vectorLanes = b.plan.number("columns") / BodyBuilder::sumsAtOnce;
    if (b.target.multiplyByLane)
      b.factorLanes = b.vectorLanes;
    b.alternates = b.plan.word("order") == "alternating";
    b.sharedCycles = cyclesOfSharedStep(model, b.target);
    Value weights = recurrentWeights(anchor).get();
    auto panels = PackedPanels::of(b, weights);
    if (!model.dots || !panels)
      return emitRecurrence(anchor, b);
    int64_t hidden = shapeOf(weights).front();
    NarrowProduct dots;
    dots.state = b.scratch({hidden}, panels->type);
    dots.addPanel = [&](Expr panel, ArrayRef<Expr> sums) {
      Tile tile{/*rows=*/1, {}, Exprs(sums.begin(), sums.end())};
      tile.columns.columns = model.columns;
      tile.columns.lanes.assign(BodyBuilder::sumsAtOnce, b.vectorLanes);
      auto state = [&](int64_t, Expr step) {
        return b.loadFrom(dots.state, panels->type, {step});
      };
      auto columns = [&](Expr group, int64_t, int64_t column, int64_t lanes) {
        return panels->load(b, panel, group, column, lanes);
      };
      accumulateDots(b, tile, *model.dots, hidden,
                     {state, columns, panels->type, panels->type, {}});
      return tile.sums;
    };
    emitRecurrence(anchor, b, &dots);
  }

private:
  static std::optional<RecurrenceModel> modelOf(GroupOnTarget group) {
    Operation *anchor = group.anchor();
    return RecurrenceModel::of(anchor,
                               elementOf(recurrentWeights(anchor).get()),
                               group.target, group.packs);
  }
  static UnpackPanelsOp packedWeights(Operation *anchor) {
    return recurrentWeights(anchor).get().getDefiningOp<UnpackPanelsOp>();
  }
  /// Returns how many K steps of a column are adjacent in packed weights.
  static int64_t stepsOf(const RecurrenceModel &model) {
    return model.dots ? model.dots->group : 1;
  }
  /// Returns the cycles of the product in one time step; nothing if threads do
  /// not divide it, because the target has no threads or the cycles are too
  /// few.
  static std::optional<int64_t>
  cyclesOfSharedStep(const RecurrenceModel &model,
                     const TargetDescription &target) {
    if (!target.hasThreads)
      return std::nullopt;
    double cycles = model.cycles();
    if (cycles / 2 <= double(target.forkCycles))
      return std::nullopt;
    return int64_t(cycles);
  }
};

} // namespace

std::unique_ptr<Strategy> createRecurrenceStrategy() {
  return std::make_unique<RecurrenceStrategy>();
}

} // namespace ingot::schedule
