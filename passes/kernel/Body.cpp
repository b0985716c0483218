//===- Body.cpp - operators that write themselves -------------------------===//
//
// A group of one operator that defines its results as a whole.
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/Strategy.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::kernel {
namespace {

class BodyStrategy : public Strategy {
public:
  StringRef name() const override { return "body"; }

  bool matches(GroupView group, const TargetDescription &) const override {
    Operation *anchor = group.anchor();
    return anchor && isa<BodyOpInterface>(anchor) && group.results() == anchor->getResults();
  }

  void emit(KernelBuilder &b) const override { cast<BodyOpInterface>(b.group.anchor()).emitBody(b); }
};

} // namespace

std::unique_ptr<Strategy> createBodyStrategy() { return std::make_unique<BodyStrategy>(); }

} // namespace ingot::kernel
