// Expands exponentials, logarithms and powers.
//
// e^x: with m the nearest integer to x / (2 ln 2), e^x = e^r * 2^m * 2^m, where
// |r| <= ln 2. Two factors 2^m instead of one 2^(2m) reach the largest results
// and the denormal ones without an intermediate overflow. The addition of a
// large constant both rounds x / (2 ln 2) to m and leaves m + bias in the low
// bits of the sum, which a shift turns into 2^m.
//
// log x: computed as k ln 2 + log(1 + f), where x = 2^k (1 + f) with 1 + f in
// [sqrt(1/2), sqrt(2)).
//
// x^y = 2^(y log2 x), with log2 x and the product in twice the precision of a
// float: the exponential amplifies an absolute error of the product up to 128
// times (f64: 1024 times).

#include "dialects/kernel/KernelDialect.h"
#include "passes/legalize/math/ExpandMathFunctions.h"
#include "passes/legalize/math/MathNum.h"

using namespace ingot::legalize::math_tables;

namespace ingot::legalize {

namespace {

/// 2 ln 2 as the sum of two constants such that m * high is exact for every
/// integer m that occurs in an exponential.
struct TwoLn2 {
  double high, low;
};
TwoLn2 twoLn2(MathBuilder &b) {
  return b.pick(TwoLn2{1.38629150390625, 2.857213640618834464e-6},
                TwoLn2{1.3862943611197806604, 1.0995846037416742349e-13});
}
constexpr double kLn2 = 0.69314718055994530942,
                 kLog2EBeyondF64 = 2.0355273740931033e-17;

/// The result of roundAndScale(x, factor): the nearest integer m to x * factor,
/// and `power`, 2^m.
struct Scaled {
  Num m, power;
};
/// Returns a float constant. Adding it to a number rounds the number to an
/// integer. The low bits of the constant are the exponent bias.
double roundingConstant(MathBuilder &b) {
  double magic = b.isHalf() ? 1536.0 : b.pick(12582912.0, 6755399441055744.0);
  return magic + b.bias();
}
Num powerOf(Num shifted) {
  return named(fromBits(bitsOf(shifted) << shifted.b->mantissaBits()), "power");
}
Scaled roundAndScale(Num x, double factor) {
  MathBuilder &b = *x.b;
  double magic = roundingConstant(b);
  Num t = named(fma(x, b.constant(factor), b.constant(magic)), "shifted");
  return {named(t - magic, "multiple"), powerOf(t)};
}

/// Returns x - m * 2 ln 2.
Num reduce(Num x, Num m) {
  auto [high, low] = twoLn2(*x.b);
  Num r = fma(m, x.b->constant(-high), x);
  return named(fma(m, x.b->constant(-low), r), "rest");
}

} // namespace

/// Computes e^(x + low) * scale for an x for which e^x neither overflows nor
/// underflows.
static Num expOfLimited(Num x, Num low, double scale) {
  MathBuilder &b = *x.b;
  auto [m, power] = roundAndScale(x, kLog2E / 2);
  Num r = reduce(x, m);
  if (low.v)
    r = r + low;
  Num p = named(fma(r, polynomial(r, kExp), b.constant(1)), "e_to_rest");
  return p * power * (scale == 1 ? power : power * scale);
}

/// Returns a bound above which e^x is infinite.
static double mostExponent(MathBuilder &b) { return b.pick(89.5, 710.5); }

Num expandExpOfSum(Num high, Num low, double scale) {
  MathBuilder &b = *high.b;
  // e^x is 0 below the lower bound, -104 (f64: -746).
  return expOfLimited(clamp(high, b.pick(-104.0, -746.0), mostExponent(b)), low,
                      scale);
}

Num expandExp(Num x, double scale) { return expandExpOfSum(x, {}, scale); }

Num exp2OfTarget(Num x) {
  return x.b->wrap(
      kernel::Exp2Op::create(x.b->builder, x.b->loc, x.v.getType(), x.v));
}

/// Computes 2^(x log2 e). The rounding of the product causes a relative error
/// of up to |x| / 2^24.
Num expandExpByExp2(Num x) {
  return exp2OfTarget(named(x * kLog2E, "exponent"));
}

/// Computes e^x as 2^r * 2^m, where m is the nearest integer to x / ln 2. The
/// argument must be limited so that the exponent of 2^m fits its field.
static Num expByOnePower(Num limited) {
  MathBuilder &b = *limited.b;
  double magic = roundingConstant(b);
  Num factor = b.constant(kLog2E),
      t = named(fma(limited, factor, b.constant(magic)), "shifted"),
      r = fma(limited, factor, magic - t);
  if (b.isDouble())
    r = fma(limited, b.constant(kLog2EBeyondF64), r);
  r = named(r, "rest");
  return fma(r, polynomial(r, kExp2), b.constant(1)) * powerOf(t);
}

Num expandExpOrZero(Num x) {
  MathBuilder &b = *x.b;
  // In f16, 2^m is 0 for the least m, and infinite for the greatest.
  if (b.isHalf())
    return named(expByOnePower(clamp(x, -10.7, 11.4)), "power");
  // For x above this bound e^x is not denormal, and neither is its quotient by
  // a softmax sum.
  double least = b.pick(-80.0, -700.0);
  // Without denormal results, a single factor 2^m suffices, with m the nearest
  // integer to x / ln 2. This factor becomes infinite for e^x slightly below
  // the largest float. For x below `least`, the computed value is discarded,
  // and it is rarely a denormal, which would take long. In f32, rounding log2 e
  // to one float costs |x| / 4 units in the last place (|x| without fused
  // multiply-add), which is negligible in a sum of such exponentials.
  Num most = b.constant(b.pick(89.0, 710.0)),
      limited = named(select(x > most, most, x), "limited");
  Num result = named(expByOnePower(limited), "power");
  return select(x < least, 0, result);
}

/// Computes 2^(high + low). The argument of the polynomial is in [-ln 2 / 2, ln
/// 2 / 2], where the polynomial is accurate enough for pow.
static Num exp2OfSum(Num high, Num low) {
  MathBuilder &b = *high.b;
  Num x = b.isDouble() ? clamp(high, -1080, 1030) : clamp(high, -152, 130);
  Num n = named(nearest(x), "nearest");
  Num r = x - n;
  if (low.v)
    r = r + low;
  r = named(r * kLn2, "rest");
  auto [half, power] = roundAndScale(n, 0.5);
  double magic = roundingConstant(b);
  Num other =
      named(fromBits(bitsOf((n - half) + magic) << b.mantissaBits()), "other");
  return fma(r, polynomial(r, kExp), b.constant(1)) * power * other;
}

Num expandExp2(Num x) { return exp2OfSum(x, {}); }

/// Computes e^x - 1 as 2^m (2^m (e^r - 1) + 2^m - 2^-m), where x = 2 m ln 2 +
/// r.
Num expandExpm1(Num x) {
  MathBuilder &b = *x.b;
  Num limited = b.isDouble() ? clamp(x, -40, 710.5) : clamp(x, -18, 89.5);
  auto [m, power] = roundAndScale(limited, kLog2E / 2);
  Num r = reduce(limited, m);
  Num q = r * polynomial(r, kExpm1);
  Num inverse = fromBits(b.integer(uint64_t(2 * b.bias()) << b.mantissaBits()) -
                         bitsOf(power));
  Num result = power * fma(power, q, power - inverse);
  return select(equal(x, 0), x, result); // keeps -0
}

namespace {

/// The parts of a positive finite x = 2^k m = 2^k (1 + f), with m in
/// [sqrt(1/2), sqrt(2)).
struct LogParts {
  Num k, m, f;
};

LogParts splitForLog(Num x) {
  MathBuilder &b = *x.b;
  Num denormal = named(x < b.pick(0x1p-126, 0x1p-1022), "is_denormal");
  Num scaled = named(select(denormal, x * b.pick(0x1p24, 0x1p54), x), "scaled");
  // Counts the exponent k from sqrt(1/2) instead of 1, so that m is in
  // [sqrt(1/2), sqrt(2)).
  uint64_t half = b.pick<uint64_t>(0x3f3504f3, 0x3fe6a09e667f3bcd);
  uint64_t one = uint64_t(b.bias()) << b.mantissaBits();
  uint64_t mask = (uint64_t(1) << b.mantissaBits()) - 1;
  Num bits = named(bitsOf(scaled) + b.integer(one - half), "bits");
  Num m =
      named(fromBits((bits & b.integer(mask)) + b.integer(half)), "mantissa");
  // Convert the exponent to a float: put it into the low bits of a large float
  // and subtract that float.
  double large = b.pick(0x1p23, 0x1p52);
  uint64_t largeBits = uint64_t(b.bias() + b.mantissaBits())
                       << b.mantissaBits();
  Num k = fromBits((bits >> b.mantissaBits()) | b.integer(largeBits)) -
          (large + b.bias());
  named(k, "exponent");
  k = named(select(denormal, k - b.pick(24.0, 54.0), k), "exponent");
  return {k, m, named(m - 1, "fraction")};
}

/// Returns log(1 + f) - f, which is small compared to f.
Num logRest(Num f) {
  MathBuilder &b = *f.b;
  Num half = named(f * f * 0.5, "half_square");
  if (!b.isDouble()) {
    Num square = named(f * f, "square");
    return fma(square * f, polynomial(f, kLog), -half);
  }
  Num s = f / (f + 2);
  Num z = s * s;
  return s * (half + z * polynomial(z, kAtanhTail)) - half;
}

Num fixLogDomain(Num x, Num result) {
  MathBuilder &b = *x.b;
  Num finite = named(select(x < b.infinity(), result, x), "finite");
  return select(
      x <= 0,
      select(equal(x, 0), -std::numeric_limits<double>::infinity(), b.nan()),
      finite);
}

/// Returns k ln 2 + f + rest for the parts `p` of x = 2^k (1 + f).
Num joinLog(const LogParts &p, Num rest) {
  MathBuilder &b = *p.k.b;
  double high = b.pick(0.693145751953125, 0.69314718055989033019);
  double low = b.pick(1.428606820309417232e-6, 5.4979230187083711747e-14);
  Num small = named(fma(p.k, b.constant(low), rest), "small");
  return named(fma(p.k, b.constant(high), p.f + small), "sum");
}

} // namespace

Num expandLog(Num x) {
  LogParts p = splitForLog(x);
  return fixLogDomain(x, joinLog(p, logRest(p.f)));
}

Num expandLog2(Num x) {
  LogParts p = splitForLog(x);
  return fixLogDomain(x, fma(p.f + logRest(p.f), x.b->constant(kLog2E), p.k));
}

Num expandLog10(Num x) {
  MathBuilder &b = *x.b;
  double high = b.pick(0.301025390625, 0.30102999566395283182);
  double low = b.pick(4.605038981195213739e-6, 2.8363394551044964437e-14);
  LogParts p = splitForLog(x);
  Num small =
      fma(p.f + logRest(p.f), b.constant(0.43429448190325182765), p.k * low);
  return fixLogDomain(x, fma(p.k, b.constant(high), small));
}

/// Computes log(1 + x) as log(u) + c / u, where u + c is exactly 1 + x.
Num expandLog1p(Num x) {
  MathBuilder &b = *x.b;
  Num u = x + 1;
  Num xInU = u - 1;
  Num c = (1 - (u - xInU)) + (x - xInU);
  LogParts p = splitForLog(u);
  Num result = joinLog(p, logRest(p.f) + c / u);
  result = select(x < b.infinity(), result, x);
  result = select(
      x <= -1,
      select(equal(x, -1), -std::numeric_limits<double>::infinity(), b.nan()),
      result);
  return select(equal(x, 0), x, result); // keeps -0
}

namespace {

/// A number with twice the precision of a float, as the sum of two floats.
struct Twice {
  Num high, low;
};

/// Returns log2(x) for positive finite x with twice the precision of a float.
Twice log2Twice(Num x) {
  MathBuilder &b = *x.b;
  LogParts p = splitForLog(x);
  // Compute s = f / (2 + f): first its upper half, then its rest from the
  // remainder of the division.
  Num inverse = named(b.constant(1) / (p.m + 1), "inverse");
  Num sum = named(upperHalf(p.m + 1), "sum");
  Num sumRest = named(p.m - (sum - 1), "sum_rest");
  Num s = named(p.f * inverse, "s");
  Num high = named(upperHalf(s), "high");
  Num low = named(((p.f - high * sum) - high * sumRest) * inverse, "low");
  // log2(m) = 2 / ln 2 * (s + (atanh(s) - s)).
  double factorHigh = b.pick(2.884765625, 2.8853900432586669922);
  double factorLow = b.pick(0.0006244567779268147198, 3.8519259822532349362e-8);
  Num z = named(s * s, "z");
  Num tail = named(s * z * polynomial(z, kAtanhTail) * kLog2E, "tail");
  Num rest =
      fma(low, b.constant(factorHigh), fma(s, b.constant(factorLow), tail));
  Num first = named(high * factorHigh, "first");
  Num total = named(p.k + first, "total");
  rest = (first - (total - p.k)) + rest;
  Num result = named(total + rest, "result");
  return {result, rest - (result - total)};
}

Num isInteger(Num magnitude) {
  double large = magnitude.b->pick(0x1p23, 0x1p52);
  Num rounded = (magnitude + large) - large;
  return equal(rounded, magnitude) | (magnitude >= large);
}

} // namespace

Num expandPow(Num x, Num y) {
  MathBuilder &b = *x.b;
  double inf = std::numeric_limits<double>::infinity();
  Num magnitude = named(abs(x), "magnitude");
  // If |y| exceeds 2^40 (f64: 2^80), only |x| = 1 gives a finite result other
  // than 0.
  double huge = b.pick(0x1p40, 0x1p80);
  Num exponent = named(clamp(y, -huge, huge), "exponent");
  Twice l = log2Twice(magnitude);
  Num lHigh = named(upperHalf(l.high), "log_high"),
      lLow = named((l.high - lHigh) + l.low, "log_low");
  Num yHigh = named(upperHalf(exponent), "y_high"),
      yLow = named(exponent - yHigh, "y_low");
  Num high = named(lHigh * yHigh, "high");
  Num low = named(lHigh * yLow + lLow * exponent, "low");
  low = select(abs(high) < b.pick(200.0, 1200.0), low, 0);
  Num result = named(exp2OfSum(high, low), "result");
  // Handle the bases 0 and infinity, which have no finite logarithm.
  Num positive = named(y > 0, "positive");
  result = select(equal(magnitude, 0),
                  select(positive, b.constant(0), b.infinity()), result);
  result = select(equal(magnitude, inf),
                  select(positive, b.infinity(), b.constant(0)), result);
  // Set the sign: a negative base requires an integer exponent, and an odd
  // exponent keeps the sign of the base.
  Num yMagnitude = named(abs(y), "y_magnitude");
  Num whole = named(isInteger(yMagnitude), "whole");
  Num odd = named(whole & !isInteger(yMagnitude * 0.5), "odd");
  Num sign = named(select(odd, signOf(x), b.integer(0)), "sign");
  result = fromBits(bitsOf(result) ^ sign);
  Num undefined = named((x < 0) & (x > -inf) & !whole, "undefined");
  result = select(undefined, b.nan(), result);
  result = select(isNaN(x) | isNaN(y), x + y, result);
  return select(equal(y, 0) | equal(x, 1), 1, result);
}

} // namespace ingot::legalize
