// Expands the cube root and the reciprocal square root.
//
// The square root itself is not expanded here: every target has an instruction
// for it, or ExpandSqrt expands it.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/legalize/math/ExpandMathFunctions.h"
#include "passes/legalize/math/MathNum.h"

using namespace mlir;

namespace ingot::legalize {

Num expandRsqrt(Num x) { return 1 / sqrt(x); }

/// Computes the cube root. Dividing the bits of the float by 3, and with them
/// its exponent, gives a guess within 4% of the root. Each of two Halley steps
/// then triples the number of correct digits.
Num expandCbrt(Num x) {
  MathBuilder &b = *x.b;
  Num a = named(abs(x), "a");
  // Scale the operand away from both ends of the range: cubes must not
  // overflow, and the bits of denormals do not approximate a logarithm.
  Num small = named(a < b.pick(0x1p-90, 0x1p-900), "small");
  Num scaled =
      a * select(small, b.constant(b.pick(0x1p60, 0x1p300)), b.constant(0.125));
  Num bits = named(bitsOf(scaled), "bits");
  Num third =
      b.wrap(arith::SIToFPOp::create(b.builder, b.loc, b.floatType, bits.v)) *
      (1.0 / 3);
  Num guessBits =
      b.wrap(arith::FPToSIOp::create(b.builder, b.loc, b.intType, third.v));
  double offset = (b.bias() * 2.0 / 3 - 0.0331) * b.pick(0x1p23, 0x1p52);
  Num t = named(fromBits(guessBits + b.integer(static_cast<uint64_t>(offset))),
                "t");
  for (int step = 0; step < 2; ++step) {
    Num cube = t * t * t;
    t = t * ((cube + scaled * 2) / (cube * 2 + scaled));
  }
  // The last step is a Newton step: it adds a small correction to t, so t
  // itself is not rounded again.
  t = t - (t * t * t - scaled) / (t * t * 3);
  Num result =
      t * select(small, b.constant(b.pick(0x1p-20, 0x1p-100)), b.constant(2));
  Num special = named(equal(x, 0) | isNaN(x) |
                          equal(a, std::numeric_limits<double>::infinity()),
                      "special");
  return select(special, x, withSign(result, signOf(x)));
}

} // namespace ingot::legalize
