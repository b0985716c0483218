// Expands operations of the math dialect into arithmetic.
//
//   %y = math.exp %x : vector<16xf32>
//     ->
//   some fifteen arith operations on vector<16xf32>
//
// This file maps each operation to its expansion; the expansions are in
// ExpandMath<Family>.cpp. They are the same for every target, call no library,
// and have no branches, except that remf is a loop and that the reduction of
// large angles is conditional.

#include "passes/legalize/math/ExpandMath.h"

#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/Strict.h"
#include "dialects/kernel/ValueNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/legalize/Passes.h"
#include "passes/legalize/math/ExpandMathFunctions.h"
#include "passes/legalize/math/MathNum.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ingot::legalize {
#define GEN_PASS_DEF_EXPANDMATH
#include "passes/legalize/Passes.h.inc"

/// Expands x^y. For the constant exponents 1, 2, 3, 4, -1 and 0.5, builds
/// products, 1 / x or sqrt(x); for other exponents, uses expandPow.
static Num expandPowOrProduct(Num x, Num y) {
  DenseElementsAttr splat;
  FloatAttr scalar;
  std::optional<double> known;
  if (matchPattern(y.v, m_Constant(&scalar)))
    known = scalar.getValueAsDouble();
  else if (matchPattern(y.v, m_Constant(&splat)) && splat.isSplat())
    known = splat.getSplatValue<FloatAttr>().getValueAsDouble();
  if (known == 1)
    return x;
  if (known == 2)
    return x * x;
  if (known == 3)
    return x * x * x;
  if (known == 4)
    return (x * x) * (x * x);
  if (known == -1)
    return 1 / x;
  // x^0.5 equals sqrt(x), except for -0 and -infinity.
  if (known == 0.5)
    return select(equal(x, -std::numeric_limits<double>::infinity()),
                  x.b->infinity(), sqrt(x + 0.0));
  return expandPow(x, y);
}

/// Returns the function that expands `op`, a math operation on one float; null
/// if there is none.
using Unary = Num (*)(Num);
static Unary unaryExpansion(Operation *op) {
  return TypeSwitch<Operation *, Unary>(op)
      .Case([](math::ExpOp) -> Unary {
        return [](Num x) { return expandExp(x); };
      })
      .Case([](math::Exp2Op) { return expandExp2; })
      .Case([](math::ExpM1Op) { return expandExpm1; })
      .Case([](math::LogOp) { return expandLog; })
      .Case([](math::Log2Op) { return expandLog2; })
      .Case([](math::Log10Op) { return expandLog10; })
      .Case([](math::Log1pOp) { return expandLog1p; })
      .Case([](math::SinOp) { return expandSin; })
      .Case([](math::CosOp) { return expandCos; })
      .Case([](math::TanOp) { return expandTan; })
      .Case([](math::AsinOp) { return expandAsin; })
      .Case([](math::AcosOp) { return expandAcos; })
      .Case([](math::AtanOp) { return expandAtan; })
      .Case([](math::SinhOp) { return expandSinh; })
      .Case([](math::CoshOp) { return expandCosh; })
      .Case([](math::TanhOp) { return expandTanh; })
      .Case([](math::AsinhOp) { return expandAsinh; })
      .Case([](math::AcoshOp) { return expandAcosh; })
      .Case([](math::AtanhOp) { return expandAtanh; })
      .Case([](math::ErfOp) { return expandErf; })
      .Case([](math::ErfcOp) { return expandErfc; })
      .Case([](math::CbrtOp) { return expandCbrt; })
      .Case([](math::RsqrtOp) { return expandRsqrt; })
      .Case([](math::FloorOp) { return expandFloor; })
      .Case([](math::CeilOp) { return expandCeil; })
      .Case([](math::RoundOp) { return expandRound; })
      .Case([](math::RoundEvenOp) { return expandRoundEven; })
      .Case([](math::TruncOp) { return expandTrunc; })
      .Case([](math::SqrtOp) { return sqrt; }) // Only for f16 and narrower.
      .Case([](math::AbsFOp) { return static_cast<Unary>(abs); })
      .Case([](math::IsNaNOp) { return isNaN; })
      .Case([](math::IsInfOp) -> Unary {
        return [](Num x) {
          return equal(abs(x), std::numeric_limits<double>::infinity());
        };
      })
      .Case([](math::IsFiniteOp) -> Unary {
        return [](Num x) {
          return abs(x) < std::numeric_limits<double>::infinity();
        };
      })
      .Case([](math::IsNormalOp) -> Unary {
        return [](Num x) {
          Num a = abs(x);
          return (a >= x.b->pick(0x1p-126, 0x1p-1022)) &
                 (a < std::numeric_limits<double>::infinity());
        };
      })
      .Default([](Operation *) -> Unary { return nullptr; });
}

