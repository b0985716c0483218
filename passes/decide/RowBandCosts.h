// Estimates the cost of computing groups in row bands.

#ifndef INGOT_PASSES_DECIDE_ROWBANDCOSTS_H
#define INGOT_PASSES_DECIDE_ROWBANDCOSTS_H

#include "passes/decide/RowBandBuilder.h"

namespace ingot::decide {

/// Estimates how much more or less it costs to compute a chain of groups band
/// by band (RowBands.cpp) than group by group, in units of schedule::workOf.
class RowBandCosts {
public:
  explicit RowBandCosts(const TargetDescription &target);

  /// Returns the cost of computing `rows` rows of a group in a separate launch.
  double launch(graph::GroupOp group, int64_t rows) const;
  /// Returns the cost of one more kernel for a group: row bands with different
  /// numbers of rows need separate kernels.
  double kernel() const;
  /// Returns the cost of copying `elements` elements of a tensor of type `type`
  /// in the L2 cache.
  double copy(mlir::Type type, int64_t elements) const;
  /// Returns the cost that is saved if a result of `bytes` bytes is not stored
  /// as a whole, but at most `held` bytes of it are live at a time.
  double saved(int64_t bytes, int64_t held) const;

private:
  /// Cached properties of a group that do not depend on the number of rows.
  struct Group {
    double work;
    /// The overhead of each launch in cycles.
    double launchCycles;
  };
  const Group &of(graph::GroupOp group) const;

  const TargetDescription &target;
  mutable llvm::DenseMap<mlir::Operation *, Group> known;
  /// Whether the target has caches between the core and the arena.
  bool hasCaches;
  /// Units of schedule::workOf per cycle.
  double rate;
};

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_ROWBANDCOSTS_H
