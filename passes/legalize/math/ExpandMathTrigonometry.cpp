// Sine, cosine, tangent, inverses.
//
// sin, cos, tan: r = x - n pi/2 with |r| <= pi/4, subtracting pi/2 in parts of
// so few bits that each product with n is exact for |x| up to 1e5 (f32) or 1e6
// (f64). Beyond, results lose accuracy but stay bounded.
//
// The inverses reduce to +-1/2 (asin, acos, by half angles) and +-tan(pi/8)
// (atan, by differences of angles).

#include "passes/legalize/math/ExpandMathFunctions.h"
#include "passes/legalize/math/MathNum.h"

using namespace ingot::legalize::math_tables;

namespace ingot::legalize {

namespace {

constexpr double kPi = 3.1415926535897932385;

/// x = quadrant * pi/2 + r; sin and cos of r.
struct Angle {
  Num quadrant; // its low two bits count
  Num sin, cos;
};

Angle reduceAngle(Num x) {
  MathBuilder &b = *x.b;
  double magic = b.pick(12582912.0, 6755399441055744.0);
  Num t = fma(x, b.constant(2 / kPi), b.constant(magic));
  Num n = t - magic;
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
  r = clamp(r, -0.8, 0.8); // of concern only for huge x
  Num u = r * r;
  Num sin = fma(r * u, polynomial(u, kSin), r);
  Num cos = fma(u * u, polynomial(u, kCos), 1 - u * 0.5);
  return {bitsOf(t), sin, cos};
}

Num isOdd(Num integer) { return equal(integer & integer.b->integer(1), 1); }

/// Bit 1 of the quadrant as a sign.
Num signOfQuadrant(Num quadrant) {
  MathBuilder &b = *quadrant.b;
  return (quadrant << (b.width - 2)) & b.integer(b.signMask());
}

} // namespace

Num expandSin(Num x) {
  Angle a = reduceAngle(x);
  Num value = select(isOdd(a.quadrant), a.cos, a.sin);
  Num result = fromBits(bitsOf(value) ^ signOfQuadrant(a.quadrant));
  return select(equal(x, 0), x, result); // -0
}

Num expandCos(Num x) {
  Angle a = reduceAngle(x);
  Num value = select(isOdd(a.quadrant), a.sin, a.cos);
  return fromBits(bitsOf(value) ^ signOfQuadrant(a.quadrant + x.b->integer(1)));
}

Num expandTan(Num x) {
  Angle a = reduceAngle(x);
  Num odd = isOdd(a.quadrant);
  Num quotient = select(odd, -a.cos, a.sin) / select(odd, a.sin, a.cos);
  return select(equal(x, 0), x, quotient);
}

/// asin(s) for s in [0, 1/2], given s^2.
static Num asinSmall(Num s, Num square) {
  return fma(s * square, polynomial(square, kAsin), s);
}

Num expandAsin(Num x) {
  Num magnitude = abs(x);
  Num large = magnitude > 0.5;
  Num square = select(large, (1 - magnitude) * 0.5, magnitude * magnitude);
  Num p = asinSmall(select(large, sqrt(square), magnitude), square);
  double low = x.b->pick(-4.3711390001862426e-8, 6.12323399573676589e-17);
  return withSign(select(large, x.b->constant(kPi / 2) - (p * 2 - low), p),
                  signOf(x));
}

Num expandAcos(Num x) {
  MathBuilder &b = *x.b;
  Num magnitude = abs(x);
  Num large = magnitude > 0.5;
  Num square = select(large, (1 - magnitude) * 0.5, magnitude * magnitude);
  Num p = asinSmall(select(large, sqrt(square), magnitude), square);
  Num negative = x < 0;
  Num ofLarge = select(negative, kPi - p * 2, p * 2);
  double low = b.pick(-4.3711390001862426e-8, 6.12323399573676589e-17);
  Num ofSmall = kPi / 2 - (select(negative, -p, p) - low);
  return select(large, ofLarge, ofSmall);
}

/// atan(numerator / denominator) for both from 0 on, not both 0 or infinite,
/// in [0, pi/2].
static Num atanOfQuotient(Num numerator, Num denominator) {
  MathBuilder &b = *numerator.b;
  constexpr double kTan1 = 0.4142135623730950488, kTan3 = 2.4142135623730950488;
  Num middle = numerator > denominator * kTan1,
      high = numerator > denominator * kTan3;
  Num up = select(high, -denominator,
                  select(middle, numerator - denominator, numerator));
  Num down = select(high, numerator,
                    select(middle, numerator + denominator, denominator));
  Num z = up / down;
  Num u = z * z;
  Num small = fma(z * u, polynomial(u, kAtan), z);
  // What pi/4 and pi/2 lose in this precision is added with the small part.
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
  Num up = abs(y), down = abs(x);
  // 0/0 counts as 0/1, inf/inf as 1/1. Quotients below the range are exact
  // enough after scaling both, those above are pi/2.
  Num bothInfinite = equal(up, inf) & equal(down, inf);
  Num zero = equal(up, 0);
  Num one = b.constant(1);
  Num huge =
      (up > b.pick(0x1p126, 0x1p1022)) | (down > b.pick(0x1p126, 0x1p1022));
  Num scale = select(huge, 0.25, one);
  up = select(bothInfinite, one, up * scale);
  down = select(bothInfinite | (zero & !isNaN(down)), one, down * scale);
  Num angle = atanOfQuotient(up, down);
  Num leftHalf = equal(signOf(x) >> (b.width - 1), 1);
  double low = b.pick(-8.7422780003724852e-8, 1.22464679914735318e-16);
  Num result = select(leftHalf, kPi - (angle - low), angle);
  result = withSign(abs(result), signOf(y));
  return select(isNaN(x) | isNaN(y), x + y, result);
}

} // namespace ingot::legalize
