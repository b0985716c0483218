// The cost model of a time step of RNN, GRU and LSTM layers.

#ifndef INGOT_PASSES_SCHEDULE_TILES_RECURRENCEMODEL_H
#define INGOT_PASSES_SCHEDULE_TILES_RECURRENCEMODEL_H

#include "passes/schedule/tiles/DotForm.h"

namespace ingot::schedule {

/// The product of the state of one sequence and the recurrent weights, which
/// are packed in panels. Weights of bf16 are multiplied by dot products, others
/// by multiply-adds.
class RecurrenceModel {
public:
  /// The model of `layer` with weights of type `element`; nothing if a kernel
  /// cannot read such weights in panels. `packs` tells whether weights that are
  /// not packed yet can be.
  static std::optional<RecurrenceModel> of(mlir::Operation *layer,
                                           mlir::Type element,
                                           const TargetDescription &target,
                                           bool packs);
  /// Estimates the cycles of the product.
  double cycles() const;
  /// Whether the weights do not stay in the L2 cache from step to step.
  bool exceedsL2() const { return 4 * bytes > 3 * target.l2Bytes; }

  /// The number of columns of a panel: those that are summed at a time.
  int64_t columns = 0;
  /// How weights of bf16 are multiplied; not set for other weights.
  std::optional<DotForm> dots;

private:
  RecurrenceModel(int64_t hidden, int64_t width, int64_t bytes,
                  const TargetDescription &target)
      : hidden(hidden), width(width), bytes(bytes), target(target) {}

  int64_t hidden, width, bytes;
  const TargetDescription &target;
};

/// Returns the recurrent weights of an RNN, GRU or LSTM.
inline mlir::OpOperand &recurrentWeights(mlir::Operation *layer) {
  return layer->getOpOperand(1);
}

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_RECURRENCEMODEL_H
