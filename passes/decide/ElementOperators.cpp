#include "passes/decide/ElementOperators.h"

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {

bool ElementOperators::enter(Operation *op) {
  if (!isa<ElementwiseOpInterface>(op) || shapeOf(op->getResult(0)) != shape)
    return false;
  for (Value operand : op->getOperands()) {
    if (operand.getDefiningOp<ConstantOp>() &&
        tensorType(operand).getNumElements() == 1)
      continue;
    if (shapeOf(operand) != shape)
      return false;
    open.insert(operand);
  }
  operators.insert(op);
  return true;
}

bool ElementOperators::enterNext(llvm::function_ref<bool(Operation *)> takes) {
  Value next = *llvm::max_element(open, [](Value a, Value b) {
    Operation *opA = a.getDefiningOp(), *opB = b.getDefiningOp();
    return opB && (!opA || opA->isBeforeInBlock(opB));
  });
  open.remove(next);
  Operation *op = next.getDefiningOp();
  return op && operators.size() < most && takes(op) && enter(op);
}

SmallVector<Operation *> ElementOperators::copyFor(OpBuilder &builder,
                                                   Value operand,
                                                   Value samples) const {
  IRMapping mapping;
  mapping.map(operand, samples);
  auto ordered = llvm::to_vector(operators);
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  SmallVector<Operation *> copies;
  for (Operation *op : ordered) {
    Operation *copy = copies.emplace_back(builder.clone(*op, mapping));
    copy->getResult(0).setType(
        RankedTensorType::get(shapeOf(samples), elementOf(op->getResult(0))));
  }
  return copies;
}

} // namespace ingot::decide
