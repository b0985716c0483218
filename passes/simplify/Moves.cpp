#include "passes/simplify/Moves.h"

#include "dialects/graph/GraphDialect.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {

/// Whether `op` is a slice of the last axis only.
static bool isOfRows(Operation *op) {
  auto slice = dyn_cast<SliceOp>(op);
  return slice && !dimsOf(slice.getX()).empty() &&
         ArrayRef(dimsOf(slice.getX())).drop_back() ==
             ArrayRef(dimsOf(slice.getResult())).drop_back();
}

Moves Moves::behind(Value read, bool withSlices) {
  Moves result{read, {}};
  while (Operation *op = result.from.getDefiningOp()) {
    if (!isa<TransposeOp, ReshapeOp>(op) && !(withSlices && isOfRows(op)))
      break;
    result.path.push_back(result.from.getDefiningOp());
    result.from = result.path.back()->getOperand(0);
  }
  return result;
}

Value Moves::repeat(Value value) const {
  Type element = elementOf(value);
  for (Operation *move : llvm::reverse(path)) {
    OpBuilder builder(move);
    Operation *copy = builder.clone(*move);
    copy->setOperand(0, value);
    value = copy->getResult(0);
    value.setType(tensorOf(dimsOf(value), element));
  }
  return value;
}

} // namespace ingot::simplify
