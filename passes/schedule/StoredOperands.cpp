#include "passes/schedule/StoredOperands.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

std::optional<SmallVector<Value>> storedOperands(Value v) {
  ArrayRef<int64_t> shape = shapeOf(v);
  SmallVector<Value> pending{v}, found;
  while (!pending.empty()) {
    Value read = pending.pop_back_val();
    Operation *op = read.getDefiningOp();
    if (isa_and_nonnull<ConstantOp>(op) ||
        tensorType(read).getNumElements() == 1)
      continue;
    if (shapeOf(read) != shape || (op && !isa<ElementwiseOpInterface>(op)))
      return std::nullopt;
    if (op)
      llvm::append_range(pending, op->getOperands());
    else
      found.push_back(read);
  }
  return found;
}

bool readsStored(Operation *op, llvm::function_ref<bool(Operation *)> isFree) {
  auto element = dyn_cast<ElementOpInterface>(op);
  return element && element.isCheap() &&
         llvm::all_of(op->getOperands(), [&](Value read) {
           Operation *before = read.getDefiningOp();
           return !before || isa<ConstantOp>(before) || !before->hasOneUse() ||
                  !isFree(before) || readsStored(before, isFree);
         });
}

} // namespace ingot::schedule
