// Computes square roots in software.
//
// This is for targets whose intrinsics table has no square root. The root of
// the mantissa is computed digit by digit in integers and rounded to nearest,
// so the result is correctly rounded (IEEE 754).
//
//     x = m * 4^e, with m in [1, 4); the root of m has one binary digit before
//     the point
//     for each digit, from the highest: set it if (root + digit)^2 <= m

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

  // Denormals are multiplied by a power of two with an even exponent; half of
  // this exponent is subtracted from the exponent of the root.
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
  // Shift the mantissa left by one bit for the guard digit of the root, and by
  // one more if the exponent is odd.
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
        // The values that the loop carries: the remainder, the root so far,
        // twice the root so far, and the digit to try.
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
  // A root is never a tie between two floats, so the guard digit decides the
  // rounding.
  Value root = loop.getResult(1);
  Value rounded =
      arith::AddIOp::create(b, arith::ShRUIOp::create(b, root, c(1)),
                            arith::AndIOp::create(b, root, c(1)));
  // The leading digit of the root is at bit `mantissa`, the lowest bit of the
  // exponent: adding it increments the exponent by one, so bias - 1 is added.
  Value scaled = arith::AddIOp::create(
      b, rounded,
      arith::ShLIOp::create(
          b,
          arith::AddIOp::create(b, arith::SubIOp::create(b, halved, lower),
                                c(bias - 1)),
          c(mantissa)));
  Value result = arith::BitcastOp::create(b, type, scaled);

  // Zeros, infinity and NaN are returned unchanged; negative numbers give NaN.
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
