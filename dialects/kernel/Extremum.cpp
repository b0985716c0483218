#include "dialects/kernel/Extremum.h"

using namespace mlir;

namespace ingot::kernel {

std::optional<bool> isMaximum(arith::SelectOp select) {
  Operation *compare = select.getCondition().getDefiningOp();
  std::optional<bool> isGreater;
  if (auto floats = dyn_cast_or_null<arith::CmpFOp>(compare)) {
    if (floats.getPredicate() == arith::CmpFPredicate::OGT)
      isGreater = true;
    else if (floats.getPredicate() == arith::CmpFPredicate::OLT)
      isGreater = false;
  } else if (auto integers = dyn_cast_or_null<arith::CmpIOp>(compare)) {
    if (integers.getPredicate() == arith::CmpIPredicate::sgt)
      isGreater = true;
    else if (integers.getPredicate() == arith::CmpIPredicate::slt)
      isGreater = false;
  }
  if (!isGreater)
    return std::nullopt;
  Value left = compare->getOperand(0), right = compare->getOperand(1);
  if (left == select.getTrueValue() && right == select.getFalseValue())
    return *isGreater;
  // `b < a ? a : b` is also a maximum.
  if (left == select.getFalseValue() && right == select.getTrueValue())
    return !*isGreater;
  return std::nullopt;
}

} // namespace ingot::kernel
