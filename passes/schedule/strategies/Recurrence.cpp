// The strategy for RNN, GRU and LSTM layers with constant weights.
//
// Each time step reads all recurrent weights once. The weights are packed into
// panels, so that memory is read sequentially; a panel has the columns that are
// summed together in registers. If the weights take more than three quarters of
// the L2 cache, every other time step reads the panels in reverse order, since
// the panels that were read last are still in the cache.

#include "passes/schedule/Anchors.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/PanelKernel.h"

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
    Value weights = weightsOf(anchor).get();
    // The sums of the last gate of a GRU are computed separately from those of
    // the other gates, so each gate must consist of whole panels of packed
    // weights.
    int64_t width =
        isa<GRUOp>(anchor) ? shapeOf(weights).front() : shapeOf(weights).back();
    return isa<Float32Type>(elementOf(weights)) &&
           mayBeInPanels(weights, group.packs) &&
           group.target.maxLanes(elementOf(weights)) > 1 &&
           width % panelColumns(weights, group.target) == 0;
  }

  ArrayRef<PlanKey> planKeys() const override {
    static constexpr StringLiteral orders[] = {"forward", "alternating"};
    static const PlanKey keys[] = {{"columns", 1, 1 << 16},
                                   {"order", 0, 0, orders}};
    return keys;
  }
  SmallVector<Plan> plans(GroupOnTarget group) const override {
    Value weights = weightsOf(group.anchor()).get();
    auto plan = [&](StringRef order) {
      return Plan(weights.getContext(),
                  {{"columns", panelColumns(weights, group.target)}},
                  {{"order", order}});
    };
    SmallVector<Plan> plans{plan("forward"), plan("alternating")};
    if (exceedsL2(weights, group.target))
      std::swap(plans[0], plans[1]);
    return plans;
  }
  double cost(GroupOnTarget group, const Plan &) const override {
    Operation *anchor = group.anchor();
    int64_t steps = product(shapeOf(anchor->getOperand(0)).drop_back());
    return double(steps) * cyclesOfStep(anchor, group.target);
  }
  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    Value weights = weightsOf(group.anchor()).get();
    int64_t columns = panelColumns(weights, group.target);
    if (plan.number("columns") != columns)
      return "the plan has columns = " +
             std::to_string(plan.number("columns")) +
             ", but must have as many columns as are summed at a time, " +
             std::to_string(columns);
    return refusePanels(columns, columns,
                        weights.getDefiningOp<UnpackPanelsOp>());
  }

  void pack(GroupOnTarget group, const Plan &plan) const override {
    packPanels(group.op(), weightsOf(group.anchor()), plan.number("columns"),
               /*tail=*/0, /*steps=*/1);
  }

  bool takesDynamicSizes() const override { return true; }

  void emit(KernelBuilder &b) const override {
    Operation *anchor = b.group.anchor();
    b.vectorLanes = b.plan.number("columns") / BodyBuilder::sumsAtOnce;
    if (b.target.multiplyByLane)
      b.factorLanes = b.target.maxLanes(elementOf(weightsOf(anchor).get()));
    b.alternates = b.plan.word("order") == "alternating";
    b.sharedCycles = cyclesOfSharedStep(anchor, b.target);
    cast<BodyOpInterface>(anchor).emitBody(b);
  }

private:
  /// Whether the weights do not stay in the L2 cache from step to step.
  static bool exceedsL2(Value weights, const TargetDescription &target) {
    return 4 * sizeOf(weights) > 3 * target.l2Bytes;
  }
  /// Estimates the cycles of the matrix-vector product in one time step of one
  /// sequence: one load and one multiply-add per vector of weights.
  static double cyclesOfStep(Operation *anchor,
                             const TargetDescription &target) {
    Value weights = weightsOf(anchor).get();
    double bytes = double(sizeOf(weights)),
           vectors = bytes / double(target.maxLanes(elementOf(weights)) *
                                    int64_t(sizeof(float))),
           ofVector =
               1 / std::min(target.rates.multiplyAdds, target.rates.loads);
    if (bytes > double(target.l1Bytes))
      ofVector += target.rates.missedLoad;
    double cycles = ofVector * vectors;
    return exceedsL2(weights, target)
               ? std::max(cycles, bytes / target.rates.cacheBytes)
               : cycles;
  }
  /// Returns the cycles of that product; nothing if threads do not divide it,
  /// because the target has no threads or the cycles are too few.
  static std::optional<int64_t>
  cyclesOfSharedStep(Operation *anchor, const TargetDescription &target) {
    if (target.isDevice() || !target.hasThreads)
      return std::nullopt;
    double cycles = cyclesOfStep(anchor, target);
    if (cycles / 2 <= double(target.forkCycles))
      return std::nullopt;
    return int64_t(cycles);
  }
  static int64_t sizeOf(Value weights) {
    return tensorType(weights).getNumElements() * int64_t(sizeof(float));
  }
  static OpOperand &weightsOf(Operation *anchor) {
    return anchor->getOpOperand(1);
  }
  static int64_t panelColumns(Value weights, const TargetDescription &target) {
    return target.maxLanes(elementOf(weights)) * BodyBuilder::sumsAtOnce;
  }
};

} // namespace

std::unique_ptr<Strategy> createRecurrenceStrategy() {
  return std::make_unique<RecurrenceStrategy>();
}

} // namespace ingot::schedule
