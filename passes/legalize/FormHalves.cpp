// Computes in f16 if operands are widened from f16 to f32 and the result is
// rounded to f16 anyway.
//
//     truncf (maximumf (addf (extf %a), (extf %b)), 0)
//       =>  maximumf (addf %a, %b), 0 : f16
//
// This applies to vectors, on targets that have the instructions, if the result
// is the same. It is the same for the sum, difference or product of two f16:
// f32 has more than twice the digits of f16, so rounding to f32 first changes
// nothing. Minimum and maximum return one of their operands, so it makes no
// difference whether the operands or the result are rounded.
//
// Activations that consist of one value, constants, products, quotients and an
// exponential that may be approximate are computed in f16 as well, although the
// result then differs by a few units in the last place:
//
//     truncf (divf (extf %a), (addf (exp (negf (extf %a))), 1))
//       =>  divf %a, (addf (exp (negf %a)), 1) : f16
//
// This is limited to vectors that are wider than the target's vectors of f32.
// A schedule builds them only where an activation may have the precision of f16
// (schedule::roundsToHalves).

#include "dialects/kernel/Extremum.h"
#include "dialects/kernel/KernelDialect.h"
#include "passes/legalize/Passes.h"
#include "passes/legalize/TargetPatterns.h"
#include "passes/legalize/math/ExpandMath.h"
#include "targets/TargetDescription.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace ingot::legalize {
#define GEN_PASS_DEF_FORMHALVES
#include "passes/legalize/Passes.h.inc"

namespace {

/// Builds vectors of type `type` (f16) that are equal to vectors of f32 rounded
/// to f16.
class Halves {
public:
  Halves(const TargetDescription &target, VectorType type)
      : target(target), type(type) {}

  /// Whether the target has f16 instructions for vectors of type `type`.
  bool isPossible() const { return has(arith::AddFOp::getOperationName()); }

  /// Whether `v`, rounded to f16, can be computed in f16 with the same result.
  bool canRound(Value v) const {
    Operation *op = v.getDefiningOp();
    if (isExact(v) || numberOf(v) || (isWide() && canApproximate(v)))
      return true;
    if (isExtremum(op))
      return llvm::all_of(chosen(op), [&](Value x) { return canRound(x); });
    return isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op) &&
           has(op->getName().getStringRef()) &&
           llvm::all_of(op->getOperands(), [&](Value x) { return isExact(x); });
  }

  /// Returns `v` rounded to f16, computed in f16; canRound(v) must hold.
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
  /// Whether a vector of f32 with as many lanes is wider than the target's
  /// vectors.
  bool isWide() const {
    return type.getNumElements() >
           target.maxLanes(Float32Type::get(type.getContext()));
  }

  /// Whether `v` is an activation that can be computed in f16 with an error of a
  /// few units in the last place: a function of exact values and constants, in
  /// which no two values are added that are not constant.
  bool canApproximate(Value v) const {
    Operation *op = v.getDefiningOp();
    if (isExact(v) || numberOf(v))
      return true;
    if (isExtremum(op))
      return llvm::all_of(chosen(op),
                          [&](Value x) { return canApproximate(x); });
    if (!op || !isa<arith::NegFOp, arith::MulFOp, arith::DivFOp, arith::AddFOp,
                    math::ExpOp>(op))
      return false;
    if (isa<arith::AddFOp>(op) && !numberOf(op->getOperand(0)) &&
        !numberOf(op->getOperand(1)))
      return false;
    bool isKnown = isa<math::ExpOp>(op) ? isExpOrZero(op) && expandsInHalves()
                                        : has(op->getName().getStringRef());
    return isKnown && llvm::all_of(op->getOperands(),
                                   [&](Value x) { return canApproximate(x); });
  }
  bool expandsInHalves() const {
    return legalize::expandsInHalves(type, target);
  }

  bool has(StringRef name) const { return target.intrinsic(name, type, type); }

  /// If all lanes of `v` are the same constant, returns this constant;
  /// otherwise nothing.
  static std::optional<APFloat> numberOf(Value v) {
    APFloat number(0.0f);
    auto splat = v.getDefiningOp<vector::BroadcastOp>();
    if (matchPattern(splat ? splat.getSource() : v, m_ConstantFloat(&number)))
      return number;
    return std::nullopt;
  }

  /// Whether all lanes of `v` are exactly representable in f16: `v` is widened
  /// from f16, is a constant that f16 represents exactly, or is a minimum or
  /// maximum of such vectors.
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

  /// Whether `op` returns the greater or the smaller of two vectors, and the
  /// target has an f16 instruction for it. A select can become such an
  /// instruction only if one of its operands is a constant.
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
  /// Returns the two vectors between which the minimum or maximum `op` chooses.
  static SmallVector<Value, 2> chosen(Operation *op) {
    if (auto select = dyn_cast<arith::SelectOp>(op))
      return {select.getTrueValue(), select.getFalseValue()};
    return {op->getOperand(0), op->getOperand(1)};
  }

  const TargetDescription &target;
  VectorType type;
};

/// `op` rounds f32 to f16. Computes its operand in f16 instead of f32, if the
/// target has the instructions and the result is the same or, for activations,
/// precise enough.
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

struct FormHalvesPass : impl::FormHalvesBase<FormHalvesPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    bool hasHalves = llvm::any_of(target.intrinsics, [](const Intrinsic &row) {
      return row.op == "arith.addf" && row.operand == "f16x8";
    });
    if (!hasHalves)
      return;
    RewritePatternSet patterns(&getContext());
    addForTarget(patterns, target, formHalves);
    FrozenRewritePatternSet frozen(std::move(patterns));
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    for (Operation &op : getOperation().getOps())
      if (isa<kernel::FuncOp, func::FuncOp>(op) &&
          failed(applyPatternsGreedily(&op, frozen, config)))
        return signalPassFailure();
  }
};

} // namespace

} // namespace ingot::legalize
