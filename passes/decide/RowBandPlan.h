// Chooses which groups are computed in row bands.

#ifndef INGOT_PASSES_DECIDE_ROWBANDPLAN_H
#define INGOT_PASSES_DECIDE_ROWBANDPLAN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/decide/RowBandBuilder.h"

#include <memory>

namespace ingot::decide {

/// Chooses which chains of groups of one function are computed in row bands.
/// `plan` and `planAtNoCost` may be called repeatedly, with other memory
/// limits.
class RowBandPlanner {
public:
  RowBandPlanner(mlir::func::FuncOp main, const TargetDescription &target);
  ~RowBandPlanner();

  /// Returns the chains with the least cost that reduce the estimated peak of
  /// live memory to at most `maxBytes`. If no chains reduce it that far,
  /// returns those with the lowest peak. Without `keeps`, no row band keeps
  /// rows for the next one, which causes fewer gaps in the arena.
  std::vector<Chain> plan(int64_t maxBytes, bool keeps);
  /// Returns the chains that reduce the peak of live memory to `maxBytes`, or
  /// as far as possible, without increasing the estimated time.
  std::vector<Chain> planAtNoCost(int64_t maxBytes);

private:
  class Search;
  std::unique_ptr<Search> search;
};

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_ROWBANDPLAN_H
