// Writing numerics as arith operations.
//
// A value with C++ operators that build arith operations on scalars and vectors
// alike, for the files ExpandMath*.cpp. Below the level of graph::Expr: no
// element types, but bits.

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

/// Where operations go, and the one float type that an expansion works in.
class MathBuilder {
public:
  /// `like` is f32, f64 or a vector of them.
  MathBuilder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type like);

  Num wrap(mlir::Value v) { return {this, v}; }
  bool isDouble() const { return width == 64; }
  /// One of two numbers, by the precision.
  template <typename T> T pick(T f32, T f64) const {
    return isDouble() ? f64 : f32;
  }

  Num constant(double value);
  Num integer(uint64_t value);
  /// Constants of the type of `x`: float, or integer of any width.
  Num constantLike(Num x, double value);

  // The parts of the float format.
  unsigned mantissaBits() const { return isDouble() ? 52 : 23; }
  int64_t bias() const { return isDouble() ? 1023 : 127; }
  uint64_t signMask() const { return uint64_t(1) << (width - 1); }
  Num infinity();
  Num nan();

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type floatType;
  mlir::Type intType; // of the same width and shape
  unsigned width;
  /// Whether quotients may be two units in the last place off.
  bool mayApproximate = false;
  /// Whether the operands were f16 or narrower: none is beyond 65504.
  bool isOfHalf = false;
};

/// Returns `x`, which generated code is to call `name` unless `x` has a name.
Num named(Num x, const llvm::Twine &name);

Num operator+(Num x, Num y);
Num operator-(Num x, Num y);
Num operator*(Num x, Num y);
Num operator/(Num x, Num y);
Num operator&(Num x, Num y);
Num operator|(Num x, Num y);
Num operator^(Num x, Num y);
Num operator<<(Num x, unsigned bits);
/// Fills with zeros.
Num operator>>(Num x, unsigned bits);
Num operator-(Num x);
Num operator!(Num x);

// Comparisons of floats are false for NaN; integers compare signed.
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
/// x limited to [low, high]; NaN stays.
Num clamp(Num x, double low, double high);
/// x * y + z, rounded once or twice as the target likes.
Num fma(Num x, Num y, Num z);
/// The polynomial with the table's coefficients, by Horner's rule.
Num polynomial(Num x, const math_tables::Table &table);
Num sqrt(Num x);

Num bitsOf(Num x);
Num fromBits(Num x);
Num abs(Num x);
Num signOf(Num x); // the sign bit
/// |x| with the sign bit added to it.
Num withSign(Num x, Num signBit);
/// The upper half of the mantissa: products of two such are exact. Going
/// through the bits also keeps compilers from contracting across it.
Num upperHalf(Num x);
/// The nearest integer, halves to even, for |x| below the width of a mantissa.
Num nearest(Num x);

inline constexpr double kLog2E = 1.4426950408889634074;

// The expansions that others are made of.
Num expandExp(Num x, double scale = 1);
/// e^x, but 0 below e^-80 (f64: e^-700): nothing on the way is subnormal above, which
/// processors are slow to compute.
Num expandExpOrZero(Num x);
/// e^(high + low) * scale, where low is far below high.
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
