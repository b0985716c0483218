// Strategy for operators that emit their own loops: a group of one operator
// that defines its results as a whole (BodyOpInterface).

#include "passes/schedule/Strategy.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class BodyStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    Operation *anchor = group.anchor();
    return anchor && isa<BodyOpInterface>(anchor) &&
           group.results() == anchor->getResults();
  }

  bool takesDynamicSizes() const override { return true; }

  void emit(KernelBuilder &b) const override {
    Operation *anchor = b.group.anchor();
    // Together, the compute types of the operands and results determine the
    // number of lanes of all vectors (decidingLanes).
    Type widest;
    auto consider = [&](Value v) {
      Type type = computeType(elementOf(v));
      widest = widest ? b.decidingLanes(widest, type) : type;
      b.vectorLanes = b.target.maxLanes(widest);
    };
    // In strict mode nothing is vectorized, as lanes would change the order of
    // the terms of sums.
    if (!b.group.isStrict()) {
      llvm::for_each(anchor->getOperands(), consider);
      llvm::for_each(anchor->getResults(), consider);
    }
    // The result of an append or shift overwrites its state operand in place.
    if (anchor->hasTrait<InPlace>())
      b.allowInPlace(0,
                     cast<BlockArgument>(anchor->getOperand(0)).getArgNumber());
    cast<BodyOpInterface>(anchor).emitBody(b);
  }
};

} // namespace

std::unique_ptr<Strategy> createBodyStrategy() {
  return std::make_unique<BodyStrategy>();
}

} // namespace ingot::schedule
