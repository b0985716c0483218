// How kernels run: in the vectors of a core, or in blocks of threads.

#ifndef INGOT_PASSES_SCHEDULE_EXECUTIONMODEL_H
#define INGOT_PASSES_SCHEDULE_EXECUTIONMODEL_H

#include "passes/schedule/Strategy.h"

namespace ingot::schedule {

/// Returns the builder of a kernel function for a group.
template <typename Builder>
std::unique_ptr<KernelBuilder>
makeBuilder(mlir::OpBuilder &builder, kernel::FuncOp function,
            GroupOnTarget group, mlir::ValueRange outputs) {
  return std::make_unique<Builder>(builder, function, group, outputs);
}

/// The answers of strategies and decisions that differ between the two.
struct ExecutionModel {
  /// The strategies for this model, besides those for any machine.
  Strategy::Machine machine = Strategy::Machine::Core;
  decltype(&makeBuilder<KernelBuilder>) builder = makeBuilder<KernelBuilder>;
  /// The bytes that a thread loads or stores at once, if each element of a
  /// result has a thread. 0 if loops over a result compute it in vectors.
  int64_t accessBytes = 0;
  /// Whether the sequence of rows and images is chosen so that caches hold them.
  bool fitsCaches = true;
  /// Whether attention copies keys and values for each block of queries.
  bool copiesKeys = true;
  /// Whether a few products of f16 may be summed in f16 for --fast; whether all
  /// tensors between kernels are stored in the type of --fast.
  bool sumsInHalves = true, storesNarrow = false;
  /// Whether matrix products take operands of any signedness.
  bool takesAnySign = false;
  /// Whether kernels read slices in place, and concatenations compute their
  /// operands; whether norms before products of few rows have their own kernel.
  bool readsSlices = false, separatesNorms = false;
};

const ExecutionModel &modelOf(const TargetDescription &target);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_EXECUTIONMODEL_H
