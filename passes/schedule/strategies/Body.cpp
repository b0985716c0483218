// Operators that write themselves.
//
// A group of one operator that defines its results as a whole.

#include "passes/schedule/Strategy.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class BodyStrategy : public Strategy {
public:
  bool matches(GroupView group, const TargetDescription &) const override {
    Operation *anchor = group.anchor();
    return anchor && isa<BodyOpInterface>(anchor) &&
           group.results() == anchor->getResults();
  }

  bool takesRunTimeSizes() const override { return true; }
  bool takesDevices() const override { return true; }

  void emit(KernelBuilder &b) const override {
    Operation *anchor = b.group.anchor();
    // The widest type that is computed in decides how many lanes all have.
    Type widest;
    auto consider = [&](Value v) {
      Type type = computeType(elementOf(v));
      widest = widest ? b.decidingLanes(widest, type) : type;
      b.vectorLanes = b.target.maxLanes(widest);
    };
    // Lanes would sum apart from each other.
    if (!b.group.isStrict()) {
      llvm::for_each(anchor->getOperands(), consider);
      llvm::for_each(anchor->getResults(), consider);
    }
    // The result is in the memory of the state.
    if (auto append = dyn_cast<AppendOp>(anchor))
      b.allowInPlace(0, cast<BlockArgument>(append.getState()).getArgNumber());
    cast<BodyOpInterface>(anchor).emitBody(b);
  }
};

} // namespace

std::unique_ptr<Strategy> createBodyStrategy() {
  return std::make_unique<BodyStrategy>();
}

} // namespace ingot::schedule
