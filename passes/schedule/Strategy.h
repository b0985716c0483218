// How a fusion group becomes loops.
//
// A strategy builds the loops of one kind of group for its very shapes, its
// epilogue and the target. `decide` asks which one takes a group (the first in
// Strategies.def that matches); `schedule` has it build the code.

#ifndef INGOT_PASSES_SCHEDULE_STRATEGY_H
#define INGOT_PASSES_SCHEDULE_STRATEGY_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

class Strategy {
public:
  virtual ~Strategy() = default;
  virtual llvm::StringRef name() const = 0;
  /// Whether it takes this group on this target.
  virtual bool matches(GroupView group,
                       const TargetDescription &target) const = 0;
  virtual void emit(KernelBuilder &b) const = 0;
  /// Whether its loops go as far as sizes at run time say.
  virtual bool takesRunTimeSizes() const { return false; }
};

/// The first strategy that takes the group. The last ones take anything.
const Strategy &selectStrategy(GroupView group,
                               const TargetDescription &target);
const Strategy *lookupStrategy(llvm::StringRef name);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_STRATEGY_H
