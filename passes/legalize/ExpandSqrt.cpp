// Square roots in software.
//
// For targets whose table has no square root. The mantissa's root, digit by
// digit in integers, then rounded to nearest: every bit is as IEEE wants it.
//
//     x = m * 4^e, m an integer of 2 more bits than a root has digits
//     for each digit from the highest: take it if (root + digit)^2 <= m

#include "passes/legalize/Expansions.h"
#include "targets/TargetDescription.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace ingot::legalize {

LogicalResult expandSqrt(math::SqrtOp op, const TargetDescription &target,
                         PatternRewriter &rewriter) {
  Type type = op.getType();
  if (!(type.isF32() || type.isF64()) ||
      target.intrinsic("math.sqrt", type, type))
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  unsigned mantissa = type.isF32() ? 23 : 52, width = type.isF32() ? 32 : 64;
  int64_t bias = type.isF32() ? 127 : 1023;
  Type integer = b.getIntegerType(width);
  auto c = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(integer, value));
  };
  auto f = [&](double value) -> Value {
    return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
  };
  Value x = op.getOperand();

  // Denormals times an even power of two, which is halved at the end.
  int64_t lift = mantissa + 1 + mantissa % 2;
  int64_t half = (lift + 1) / 2;
  Value isSmall =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x,
                            f(std::ldexp(1.0, static_cast<int>(1 - bias))));
  Value lifted = arith::MulFOp::create(
      b, x, f(std::ldexp(1.0, static_cast<int>(2 * half))));
  Value bits = arith::BitcastOp::create(
      b, integer, arith::SelectOp::create(b, isSmall, lifted, x));
  Value lower = arith::SelectOp::create(b, isSmall, c(half), c(0));

  Value exponent = arith::SubIOp::create(
      b, arith::ShRUIOp::create(b, bits, c(mantissa)), c(bias));
  Value digits = arith::OrIOp::create(
      b, arith::AndIOp::create(b, bits, c((int64_t(1) << mantissa) - 1)),
      c(int64_t(1) << mantissa));
  // Doubled once for the guard digit, once more if the exponent is odd.
  Value odd = arith::AndIOp::create(b, exponent, c(1));
  Value rest =
      arith::ShLIOp::create(b, digits, arith::AddIOp::create(b, odd, c(1)));
  Value halved = arith::ShRSIOp::create(b, exponent, c(1));

  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value count = arith::ConstantIndexOp::create(b, mantissa + 2);
  Value one = arith::ConstantIndexOp::create(b, 1);
  auto loop = scf::ForOp::create(
      b, zero, count, one,
      ValueRange{rest, c(0), c(0), c(int64_t(1) << (mantissa + 1))},
      [&](OpBuilder &nested, Location loc, Value, ValueRange state) {
        ImplicitLocOpBuilder b(loc, nested);
        // rest, root so far, twice the root so far, the digit to try.
        Value rest = state[0], root = state[1], twice = state[2];
        Value digit = state[3];
        Value trial = arith::AddIOp::create(b, twice, digit);
        Value fits =
            arith::CmpIOp::create(b, arith::CmpIPredicate::ule, trial, rest);
        Value left = arith::SelectOp::create(
            b, fits, arith::SubIOp::create(b, rest, trial), rest);
        Value newTwice = arith::SelectOp::create(
            b, fits, arith::AddIOp::create(b, trial, digit), twice);
        Value newRoot = arith::SelectOp::create(
            b, fits, arith::AddIOp::create(b, root, digit), root);
        scf::YieldOp::create(
            b, ValueRange{arith::ShLIOp::create(b, left, c(1)), newRoot,
                          newTwice, arith::ShRUIOp::create(b, digit, c(1))});
      });
  // A root is never half way between two floats: the guard digit decides.
  Value root = loop.getResult(1);
  Value rounded =
      arith::AddIOp::create(b, arith::ShRUIOp::create(b, root, c(1)),
                            arith::AndIOp::create(b, root, c(1)));
  // The root has its leading digit at `mantissa`, where it counts as one
  // step of the exponent.
  Value scaled = arith::AddIOp::create(
      b, rounded,
      arith::ShLIOp::create(
          b,
          arith::AddIOp::create(b, arith::SubIOp::create(b, halved, lower),
                                c(bias - 1)),
          c(mantissa)));
  Value result = arith::BitcastOp::create(b, type, scaled);

  // Zeros, infinity and NaN are their own roots; below zero there is none.
  Value positive = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, f(0));
  Value finite =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, f(INFINITY));
  Value negative = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, f(0));
  Value special = arith::SelectOp::create(b, negative, f(NAN), x);
  rewriter.replaceOpWithNewOp<arith::SelectOp>(
      op, arith::AndIOp::create(b, positive, finite), result, special);
  return success();
}
} // namespace ingot::legalize
