#include "passes/decide/NeededDigits.h"

#include "dialects/graph/GraphDialect.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {

bool movesElements(Operation *op) {
  return isa<TransposeOp, ReshapeOp, RefillOp, SliceOp, ConcatOp, PadOp,
             ExpandOp, TileOp, GatherOp, MaxPoolOp>(op);
}

bool needsDigits(Operation *op) {
  if (isa<SinOp, CosOp, TanOp>(op))
    return true;
  return isa<CastOp, QuantizeOp>(op) &&
         !isa<FloatType>(elementOf(op->getResult(0)));
}

llvm::SetVector<Value> valuesWithDigits(Operation *root) {
  llvm::SetVector<Value> values;
  auto addOperands = [&](Operation *op) {
    for (Value operand : op->getOperands())
      if (isa<FloatType>(elementOf(operand)))
        values.insert(operand);
  };
  root->walk([&](Operation *op) {
    if (needsDigits(op) && !isa<QuantizeOp>(op))
      addOperands(op);
  });
  for (size_t i = 0; i < values.size(); ++i)
    if (Operation *op = values[i].getDefiningOp();
        op && (isa<ElementwiseOpInterface>(op) || movesElements(op)))
      addOperands(op);
  return values;
}

} // namespace ingot::decide
