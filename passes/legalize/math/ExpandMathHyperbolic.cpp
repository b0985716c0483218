// Expands hyperbolic functions and their inverses.
//
// They are computed from e^x - 1 and log(1 + x), which are accurate for small
// arguments. tanh in f32, the activation function of many networks, is a
// quotient of two polynomials.

#include "passes/legalize/math/ExpandMathFunctions.h"
#include "passes/legalize/math/MathNum.h"

using namespace ingot::legalize::math_tables;

namespace ingot::legalize {

Num expandSinh(Num x) {
  Num a = named(abs(x), "a");
  // Above 10 (f64: 22), e^-x is negligible compared to e^x, so sinh(x) is e^x /
  // 2. expandExp(a, 0.5) computes it without an overflow of e^x itself.
  Num large = named(a > x.b->pick(10.0, 22.0), "large");
  Num e = named(expandExpm1(select(large, 0, a)), "e");
  Num small = named((e + e / (e + 1)) * 0.5, "small");
  return withSign(select(large, expandExp(a, 0.5), small), signOf(x));
}

Num expandCosh(Num x) {
  Num half = named(expandExp(abs(x), 0.5), "half");
  return half + 0.25 / half;
}

Num expandTanh(Num x) {
  MathBuilder &b = *x.b;
  if (b.isDouble()) {
    Num e = expandExpm1(abs(x) * -2);
    return withSign(-(e / (e + 2)), signOf(x));
  }
  Num limited = named(clamp(x, -9.02, 9.02), "limited");
  Num square = named(limited * limited, "square");
  Num quotient =
      limited * polynomial(square, kTanhP) / polynomial(square, kTanhQ);
  return clamp(named(quotient, "quotient"), -1, 1);
}

Num expandAsinh(Num x) {
  MathBuilder &b = *x.b;
  Num a = named(abs(x), "a");
  double huge = b.pick(0x1p30, 0x1p60);
  Num large = named(a > huge, "large");
  Num limited = named(select(large, 1, a), "limited");
  Num square = named(limited * limited, "square");
  Num ofSmall = named(limited + square / (sqrt(square + 1) + 1), "of_small");
  // log(1 + x) equals log(x) for large x, so one logarithm serves both cases.
  Num l = named(expandLog1p(select(large, a, ofSmall)), "l");
  return withSign(select(large, l + 0.69314718055994530942, l), signOf(x));
}

Num expandAcosh(Num x) {
  double huge = x.b->pick(0x1p30, 0x1p60);
  Num large = named(x > huge, "large");
  Num t = named(select(large, 1, x) - 1, "t");
  Num ofSmall = named(t + sqrt(t * (t + 2)), "of_small");
  Num l = named(expandLog1p(select(large, x, ofSmall)), "l");
  Num result = named(select(large, l + 0.69314718055994530942, l), "result");
  return select(x < 1, x.b->nan(), result);
}

Num expandAtanh(Num x) {
  Num a = named(abs(x), "a");
  Num result = named(expandLog1p(a * 2 / (1 - a)) * 0.5, "result");
  return withSign(abs(result), signOf(x));
}

} // namespace ingot::legalize
