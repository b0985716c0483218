// Builds arith operations by C++ operators.
//
// The files ExpandMath*.cpp use this, for scalars and vectors. Unlike
// graph::Expr, which supports the ONNX element types, Num supports only f32,
// f64, and integers that hold the bits of floats.

#ifndef INGOT_PASSES_LEGALIZE_MATH_MATHNUM_H
#define INGOT_PASSES_LEGALIZE_MATH_MATHNUM_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "passes/legalize/math/MathTables.h"

namespace ingot::legalize {

class MathBuilder;

struct Num {
  MathBuilder *b = nullptr;
  mlir::Value v;
};

/// Holds the insertion point of an expansion, and the float type in which it is
/// computed.
class MathBuilder {
public:
  /// `like` is f16, f32, f64 or a vector of them. Only expandExpOrZero supports
  /// f16.
  MathBuilder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type like);

  Num wrap(mlir::Value v) { return {this, v}; }
  bool isDouble() const { return width == 64; }
  bool isHalf() const { return width == 16; }
  /// Returns the constant `f32` or `f64`, depending on the precision of the
  /// float type.
  template <typename T> T pick(T f32, T f64) const {
    return isDouble() ? f64 : f32;
  }

  Num constant(double value);
  Num integer(uint64_t value);
  /// Returns a constant of the type of `x`: a float, or an integer of any
  /// width.
  Num constantLike(Num x, double value);

  // The mantissa bits, exponent bias and sign bit of the float format.
  unsigned mantissaBits() const { return isHalf() ? 10 : pick(23, 52); }
  int64_t bias() const { return isHalf() ? 15 : pick(127, 1023); }
  uint64_t signMask() const { return uint64_t(1) << (width - 1); }
  Num infinity();
  Num nan();

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type floatType;
  mlir::Type intType; // Integers with the shape and width of `floatType`.
  unsigned width;
  /// Whether quotients may be off by two units in the last place.
  bool mayApproximate = false;
  /// Whether the operands were f16 or narrower, so that no magnitude exceeds
  /// 65504.
  bool isOfHalf = false;
};

/// Returns `x` and names it `name` in the generated code, unless it already has
/// a name.
Num named(Num x, const llvm::Twine &name);

Num operator+(Num x, Num y);
Num operator-(Num x, Num y);
Num operator*(Num x, Num y);
Num operator/(Num x, Num y);
Num operator&(Num x, Num y);
Num operator|(Num x, Num y);
Num operator^(Num x, Num y);
Num operator<<(Num x, unsigned bits);
/// Shifts right and fills the high bits with zeros.
Num operator>>(Num x, unsigned bits);
Num operator-(Num x);
Num operator!(Num x);

// Comparisons of floats are false for NaN. Integers are compared as signed.
Num operator<(Num x, Num y);
Num operator<=(Num x, Num y);
Num operator>(Num x, Num y);
Num operator>=(Num x, Num y);
Num equal(Num x, Num y);
Num isNaN(Num x);

#define INGOT_NUM_LITERAL(OP)                                                  \
  inline Num operator OP(Num x, double y) {                                    \
    return x OP x.b->constantLike(x, y);                                       \
  }                                                                            \
  inline Num operator OP(double x, Num y) {                                    \
    return y.b->constantLike(y, x) OP y;                                       \
  }
INGOT_NUM_LITERAL(+)
INGOT_NUM_LITERAL(-)
INGOT_NUM_LITERAL(*)
INGOT_NUM_LITERAL(/)
INGOT_NUM_LITERAL(<)
INGOT_NUM_LITERAL(<=)
INGOT_NUM_LITERAL(>)
INGOT_NUM_LITERAL(>=)
#undef INGOT_NUM_LITERAL
Num equal(Num x, double y);

Num select(Num condition, Num x, Num y);
Num select(Num condition, Num x, double y);
Num select(Num condition, double x, Num y);
/// Clamps x to [low, high]; NaN remains NaN.
Num clamp(Num x, double low, double high);
/// Computes x * y + z, rounded once (fused) or twice, depending on the target.
Num fma(Num x, Num y, Num z);
/// Evaluates the polynomial whose coefficients are in `table` by Horner's rule.
Num polynomial(Num x, const math_tables::Table &table);
Num sqrt(Num x);

Num bitsOf(Num x);
Num fromBits(Num x);
Num abs(Num x);
Num signOf(Num x); // the sign bit
/// Returns x, which must not be negative, with the sign bit `signBit`.
Num withSign(Num x, Num signBit);
/// Returns `x` with only the upper half of its mantissa: products of two such
/// numbers are exact. It is computed by bit operations, which also keep
/// compilers from fusing the operations before and after it into fma
/// instructions.
Num upperHalf(Num x);
/// Returns the nearest integer, ties to even, for |x| below 2^mantissaBits.
Num nearest(Num x);

inline constexpr double kLog2E = 1.4426950408889634074;

// Functions that emit the arithmetic that replaces a math function (its
// expansion); other expansions use them, too.
/// Computes e^x * scale.
Num expandExp(Num x, double scale = 1);
/// Computes e^x, but returns 0 for x below -80 (f64: -700, f16: -10). For larger
/// x, no intermediate value is denormal; denormals are slow on many processors.
Num expandExpOrZero(Num x);
/// Computes e^(high + low) * scale, where low is much smaller than high.
Num expandExpOfSum(Num high, Num low, double scale);
Num expandExpm1(Num x);
Num expandLog(Num x);
Num expandLog1p(Num x);
Num expandErf(Num x);
Num expandFloor(Num x);
Num expandTrunc(Num x);
Num expandRoundEven(Num x);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_MATH_MATHNUM_H
