#include "dialects/kernel/Extremum.h"

using namespace mlir;

namespace ingot::kernel {

std::optional<bool> isMaximum(arith::SelectOp select) {
  auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
  if (!compare)
    return std::nullopt;
  bool isMax = compare.getPredicate() == arith::CmpFPredicate::OGT;
  if (!isMax && compare.getPredicate() != arith::CmpFPredicate::OLT)
    return std::nullopt;
  if (compare.getLhs() == select.getTrueValue() &&
      compare.getRhs() == select.getFalseValue())
    return isMax;
  // `b < a ? a : b` is also a maximum.
  if (compare.getLhs() == select.getFalseValue() &&
      compare.getRhs() == select.getTrueValue())
    return !isMax;
  return std::nullopt;
}

} // namespace ingot::kernel
