// Pools, and reductions along other axes than the channels, of several vectors
// of channels at once. The bounds of a window and the
// instructions of the loops over it are shared by these vectors:
//
//   for channel = 0 to 64 step 32:
//     best_0 ... best_7 = -infinity
//     for kernel_row:
//       for kernel_column:
//         best_0 = max(x[..., channel], best_0)
//         ...
//         best_7 = max(x[..., channel + 28], best_7)
//     y[..., channel] = best_0 ...

#ifndef INGOT_PASSES_SCHEDULE_TILES_POOLLOOPS_H
#define INGOT_PASSES_SCHEDULE_TILES_POOLLOOPS_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

class PoolLoops {
public:
  /// Plans vectors as wide as those of elements of type `type`. A maximum pool
  /// of f16 is computed in f16 if the target has the instructions for it.
  PoolLoops(KernelBuilder &b, mlir::Type type);

  /// Whether the group is a maximum or average pool or a reduction of all
  /// elements of each channel along some axes, with at most elementwise operators
  /// beside it, and these loops pay off.
  bool apply() const { return vectors > (inHalves ? 0 : 1); }
  /// Emits the results at the position `outer` (batch and spatial index). Calls
  /// `rest` for the channels from a given one on that do not fill a vector.
  void emit(llvm::ArrayRef<graph::Expr> outer,
            llvm::function_ref<void(int64_t first)> rest) const;

private:
  /// Emits `count` vectors of results from channel `first` on.
  void emitVectors(llvm::ArrayRef<graph::Expr> outer, graph::Expr first,
                   int64_t count) const;
  /// Returns `count` vectors of the combined elements of the window at `at`.
  graph::Exprs combined(llvm::ArrayRef<graph::Expr> at, int64_t count) const;
  /// As `combined`, for a reduction.
  graph::Exprs reduced(llvm::ArrayRef<graph::Expr> at, int64_t count) const;
  /// Returns the results at index `at` from the combined elements `value`.
  graph::Expr finished(llvm::ArrayRef<graph::Expr> at, graph::Expr value) const;
  graph::Expr initial() const;
  graph::Expr merge(graph::Expr acc, graph::Expr x) const;

  KernelBuilder &b;
  mlir::Operation *pool;
  bool inHalves = false;
  int64_t channels = 0, lanes = 1, vectors = 0;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_POOLLOOPS_H
