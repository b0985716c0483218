// Computes in f16 what would be computed in f32 and rounded to f16.
//
//     truncf (maximumf (addf (extf %a), (extf %b)), 0)
//       =>  maximumf (addf %a, %b), 0 : f16
//
// Only for vectors, on targets that have the instructions, and only where the
// result is the same. Sums, differences and products of two f16 are: f32 has
// more than twice the digits of f16, so that a second rounding changes nothing.
// Maxima and minima return an operand, so rounding may come before or after.

#include "passes/legalize/FormHalves.h"

#include "dialects/kernel/Extremum.h"
#include "targets/TargetDescription.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace ingot::legalize {

namespace {

/// The equivalents in f16 of vectors of f32.
class Halves {
public:
  Halves(const TargetDescription &target, VectorType type)
      : target(target), type(type) {}

  /// Whether the target computes with vectors of f16 of this size.
  bool isPossible() const { return has(arith::AddFOp::getOperationName()); }

  /// Whether `v` can be rounded to f16 without computing it in f32.
  bool canRound(Value v) const {
    Operation *op = v.getDefiningOp();
    if (isExact(v) || numberOf(v))
      return true;
    if (isExtremum(op))
      return llvm::all_of(chosen(op), [&](Value x) { return canRound(x); });
    return isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op) &&
           has(op->getName().getStringRef()) &&
           llvm::all_of(op->getOperands(), [&](Value x) { return isExact(x); });
  }

  /// Returns `v`, for which canRound() holds, rounded to f16.
  Value rounded(Value v, OpBuilder &b) const {
    Operation *op = v.getDefiningOp();
    Location loc = op->getLoc();
    if (auto widening = dyn_cast<arith::ExtFOp>(op))
      return widening.getIn();
    if (std::optional<APFloat> number = numberOf(v)) {
      bool isRounded = false;
      number->convert(APFloat::IEEEhalf(), APFloat::rmNearestTiesToEven,
                      &isRounded);
      return arith::ConstantOp::create(b, loc,
                                       DenseElementsAttr::get(type, *number));
    }
    if (auto splat = dyn_cast<vector::BroadcastOp>(op))
      return vector::BroadcastOp::create(
          b, loc, type,
          splat.getSource().getDefiningOp<arith::ExtFOp>().getIn());
    if (auto select = dyn_cast<arith::SelectOp>(op)) {
      Value x = rounded(select.getTrueValue(), b),
            y = rounded(select.getFalseValue(), b);
      auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
      bool inOrder = compare.getLhs() == select.getTrueValue();
      Value condition = arith::CmpFOp::create(b, loc, compare.getPredicate(),
                                              inOrder ? x : y, inOrder ? y : x);
      return arith::SelectOp::create(b, loc, condition, x, y);
    }
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(rounded(operand, b));
    OperationState state(loc, op->getName(), operands, {type}, op->getAttrs());
    return b.create(state)->getResult(0);
  }

private:
  bool has(StringRef name) const { return target.intrinsic(name, type, type); }

  /// Returns the number in all lanes of `v`; nothing if it is not constant.
  static std::optional<APFloat> numberOf(Value v) {
    APFloat number(0.0f);
    auto splat = v.getDefiningOp<vector::BroadcastOp>();
    if (matchPattern(splat ? splat.getSource() : v, m_ConstantFloat(&number)))
      return number;
    return std::nullopt;
  }

  /// Whether all lanes of `v` are f16 that were widened.
  bool isExact(Value v) const {
    Operation *op = v.getDefiningOp();
    if (auto widening = dyn_cast_or_null<arith::ExtFOp>(op))
      return widening.getIn().getType() == type;
    if (std::optional<APFloat> number = numberOf(v)) {
      bool isRounded = false;
      number->convert(APFloat::IEEEhalf(), APFloat::rmNearestTiesToEven,
                      &isRounded);
      return !isRounded;
    }
    if (auto splat = dyn_cast_or_null<vector::BroadcastOp>(op)) {
      auto widening = splat.getSource().getDefiningOp<arith::ExtFOp>();
      return widening && widening.getIn().getType().isF16();
    }
    return isExtremum(op) &&
           llvm::all_of(chosen(op), [&](Value x) { return isExact(x); });
  }

  /// Whether the operation returns the greater or the smaller of two vectors,
  /// and the target has the instruction for f16. For a select it has one if an
  /// operand is a number.
  bool isExtremum(Operation *op) const {
    if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
      return kernel::isMaximum(select) &&
             (numberOf(select.getTrueValue()) ||
              numberOf(select.getFalseValue())) &&
             has(arith::MaximumFOp::getOperationName()) &&
             has(arith::MaxNumFOp::getOperationName());
    return isa_and_nonnull<arith::MaximumFOp, arith::MinimumFOp,
                           arith::MaxNumFOp, arith::MinNumFOp>(op) &&
           has(op->getName().getStringRef());
  }
  /// Returns the two vectors from which an extremum chooses.
  static SmallVector<Value, 2> chosen(Operation *op) {
    if (auto select = dyn_cast<arith::SelectOp>(op))
      return {select.getTrueValue(), select.getFalseValue()};
    return {op->getOperand(0), op->getOperand(1)};
  }

  const TargetDescription &target;
  VectorType type;
};

} // namespace

LogicalResult formHalves(arith::TruncFOp op, const TargetDescription &target,
                         PatternRewriter &rewriter) {
  auto type = dyn_cast<VectorType>(op.getType());
  Value x = op.getIn();
  if (!type || !type.getElementType().isF16() ||
      !getElementTypeOrSelf(x.getType()).isF32() ||
      isa_and_nonnull<arith::ExtFOp, arith::ConstantOp, vector::BroadcastOp>(
          x.getDefiningOp()))
    return failure();
  Halves halves(target, type);
  if (!halves.isPossible() || !halves.canRound(x))
    return failure();
  rewriter.replaceOp(op, halves.rounded(x, rewriter));
  return success();
}

} // namespace ingot::legalize
