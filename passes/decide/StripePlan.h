// Which groups are computed in stripes.

#ifndef INGOT_PASSES_DECIDE_STRIPEPLAN_H
#define INGOT_PASSES_DECIDE_STRIPEPLAN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/decide/Stripes.h"

#include <memory>

namespace ingot::decide {

/// Chooses chains of one function, for several limits.
class StripePlanner {
public:
  StripePlanner(mlir::func::FuncOp main, const TargetDescription &target);
  ~StripePlanner();

  /// The chains that bring the memory alive at any time, as estimated, down to
  /// `maxBytes` in the least time; if none do, those that bring it down most. Without
  /// `keeps` no stripe keeps rows for the next one, which leaves gaps in few places.
  std::vector<Chain> plan(int64_t maxBytes, bool keeps);
  /// The chains that bring it down to `maxBytes`, or as far as they take no more time,
  /// as estimated, than the groups as they are.
  std::vector<Chain> planAtNoCost(int64_t maxBytes);

private:
  class Search;
  std::unique_ptr<Search> search;
};

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_STRIPEPLAN_H
