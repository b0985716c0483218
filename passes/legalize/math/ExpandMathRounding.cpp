// To integers, remainders, extrema.
//
// Rounding works in floats: adding and subtracting 2^23 (2^52) leaves the
// nearest integer, which a comparison moves up or down. No conversion to
// integers, whose overflow C++ does not define.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/legalize/math/ExpandMathFunctions.h"
#include "passes/legalize/math/MathNum.h"

using namespace mlir;

namespace ingot::legalize {

static double fractionless(Num x) { return x.b->pick(0x1p23, 0x1p52); }

/// The nearest integer to a magnitude below `fractionless`.
static Num nearestMagnitude(Num magnitude) {
  return (magnitude + fractionless(magnitude)) - fractionless(magnitude);
}

/// Larger numbers are integers already; the sign stays, that of 0 too.
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
  // Only halves that went down to an even number differ.
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

/// x - q y for 0 <= x, 0 < y and q = trunc(x / y) < 2^23 (2^52): every product
/// of halves is exact, and every difference of them fits the mantissa.
static Num remainderStep(Num x, Num y) {
  Num q = named(expandTrunc(x / y), "q");
  Num qHigh = named(upperHalf(q), "q_high"), qLow = named(q - qHigh, "q_low");
  Num yHigh = named(upperHalf(y), "y_high"), yLow = named(y - yHigh, "y_low");
  Num r = named(((x - qHigh * yHigh) - qHigh * yLow) - qLow * yHigh, "r");
  r = r - qLow * yLow;
  // The quotient may have been rounded up to the next integer.
  return select(r < 0, r + y, r);
}

/// The biased exponent, which for denormal numbers goes on below 1.
static Num exponentOf(Num x) {
  MathBuilder &b = *x.b;
  Num denormal = named(x < b.pick(0x1p-126, 0x1p-1022), "denormal");
  Num bits =
      named(bitsOf(select(denormal, x * b.pick(0x1p24, 0x1p54), x)), "bits");
  Num exponent = named(bits >> b.mantissaBits(), "exponent");
  return select(denormal, exponent - b.pick(24.0, 54.0), exponent);
}

/// y times the power of two that brings it within 2^20 (2^48) below x, so that
/// one step takes that many bits off x; y itself if it is that near.
static Num alignDivisor(Num x, Num y) {
  MathBuilder &b = *x.b;
  Num gap = named((exponentOf(x) - exponentOf(y)) - b.pick(20.0, 48.0), "gap");
  gap = select(gap > 0, gap, 0);
  // In four factors: one power may be beyond the largest number.
  Num part = named(gap >> 2, "part");
  auto power = [&](Num exponent) {
    return fromBits((exponent + b.bias()) << b.mantissaBits());
  };
  Num small = named(power(part), "small");
  return y * small * small * small * power(gap - part - part - part);
}

/// C's fmod: exact, with the sign of x.
Num expandRemainder(Num x, Num y) {
  MathBuilder &b = *x.b;
  double inf = std::numeric_limits<double>::infinity();
  Num divisor = named(abs(y), "divisor");
  Num invalid = named(!(abs(x) < inf) | !(divisor > 0), "invalid");
  divisor = select(invalid, 1, divisor);
  Num start = named(select(invalid | equal(divisor, inf), 0, abs(x)), "start");
  // Long division, as many bits a turn as fit; ordinary quotients need one.
  auto loop = scf::WhileOp::create(
      b.builder, b.loc, TypeRange{b.floatType}, ValueRange{start.v},
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        MathBuilder mb(inner, loc, b.floatType);
        Num r = mb.wrap(args[0]), d = mb.wrap(divisor.v);
        Num more = r >= d;
        if (auto vector = dyn_cast<VectorType>(b.floatType)) {
          // As long as any lane goes on; finished ones do not change.
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