/// Returns the function that expands `op`, an operation on two floats; null if
/// there is none.
using Binary = Num (*)(Num, Num);
static Binary binaryExpansion(Operation *op) {
  return TypeSwitch<Operation *, Binary>(op)
      .Case([](math::PowFOp) { return expandPowOrProduct; })
      .Case([](math::Atan2Op) { return expandAtan2; })
      .Case([](math::CopySignOp) { return expandCopySign; })
      .Case([](arith::RemFOp) { return expandRemainder; })
      .Default([](Operation *) -> Binary { return nullptr; });
}

/// Returns the function that expands `op`, a math operation on one integer;
/// null if there is none.
static Unary integerExpansion(Operation *op) {
  return TypeSwitch<Operation *, Unary>(op)
      .Case([](math::CtPopOp) { return expandPopulation; })
      .Case([](math::CountLeadingZerosOp) { return expandLeadingZeros; })
      .Case([](math::CountTrailingZerosOp) { return expandTrailingZeros; })
      .Case([](math::AbsIOp) -> Unary {
        return [](Num x) { return select(x < 0, -x, x); };
      })
      .Default([](Operation *) -> Unary { return nullptr; });
}

template <typename Op> static bool isApproximated(Operation *op) {
  auto function = dyn_cast<Op>(op);
  return function && arith::bitEnumContainsAll(function.getFastmath(),
                                               arith::FastMathFlags::afn);
}

bool isExpOrZero(Operation *op) { return isApproximated<math::ExpOp>(op); }

bool expandsInHalves(Type type, const TargetDescription &target) {
  return getElementTypeOrSelf(type).isF16() &&
         target.intrinsic(vector::FMAOp::getOperationName(), type, type);
}

bool isByExp2(Operation *op, const TargetDescription &target) {
  auto kernel = op->getParentOfType<kernel::FuncOp>();
  Type f32 = Float32Type::get(op->getContext()),
       type = isExpOrZero(op) || isApproximated<math::ErfOp>(op)
                  ? op->getResult(0).getType()
                  : Type();
  return type && (type.isF32() || type.isF16() || type.isBF16()) && kernel &&
         kernel.getThreads() &&
         target.intrinsic(kernel::Exp2Op::getOperationName(), f32, f32) &&
         !kernel::isStrict(kernel);
}

/// Allows an error of two units in the last place in quotients by 1 + e^x
/// (sigmoid and others), where `power` is e^x computed by kernel.exp2.
static void approximateQuotients(Value power) {
  for (Operation *user : power.getUsers()) {
    auto sum = dyn_cast<arith::AddFOp>(user);
    if (!sum)
      continue;
    for (Operation *reader : sum->getUsers())
      if (auto quotient = dyn_cast<arith::DivFOp>(reader);
          quotient && quotient.getRhs() == sum)
        quotient.setFastmath(arith::FastMathFlags::arcp);
  }
}

/// Returns the type in which a math function of type `type` is computed: f32
/// instead of f16 and narrower floats, otherwise `type`.
static Type computeType(Type type, OpBuilder &builder) {
  if (getElementTypeOrSelf(type).getIntOrFloatBitWidth() >= 32)
    return type;
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(builder.getF32Type());
  return builder.getF32Type();
}

static bool isNarrow(Operation *op) {
  auto type =
      dyn_cast<FloatType>(getElementTypeOrSelf(op->getOperandTypes().front()));
  return type && type.getWidth() < 32;
}

