#include "passes/decide/KnownValues.h"

#include "dialects/graph/GraphDialect.h"

using namespace mlir;

namespace ingot::decide {

bool isKnown(Value v) {
  Operation *op = v.getDefiningOp();
  while (op && !isa<graph::ConstantOp>(op) && op->getNumOperands() == 1)
    op = op->getOperand(0).getDefiningOp();
  return isa_and_nonnull<graph::ConstantOp>(op);
}

} // namespace ingot::decide
