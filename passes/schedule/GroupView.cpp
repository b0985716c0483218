#include "passes/schedule/GroupView.h"

#include "dialects/kernel/Strict.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

Operation *GroupView::anchor() const {
  Operation *found = nullptr;
  for (Operation &op : block->without_terminator()) {
    if (isa<ConstantOp>(op))
      continue;
    if (auto element = dyn_cast<ElementOpInterface>(op);
        element && element.isCheap())
      continue;
    if (found)
      return nullptr;
    found = &op;
  }
  return found;
}

bool GroupView::isElementwise() const {
  return llvm::all_of(block->without_terminator(), [](Operation &op) {
    return isa<ElementwiseOpInterface, ConstantOp>(op);
  });
}

bool GroupView::hasDynamicSizes() const {
  return llvm::any_of(
      *block, [](Operation &op) { return graph::hasDynamicSizes(&op); });
}

bool GroupView::isStrict() const {
  return kernel::isStrict(block->getParentOp());
}

} // namespace ingot::schedule
