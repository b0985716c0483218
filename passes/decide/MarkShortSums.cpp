#include "passes/decide/MarkShortSums.h"

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ShortSums.h"
#include "passes/schedule/tiles/DotForm.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {

void markShortSums(func::FuncOp function, const TargetDescription &target) {
  auto type = IntegerType::get(function.getContext(), 64);
  function.walk([&](Operation *op) {
    if (!isa<ConvOp, MatMulOp>(op) ||
        !elementOf(op->getOperand(0)).isUnsignedInteger(8))
      return;
    ShortSums sums = schedule::shortSumsOf(op, target);
    if (!sums.pairs)
      return;
    op->setAttr(kShortSumsAttr, IntegerAttr::get(type, sums.pairs));
    if (sums.share < 1)
      op->setAttr(
          kShortShareAttr,
          FloatAttr::get(Float64Type::get(type.getContext()), sums.share));
  });
}

} // namespace ingot::decide
