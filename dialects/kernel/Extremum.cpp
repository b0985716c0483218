#include "dialects/kernel/Extremum.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

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

bool isNumber(Value value) {
  APFloat number(0.0f);
  return matchPattern(value, m_ConstantFloat(&number)) && !number.isNaN();
}

/// `assumed` contains the loop-carried values under examination, which are
/// assumed never to be NaN.
static bool isNeverNan(Value value, SmallVectorImpl<Value> &assumed) {
  if (isNumber(value) || llvm::is_contained(assumed, value))
    return true;
  if (auto result = dyn_cast<OpResult>(value)) {
    if (auto select = result.getDefiningOp<arith::SelectOp>())
      return isMaximum(select) && isNeverNan(select.getFalseValue(), assumed);
    if (isa<arith::MaxNumFOp, arith::MinNumFOp>(result.getOwner()))
      return llvm::any_of(result.getOwner()->getOperands(),
                          [&](Value x) { return isNeverNan(x, assumed); });
    auto loop = result.getDefiningOp<scf::ForOp>();
    return loop &&
           isNeverNan(loop.getRegionIterArgs()[result.getResultNumber()],
                      assumed);
  }
  auto argument = cast<BlockArgument>(value);
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop || argument.getArgNumber() == 0)
    return false;
  // If the assumption about `value` was wrong, also drop the assumptions that
  // were made while it was examined.
  size_t before = assumed.size();
  assumed.push_back(value);
  bool isNever =
      isNeverNan(loop.getTiedLoopInit(argument)->get(), assumed) &&
      isNeverNan(loop.getTiedLoopYieldedValue(argument)->get(), assumed);
  if (!isNever)
    assumed.truncate(before);
  return isNever;
}

bool isNeverNan(Value value) {
  SmallVector<Value> assumed;
  return isNeverNan(value, assumed);
}

} // namespace ingot::kernel
