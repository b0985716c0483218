#include "passes/schedule/GroupCost.h"

#include "dialects/graph/ElementsData.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

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
  if (auto product = dyn_cast<NarrowMatMulOp>(op))
    return elements(product.getResult()) * shapeOf(product.getA()).back();
  return 0;
}

int64_t multiplyAddsOf(GroupView group) {
  int64_t sum = 0;
  for (Operation &op : group.block->without_terminator())
    sum += multiplyAddsOf(&op);
  return sum;
}

int64_t workOf(GroupView group) {
  int64_t sum = multiplyAddsOf(group);
  for (Operation &op : group.block->without_terminator())
    if (!isa<ConstantOp, UnpackPanelsOp, RestoreKernelOp>(op))
      for (Value result : op.getResults())
        sum += tensorType(result).getNumElements();
  return sum;
}

/// Counts the bytes of what a group reads and writes, each tensor once.
static int64_t bytesMoved(GroupView group) {
  SetVector<Value> moved;
  for (Operation &op : *group.block)
    for (Value operand : op.getOperands())
      if (operand.getParentBlock() != group.block ||
          isa<BlockArgument>(operand) || operand.getDefiningOp<ConstantOp>() ||
          op.hasTrait<OpTrait::IsTerminator>())
        moved.insert(operand);
  int64_t bytes = 0;
  for (Value value : moved)
    bytes +=
        tensorType(value).getNumElements() * bytesPerElement(elementOf(value));
  return bytes;
}

int64_t cyclesOf(GroupView group, const TargetDescription &target) {
  auto single = Float32Type::get(group.block->getParentOp()->getContext());
  // Instructions for each element, or vector of them: arithmetic, the maximum of
  // a window, and functions such as exp.
  constexpr int64_t plain = 1, window = 2, function = 20;
  int64_t instructions = multiplyAddsOf(group);
  for (Operation &op : group.block->without_terminator()) {
    if (isa<ConstantOp, UnpackPanelsOp, RestoreKernelOp>(op) ||
        multiplyAddsOf(&op) > 0)
      continue;
    int64_t elements = 0;
    for (Value value : llvm::concat<Value>(op.getOperands(), op.getResults()))
      elements =
          std::max<int64_t>(elements, tensorType(value).getNumElements());
    bool isPlain =
        isa<AddOp, SubOp, MulOp, ReluOp, CastOp, ReshapeOp, RefillOp,
            TransposeOp, SliceOp, ConcatOp, ReductionOpInterface>(op);
    bool isWindow = isa<MaxPoolOp, AveragePoolOp>(op);
    instructions += elements * (isPlain ? plain : isWindow ? window : function);
  }
  return static_cast<int64_t>(
      double(instructions) /
          (target.rates.multiplyAdds * double(target.maxLanes(single))) +
      double(bytesMoved(group)) / target.rates.cacheBytes);
}

bool paysToFork(GroupView group, const TargetDescription &target) {
  // One thread of a device is slow.
  if (target.isDevice())
    return true;
  // A second thread saves half of the time at most.
  return !target.freestanding &&
         cyclesOf(group, target) / 2 > target.forkCycles;
}

} // namespace ingot::schedule
