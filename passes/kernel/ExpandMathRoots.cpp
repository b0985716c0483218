//===- ExpandMathRoots.cpp - cube root, reciprocal square root ------------===//
//
// The square root itself is an instruction everywhere, or the compiler's
// library has it.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/kernel/ExpandMathFunctions.h"
#include "passes/kernel/MathNum.h"

using namespace mlir;

namespace ingot::kernel {

Num expandRsqrt(Num x) { return 1 / sqrt(x); }

/// Dividing the exponent (and with it the bits) by 3 is a guess within 4%; each
/// step of Halley's then triples the digits.
Num expandCbrt(Num x) {
  MathBuilder &b = *x.b;
  Num a = abs(x);
  Num denormal = a < b.pick(0x1p-126, 0x1p-1022);
  Num scaled = select(denormal, a * b.pick(0x1p24, 0x1p54), a);
  Num bits = bitsOf(scaled);
  Num third =
      b.wrap(arith::SIToFPOp::create(b.builder, b.loc, b.floatType, bits.v)) *
      (1.0 / 3);
  Num guessBits =
      b.wrap(arith::FPToSIOp::create(b.builder, b.loc, b.intType, third.v));
  double offset = (b.bias() * 2.0 / 3 - 0.0331) * b.pick(0x1p23, 0x1p52);
  Num t = fromBits(guessBits + b.integer(static_cast<uint64_t>(offset)));
  // Newton's last step only corrects by the error, without rounding t anew.
  for (int step = 0; step < 2; ++step) {
    Num cube = t * t * t;
    t = t * ((cube + scaled * 2) / (cube * 2 + scaled));
  }
  t = t - (t * t * t - scaled) / (t * t * 3);
  Num result = select(denormal, t * b.pick(0x1p-8, 0x1p-18), t);
  Num special = equal(x, 0) | isNaN(x) |
                equal(a, std::numeric_limits<double>::infinity());
  return select(special, x, withSign(result, signOf(x)));
}

} // namespace ingot::kernel
