#include "passes/simplify/Moves.h"

#include "dialects/graph/GraphDialect.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {

Moves Moves::behind(Value read) {
  Moves result{read, {}};
  while (isa_and_nonnull<TransposeOp, ReshapeOp>(result.from.getDefiningOp())) {
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
