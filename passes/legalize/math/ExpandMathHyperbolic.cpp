// Hyperbolic functions and inverses.
//
// By e^x - 1 and log(1 + x), which keep small arguments accurate; tanh in f32,
// the activation function of many networks, is a quotient of two polynomials.

#include "passes/legalize/math/ExpandMathFunctions.h"
#include "passes/legalize/math/MathNum.h"

using namespace ingot::legalize::math_tables;

namespace ingot::legalize {

Num expandSinh(Num x) {
  Num a = abs(x);
  // From here on e^-x is lost beside e^x, and e^x / 2 is finite longer than
  // e^x.
  Num large = a > x.b->pick(10.0, 22.0);
  Num e = expandExpm1(select(large, 0, a));
  Num small = (e + e / (e + 1)) * 0.5;
  return withSign(select(large, expandExp(a, 0.5), small), signOf(x));
}

Num expandCosh(Num x) {
  Num half = expandExp(abs(x), 0.5);
  return half + 0.25 / half;
}

Num expandTanh(Num x) {
  MathBuilder &b = *x.b;
  if (b.isDouble()) {
    Num e = expandExpm1(abs(x) * -2);
    return withSign(-(e / (e + 2)), signOf(x));
  }
  Num limited = clamp(x, -9.02, 9.02);
  Num square = limited * limited;
  Num quotient =
      limited * polynomial(square, kTanhP) / polynomial(square, kTanhQ);
  return clamp(quotient, -1, 1);
}

Num expandAsinh(Num x) {
  MathBuilder &b = *x.b;
  Num a = abs(x);
  double huge = b.pick(0x1p30, 0x1p60);
  Num large = a > huge;
  Num limited = select(large, 1, a);
  Num square = limited * limited;
  Num ofSmall = limited + square / (sqrt(square + 1) + 1);
  // log(1 + x) and log(x) are the same for large x: one logarithm for both.
  Num l = expandLog1p(select(large, a, ofSmall));
  return withSign(select(large, l + 0.69314718055994530942, l), signOf(x));
}

Num expandAcosh(Num x) {
  double huge = x.b->pick(0x1p30, 0x1p60);
  Num large = x > huge;
  Num t = select(large, 1, x) - 1;
  Num ofSmall = t + sqrt(t * (t + 2));
  Num l = expandLog1p(select(large, x, ofSmall));
  Num result = select(large, l + 0.69314718055994530942, l);
  return select(x < 1, x.b->nan(), result);
}

Num expandAtanh(Num x) {
  Num a = abs(x);
  Num result = expandLog1p(a * 2 / (1 - a)) * 0.5;
  return withSign(abs(result), signOf(x));
}

} // namespace ingot::legalize
