// Expands rounding to integers, remainders, minimum and maximum.
//
// Rounding works in floats: adding and then subtracting 2^23 (f64: 2^52) rounds
// a magnitude to the nearest integer. For other roundings, such as floor, the
// nearest integer is compared with the operand and, if necessary, corrected by
// one. This avoids conversions to integers, whose overflow is undefined in C++.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/legalize/math/ExpandMathFunctions.h"
#include "passes/legalize/math/MathNum.h"

using namespace mlir;

namespace ingot::legalize {

static double fractionless(Num x) { return x.b->pick(0x1p23, 0x1p52); }

/// Returns the integer nearest to `magnitude`, which must be below
/// fractionless(): 2^23 (f64: 2^52).
static Num nearestMagnitude(Num magnitude) {
  return (magnitude + fractionless(magnitude)) - fractionless(magnitude);
}

/// Returns `rounded` with the sign of `x`, even if `rounded` is 0. Returns `x`
/// itself if `magnitude` is at least fractionless(), since `x` is an integer
/// then.
static Num finishRounding(Num x, Num magnitude, Num rounded) {
  return select(magnitude < fractionless(x), withSign(rounded, signOf(x)), x);
}

Num expandRoundEven(Num x) {
  Num magnitude = named(abs(x), "magnitude");
  return finishRounding(x, magnitude, nearestMagnitude(magnitude));
}

Num expandTrunc(Num x) {
  Num magnitude = named(abs(x), "magnitude");
  Num rounded = named(nearestMagnitude(magnitude), "rounded");
  return finishRounding(x, magnitude,
                        select(rounded > magnitude, rounded - 1, rounded));
}

Num expandRound(Num x) {
  Num magnitude = named(abs(x), "magnitude");
  Num rounded = named(nearestMagnitude(magnitude), "rounded");
  // The result differs from roundeven only for ties that were rounded down to
  // an even number.
  return finishRounding(
      x, magnitude,
      select(equal(magnitude - rounded, 0.5), rounded + 1, rounded));
}

Num expandFloor(Num x) {
  Num rounded = named(expandRoundEven(x), "rounded");
  return select(rounded > x, rounded - 1, rounded);
}

Num expandCeil(Num x) {
  Num rounded = named(expandRoundEven(x), "rounded");
  // ceil(-0.7) is -0.
  return withSign(select(rounded < x, rounded + 1, rounded), signOf(x));
}

Num expandCopySign(Num magnitude, Num sign) {
  return withSign(abs(magnitude), signOf(sign));
}

Num expandMaximum(Num x, Num y) {
  return select(isNaN(x), x, select(x > y, x, y));
}
Num expandMinimum(Num x, Num y) {
  return select(isNaN(x), x, select(x < y, x, y));
}

/// Computes x - q y for 0 <= x, 0 < y and q = trunc(x / y) < 2^23 (f64: 2^52).
/// The result is exact: q and y are split into halves whose products are exact,
/// and each difference fits the mantissa.
static Num remainderStep(Num x, Num y) {
  Num q = named(expandTrunc(x / y), "q");
  Num qHigh = named(upperHalf(q), "q_high"), qLow = named(q - qHigh, "q_low");
  Num yHigh = named(upperHalf(y), "y_high"), yLow = named(y - yHigh, "y_low");
  Num r = named(((x - qHigh * yHigh) - qHigh * yLow) - qLow * yHigh, "r");
  r = r - qLow * yLow;
  // The rounded quotient may be one too large.
  return select(r < 0, r + y, r);
}

/// Returns the biased exponent of `x` as an integer; for denormals, the result
/// is less than 1.
static Num exponentOf(Num x) {
  MathBuilder &b = *x.b;
  Num denormal = named(x < b.pick(0x1p-126, 0x1p-1022), "denormal");
  Num bits =
      named(bitsOf(select(denormal, x * b.pick(0x1p24, 0x1p54), x)), "bits");
  Num exponent = named(bits >> b.mantissaBits(), "exponent");
  return select(denormal, exponent - b.pick(24.0, 54.0), exponent);
}

/// Returns y * 2^n with the least n >= 0 for which x / (y * 2^n) is less than
/// about 2^20 (f64: 2^48), so that one remainderStep subtracts about 20 (f64:
/// 48) bits of the quotient.
static Num alignDivisor(Num x, Num y) {
  MathBuilder &b = *x.b;
  Num gap = named((exponentOf(x) - exponentOf(y)) - b.pick(20.0, 48.0), "gap");
  gap = select(gap > 0, gap, 0);
  // Multiply by four factors, since a single power of two could overflow.
  Num part = named(gap >> 2, "part");
  auto power = [&](Num exponent) {
    return fromBits((exponent + b.bias()) << b.mantissaBits());
  };
  Num small = named(power(part), "small");
  return y * small * small * small * power(gap - part - part - part);
}

/// Computes C's fmod: exact, with the sign of x.
Num expandRemainder(Num x, Num y) {
  MathBuilder &b = *x.b;
  double inf = std::numeric_limits<double>::infinity();
  Num divisor = named(abs(y), "divisor");
  Num invalid = named(!(abs(x) < inf) | !(divisor > 0), "invalid");
  divisor = select(invalid, 1, divisor);
  Num start = named(select(invalid | equal(divisor, inf), 0, abs(x)), "start");
  // Long division: each iteration subtracts as many bits of the quotient as one
  // step can. Quotients below 2^20 (f64: 2^48) need one iteration.
  auto loop = scf::WhileOp::create(
      b.builder, b.loc, TypeRange{b.floatType}, ValueRange{start.v},
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        MathBuilder mb(inner, loc, b.floatType);
        Num r = mb.wrap(args[0]), d = mb.wrap(divisor.v);
        Num more = r >= d;
        if (auto vector = dyn_cast<VectorType>(b.floatType)) {
          // Continue while any lane is unfinished; finished lanes do not
          // change.
          Num flags = select(more, mb.integer(1), mb.integer(0));
          Value any = vector::ReductionOp::create(
              inner, loc, vector::CombiningKind::ADD, flags.v);
          Value zero = arith::ConstantOp::create(
              inner, loc, inner.getIntegerAttr(any.getType(), 0));
          more.v = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ne,
                                         any, zero);
        }
        scf::ConditionOp::create(inner, loc, more.v, args);
      },
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        MathBuilder mb(inner, loc, b.floatType);
        Num r = mb.wrap(args[0]), d = mb.wrap(divisor.v);
        Num next = remainderStep(r, alignDivisor(r, d));
        scf::YieldOp::create(inner, loc, ValueRange{select(r >= d, next, r).v});
      });
  Num result = named(
      select(equal(divisor, inf), abs(x), b.wrap(loop.getResult(0))), "result");
  result = withSign(result, signOf(x));
  result = select(invalid, b.nan(), result);
  return select(isNaN(x) | isNaN(y), x + y, result);
}

} // namespace ingot::legalize
