// Expands sine, cosine, tangent and their inverses.
//
// sin, cos, tan: r = x - n pi/2 with |r| <= pi/4. To subtract n pi/2
// accurately, pi/2 is split into parts with so few bits that the product of
// each with n is exact for |x| up to 1e5. Larger angles are reduced in integers
// (LargeAngles.cpp), lane by lane in vectors. The check for large angles is a
// comparison that is not on the critical path of the result.
//
// asin and acos reduce their argument to [-1/2, 1/2] by the formulae for half
// angles; atan reduces its argument to [-tan(pi/8), tan(pi/8)] by the formula
// for differences of angles.

#include "passes/legalize/math/ExpandMathFunctions.h"
#include "passes/legalize/math/MathNum.h"

using namespace ingot::legalize::math_tables;

namespace ingot::legalize {

namespace {

constexpr double kPi = 3.1415926535897932385;

/// An angle x = quadrant * pi/2 + r, represented by `quadrant` and the sine and
/// cosine of r.
struct Angle {
  Num quadrant; // only the two lowest bits are meaningful
  Num sin, cos;
};

/// Whether operands of the expanded function may be large angles
/// (isLargeAngle); numbers in f16 and narrower types are too small.
bool mayBeLarge(const MathBuilder &b) { return !b.isOfHalf; }

/// Whether the expanded function has a scalar operand, not a vector.
bool isScalar(const MathBuilder &b) {
  return !mlir::isa<mlir::VectorType>(b.floatType);
}

Angle reduceAngle(Num x) {
  MathBuilder &b = *x.b;
  double magic = b.pick(12582912.0, 6755399441055744.0);
  Num t = named(fma(x, b.constant(2 / kPi), b.constant(magic)), "t");
  Num n = named(t - magic, "n");
  static const double single[] = {
      1.5703125, 0.0004825592041015625, 1.266598701477050781e-6,
      9.895302355289459229e-10, 2.563344151594518788e-12};
  static const double twice[] = {1.5707963267341256142,
                                 6.0771005063039659766e-11,
                                 2.0222662487959507324e-21};
  Num r = x;
  for (double part : b.isDouble() ? llvm::ArrayRef<double>(twice)
                                  : llvm::ArrayRef<double>(single))
    r = fma(n, b.constant(-part), r);
  Num quadrant = bitsOf(t);
  if (isScalar(b) && mayBeLarge(b)) {
    ReducedAngle reduced = reduceLargeAngle(x, {r, quadrant});
    r = reduced.r;
    quadrant = reduced.quadrant;
  }
  Num u = named(r * r, "u");
  Num sin = named(fma(r * u, polynomial(u, kSin), r), "sin");
  Num cos = named(fma(u * u, polynomial(u, kCos), 1 - u * 0.5), "cos");
  return {quadrant, sin, cos};
}

/// Returns `result`, except that the lanes in which the vector `x` is a large
/// angle are replaced by `function` of this angle.
Num withLargeLanes(Num x, Num result, Num (*function)(Num)) {
  return isScalar(*x.b) || !mayBeLarge(*x.b)
             ? result
             : replaceLargeAngles(x, result, function);
}

Num isOdd(Num integer) { return equal(integer & integer.b->integer(1), 1); }

/// Returns bit 1 of the quadrant, moved to the position of the sign bit.
Num signOfQuadrant(Num quadrant) {
  MathBuilder &b = *quadrant.b;
  return (quadrant << (b.width - 2)) & b.integer(b.signMask());
}

} // namespace

Num expandSin(Num x) {
  Angle a = reduceAngle(x);
  Num value = named(select(isOdd(a.quadrant), a.cos, a.sin), "value");
  Num result =
      named(fromBits(bitsOf(value) ^ signOfQuadrant(a.quadrant)), "result");
  return withLargeLanes(x, select(equal(x, 0), x, result),
                        expandSin); // keeps -0
}

Num expandCos(Num x) {
  Angle a = reduceAngle(x);
  Num value = named(select(isOdd(a.quadrant), a.sin, a.cos), "value");
  Num sign = signOfQuadrant(a.quadrant + x.b->integer(1));
  return withLargeLanes(x, fromBits(bitsOf(value) ^ sign), expandCos);
}

Num expandTan(Num x) {
  Angle a = reduceAngle(x);
  Num odd = named(isOdd(a.quadrant), "odd");
  Num quotient =
      named(select(odd, -a.cos, a.sin) / select(odd, a.sin, a.cos), "quotient");
  return withLargeLanes(x, select(equal(x, 0), x, quotient), expandTan);
}

/// Computes asin(s) for s in [0, 1/2], given s^2.
static Num asinSmall(Num s, Num square) {
  return fma(s * square, polynomial(square, kAsin), s);
}

Num expandAsin(Num x) {
  Num magnitude = named(abs(x), "magnitude");
  Num large = named(magnitude > 0.5, "large");
  Num square = named(
      select(large, (1 - magnitude) * 0.5, magnitude * magnitude), "square");
  Num p = named(asinSmall(select(large, sqrt(square), magnitude), square), "p");
  double low = x.b->pick(-4.3711390001862426e-8, 6.12323399573676589e-17);
  return withSign(select(large, x.b->constant(kPi / 2) - (p * 2 - low), p),
                  signOf(x));
}

Num expandAcos(Num x) {
  MathBuilder &b = *x.b;
  Num magnitude = named(abs(x), "magnitude");
  Num large = named(magnitude > 0.5, "large");
  Num square = named(
      select(large, (1 - magnitude) * 0.5, magnitude * magnitude), "square");
  Num p = named(asinSmall(select(large, sqrt(square), magnitude), square), "p");
  Num negative = named(x < 0, "negative");
  Num ofLarge = named(select(negative, kPi - p * 2, p * 2), "of_large");
  double low = b.pick(-4.3711390001862426e-8, 6.12323399573676589e-17);
  Num ofSmall = named(kPi / 2 - (select(negative, -p, p) - low), "of_small");
  return select(large, ofLarge, ofSmall);
}

/// Computes atan(numerator / denominator) in [0, pi/2], for non-negative
/// operands that are neither both 0 nor both infinite.
static Num atanOfQuotient(Num numerator, Num denominator) {
  MathBuilder &b = *numerator.b;
  constexpr double kTan1 = 0.4142135623730950488, kTan3 = 2.4142135623730950488;
  Num middle = named(numerator > denominator * kTan1, "middle"),
      high = named(numerator > denominator * kTan3, "high");
  Num up = named(select(high, -denominator,
                        select(middle, numerator - denominator, numerator)),
                 "up");
  Num down = named(select(high, numerator,
                          select(middle, numerator + denominator, denominator)),
                   "down");
  Num z = named(up / down, "z");
  Num u = named(z * z, "u");
  Num small = named(fma(z * u, polynomial(u, kAtan), z), "small");
  // The rounding errors of the constants pi/4 and pi/2 are added to `small`.
  double low = b.pick(-4.3711390001862426e-8, 6.12323399573676589e-17);
  Num base =
      select(high, kPi / 2, select(middle, b.constant(kPi / 4), b.constant(0)));
  Num baseLow =
      select(high, low, select(middle, b.constant(low / 2), b.constant(0)));
  return base + (small + baseLow);
}

Num expandAtan(Num x) {
  return withSign(atanOfQuotient(abs(x), x.b->constant(1)), signOf(x));
}

Num expandAtan2(Num y, Num x) {
  MathBuilder &b = *x.b;
  double inf = std::numeric_limits<double>::infinity();
  Num up = named(abs(y), "up"), down = named(abs(x), "down");
  // 0/0 is treated as 0/1, and inf/inf as 1/1. Scaling both operands makes
  // quotients that underflow accurate enough; quotients that overflow give
  // pi/2.
  Num bothInfinite = named(equal(up, inf) & equal(down, inf), "both_infinite");
  Num zero = named(equal(up, 0), "zero");
  Num one = named(b.constant(1), "one");
  Num huge =
      (up > b.pick(0x1p126, 0x1p1022)) | (down > b.pick(0x1p126, 0x1p1022));
  Num scale = named(select(huge, 0.25, one), "scale");
  up = select(bothInfinite, one, up * scale);
  down = select(bothInfinite | (zero & !isNaN(down)), one, down * scale);
  Num angle = named(atanOfQuotient(up, down), "angle");
  Num leftHalf = named(equal(signOf(x) >> (b.width - 1), 1), "left_half");
  double low = b.pick(-8.7422780003724852e-8, 1.22464679914735318e-16);
  Num result = named(select(leftHalf, kPi - (angle - low), angle), "result");
  result = withSign(abs(result), signOf(y));
  return select(isNaN(x) | isNaN(y), x + y, result);
}

} // namespace ingot::legalize
