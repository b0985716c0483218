// Expands the error functions erf and erfc.
//
// In f32, erf(x) (used by GELU) is x times a quotient of two polynomials in
// x^2. In f64, erf(x) is x times a polynomial in x^2 if |x| < 1, and 1 -
// erfc(x) for larger x, where
//
//   erfc(x) = e^(-x^2) / (1 + 2 x) * P((x - 3) / (x + 3))
//
// If the target has an instruction for 2^x, and small results of erf may be
// less accurate, erf is computed from an exponential and a reciprocal, with one
// instruction for each.

#include "passes/legalize/math/ExpandMathFunctions.h"
#include "passes/legalize/math/MathNum.h"

using namespace ingot::legalize::math_tables;

namespace ingot::legalize {

/// Computes erfc(x) for x >= 0.45.
static Num erfcOfLarge(Num x) {
  MathBuilder &b = *x.b;
  Num a = named(clamp(x, 0.45, b.pick(11.0, 28.0)), "a");
  // Compute x^2 and its rounding error, which the exponential would amplify.
  Num high = named(upperHalf(a), "high");
  Num exponential =
      named(expandExpOfSum(-(high * high), (high - a) * (high + a), 1),
            "exponential");
  Num p = named(polynomial((a - 3) / (a + 3), kErfc), "p");
  return exponential * p / fma(a, b.constant(2), b.constant(1));
}

Num expandErf(Num x) {
  MathBuilder &b = *x.b;
  if (!b.isDouble()) {
    Num limited = clamp(x, -3.93, 3.93);
    Num square = limited * limited;
    Num quotient =
        limited * polynomial(square, kErfP) / polynomial(square, kErfQ);
    return clamp(named(quotient, "quotient"), -1, 1);
  }
  Num a = named(abs(x), "a");
  Num small = named(a * polynomial(a * a, kErfSmall), "small");
  return withSign(select(a < 1, small, 1 - erfcOfLarge(a)), signOf(x));
}

/// Computes erf(x) as 1 - e^(-a^2) t P(t) with the sign of x, where a = |x|, t
/// = 1 / (1 + kErfScale a), and P is the polynomial kErfBesideOne.
Num expandErfByExp2(Num x) {
  MathBuilder &b = *x.b;
  Num a = named(abs(x), "a");
  Num t = named(1 / fma(a, b.constant(kErfScale), b.constant(1)), "t");
  Num power = named(exp2OfTarget(a * a * -kLog2E), "power");
  return withSign(1 - polynomial(t, kErfBesideOne) * t * power, signOf(x));
}

Num expandErfc(Num x) {
  Num a = named(abs(x), "a");
  Num small = named(1 - x * polynomial(x * x, kErfSmall), "small");
  Num large = named(erfcOfLarge(a), "large");
  return select(a < 0.5, small, select(x < 0, 2 - large, large));
}

} // namespace ingot::legalize