/// Returns the values that replace the results of `op`; empty if it has no
/// expansion.
static SmallVector<Value> expand(Operation *op, OpBuilder &builder,
                                 const TargetDescription &target) {
  Location loc = kernel::unnamed(op->getLoc());
  if (Unary integer = integerExpansion(op)) {
    MathBuilder b(builder, loc,
                  builder.getF32Type()); // The float type is not used.
    return {integer(b.wrap(op->getOperand(0))).v};
  }
  if (auto pow = dyn_cast<math::IPowIOp>(op))
    return {expandIPow(builder, loc, pow.getLhs(), pow.getRhs())};

  Unary unary = unaryExpansion(op);
  Binary binary = binaryExpansion(op);
  if (!unary && !binary &&
      !isa<math::FmaOp, math::ClampFOp, math::SincosOp, math::FPowIOp>(op))
    return {};
  Type type = op->getOperand(0).getType();
  Type compute = isExpOrZero(op) && expandsInHalves(type, target)
                     ? type
                     : computeType(type, builder);
  MathBuilder b(builder, loc, compute);
  Type f32 = builder.getF32Type();
  b.mayApproximate = target.intrinsic("arith.divf[arcp]", f32, f32) &&
                     !b.isDouble() && !kernel::isStrict(op);
  Type element = getElementTypeOrSelf(type);
  b.isOfHalf = element.getIntOrFloatBitWidth() <= 16 && !element.isBF16();
  SmallVector<Num> operands;
  for (Value operand : op->getOperands()) {
    if (operand.getType() == type && type != compute)
      operand = arith::ExtFOp::create(builder, loc, compute, operand);
    operands.push_back(b.wrap(operand));
  }
  SmallVector<Num> results;
  if (isByExp2(op, target))
    results = {isa<math::ErfOp>(op) ? expandErfByExp2(operands[0])
                                    : expandExpByExp2(operands[0])};
  else if (isExpOrZero(op))
    results = {expandExpOrZero(operands[0])};
  else if (unary)
    results = {unary(operands[0])};
  else if (binary)
    results = {binary(operands[0], operands[1])};
  else if (isa<math::FmaOp>(op))
    results = {fma(operands[0], operands[1], operands[2])};
  else if (isa<math::SincosOp>(op))
    results = {expandSin(operands[0]), expandCos(operands[0])};
  else if (isa<math::FPowIOp>(op))
    results = {b.wrap(expandFPowI(builder, loc, operands[0].v, operands[1].v))};
  else
    results = {
        expandMinimum(expandMaximum(operands[0], operands[1]), operands[2])};
  SmallVector<Value> values;
  for (auto [result, old] : llvm::zip_equal(results, op->getResults())) {
    bool narrow = result.v.getType() != old.getType();
    values.push_back(
        narrow ? arith::TruncFOp::create(builder, loc, old.getType(), result.v)
                     .getResult()
               : result.v);
  }
  return values;
}

LogicalResult expandMath(Operation *root, const TargetDescription &target) {
  SmallVector<Operation *> work;
  root->walk([&](Operation *op) {
    if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) &&
        !binaryExpansion(op))
      return;
    bool isSpelled = target.intrinsic(op->getName().getStringRef(),
                                      op->getOperand(0).getType(),
                                      op->getResult(0).getType());
    if (!isSpelled && (!isa<math::SqrtOp>(op) || isNarrow(op)))
      work.push_back(op);
  });
  for (Operation *op : work) {
    OpBuilder builder(op);
    SmallVector<Value> values = expand(op, builder, target);
    if (values.empty())
      return op->emitError("has no expansion to arithmetic");
    if (isExpOrZero(op) && isByExp2(op, target))
      approximateQuotients(op->getResult(0));
    kernel::KeepNames().notifyOperationReplaced(op, values);
    op->replaceAllUsesWith(values);
    op->erase();
  }
  return success();
}

namespace {
struct ExpandMathPass : impl::ExpandMathBase<ExpandMathPass> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(expandMath(getOperation(), *lookupTarget(targetName))))
      signalPassFailure();
  }
};
} // namespace

} // namespace ingot::legalize
