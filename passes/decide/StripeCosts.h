// What it costs to compute groups in stripes.

#ifndef INGOT_PASSES_DECIDE_STRIPECOSTS_H
#define INGOT_PASSES_DECIDE_STRIPECOSTS_H

#include "passes/decide/Stripes.h"

namespace ingot::decide {

/// Estimates in work, as schedule::workOf counts it, beyond that of the groups as they are.
class StripeCosts {
public:
  explicit StripeCosts(const TargetDescription &target);

  /// Of computing a group for some of its rows, in a launch of its own.
  double launch(graph::GroupOp group, int64_t rows) const;
  /// Of a kernel beside others for the same group.
  double kernel() const;
  /// Of copying elements of a tensor that is in a cache.
  double copy(mlir::Type type, int64_t elements) const;
  /// What is saved where a result of so many bytes is not stored as a whole, and `held`
  /// bytes of it at most are there at a time.
  double saved(int64_t bytes, int64_t held) const;

private:
  /// What is asked again and again.
  struct Group {
    double work;
    /// Cycles of each launch beside that.
    double launchCycles;
  };
  const Group &of(graph::GroupOp group) const;

  const TargetDescription &target;
  mutable llvm::DenseMap<mlir::Operation *, Group> known;
  /// Whether caches are between the core and the arena.
  bool hasCaches;
  /// The work of a cycle.
  double rate;
};

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_STRIPECOSTS_H
