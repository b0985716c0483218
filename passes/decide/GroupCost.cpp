

#include "passes/decide/GroupCost.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {

int64_t multiplyAddsOf(Operation *op) {
  auto elements = [](Value v) { return tensorType(v).getNumElements(); };
  // Products without elements have none, and no sizes to divide by.
  if (op->getNumResults() != 1 || elements(op->getResult(0)) == 0)
    return 0;
  if (auto conv = dyn_cast<ConvOp>(op))
    return elements(conv.getResult()) *
           (elements(conv.getW()) / shapeOf(conv.getW()).back());
  if (auto conv = dyn_cast<ConvTransposeOp>(op))
    return elements(conv.getX()) /
           std::max<int64_t>(shapeOf(conv.getX()).back(), 1) *
           elements(conv.getW());
  if (auto product = dyn_cast<MatMulOp>(op))
    return elements(product.getResult()) * shapeOf(product.getA()).back();
  return 0;
}

int64_t multiplyAddsOf(GroupOp group) {
  int64_t sum = 0;
  for (Operation &op : group.getBody().front().without_terminator())
    sum += multiplyAddsOf(&op);
  return sum;
}

int64_t workOf(GroupOp group) {
  int64_t sum = multiplyAddsOf(group);
  for (Operation &op : group.getBody().front().without_terminator())
    if (!isa<ConstantOp, UnpackPanelsOp>(op))
      for (Value result : op.getResults())
        sum += tensorType(result).getNumElements();
  return sum;
}

} // namespace ingot::decide
