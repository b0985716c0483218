#include "passes/schedule/tiles/RecurrenceModel.h"

#include "passes/schedule/Anchors.h"
#include "passes/schedule/tiles/DotTile.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

std::optional<RecurrenceModel>
RecurrenceModel::of(Operation *layer, Type element,
                    const TargetDescription &target, bool packs) {
  Value weights = recurrentWeights(layer).get();
  int64_t hidden = shapeOf(weights).front(), width = shapeOf(weights).back();
  if (!elementOf(layer->getOperand(0)).isF32() ||
      !mayBeInPanels(weights, packs))
    return std::nullopt;
  int64_t bytes = hidden * width * element.getIntOrFloatBitWidth() / 8;
  RecurrenceModel model(hidden, width, bytes, target);
  int64_t lanes = target.maxLanes(element);
  if (element.isBF16()) {
    model.dots = dotForm(element, element, target, hidden);
    lanes = model.dots ? model.dots->lanes.front() : 1;
  } else if (!element.isF32()) {
    return std::nullopt;
  }
  model.columns = lanes * BodyBuilder::sumsAtOnce;
  // The sums of the last gate of a GRU are computed separately from those of
  // the other gates, so each gate must consist of whole panels of packed
  // weights.
  int64_t together = isa<GRUOp>(layer) ? hidden : width;
  if (lanes == 1 || together % model.columns != 0)
    return std::nullopt;
  return model;
}

double RecurrenceModel::cycles() const {
  const IssueRates &rates = target.rates;
  double vectors, cycles;
  if (dots) {
    DotModel products(/*rows=*/1, width, hidden, *dots, target);
    vectors = double(width / dots->lanes.front() *
                     llvm::divideCeil(hidden, dots->group));
    cycles = products.cycles({/*rows=*/1, BodyBuilder::sumsAtOnce});
  } else {
    // One load and one multiply-add per vector of weights.
    vectors = double(hidden * width * BodyBuilder::sumsAtOnce / columns);
    cycles = vectors / std::min(rates.multiplyAdds, rates.loads);
  }
  if (bytes > target.l1Bytes)
    cycles += vectors * rates.missedLoad;
  return exceedsL2() ? std::max(cycles, double(bytes) / rates.cacheBytes)
                     : cycles;
}

} // namespace ingot::schedule
