// Scalar and vector expressions.
//
// A value together with its ONNX element type, with C++ operators that build
// arith and math operations. Operator definitions are written with it once and
// serve scalars and vectors alike.

#ifndef INGOT_GRAPH_EXPR_H
#define INGOT_GRAPH_EXPR_H

#include "mlir/IR/Types.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/StringRef.h"

namespace ingot::graph {

class ElementBuilder;

/// `type` is the element type as the graph sees it (f16, ui8, i1, index ...);
/// `value` has the type it is computed in: f32 for f16, bfloat16 and the 8-bit
/// floats, signless integers, or a vector of these.
struct Expr {
  ElementBuilder *builder = nullptr;
  mlir::Value value;
  mlir::Type type;

  explicit operator bool() const { return static_cast<bool>(value); }
};

Expr operator+(Expr x, Expr y);
Expr operator-(Expr x, Expr y);
Expr operator*(Expr x, Expr y);
/// Integers truncate towards zero; a zero divisor yields 0, MIN / -1 wraps.
Expr operator/(Expr x, Expr y);
/// The remainder with the sign of the dividend (C's `%` and fmod).
Expr operator%(Expr x, Expr y);
Expr operator&(Expr x, Expr y);
Expr operator|(Expr x, Expr y);
Expr operator^(Expr x, Expr y);
/// Shifts by the width or more leave only copies of the sign, or 0.
Expr operator<<(Expr x, Expr y);
Expr operator>>(Expr x, Expr y);
Expr operator-(Expr x);
Expr operator~(Expr x); // bitwise not; logical not on i1
Expr operator<(Expr x, Expr y);
Expr operator<=(Expr x, Expr y);
Expr operator>(Expr x, Expr y);
Expr operator>=(Expr x, Expr y);
Expr equal(Expr x, Expr y);
Expr notEqual(Expr x, Expr y);

// The same with a literal of the other operand's type.
#define INGOT_EXPR_LITERAL(OP)                                                 \
  Expr operator OP(Expr x, double y);                                          \
  Expr operator OP(double x, Expr y);
INGOT_EXPR_LITERAL(+)
INGOT_EXPR_LITERAL(-)
INGOT_EXPR_LITERAL(*)
INGOT_EXPR_LITERAL(/)
INGOT_EXPR_LITERAL(%)
INGOT_EXPR_LITERAL(<)
INGOT_EXPR_LITERAL(<=)
INGOT_EXPR_LITERAL(>)
INGOT_EXPR_LITERAL(>=)
#undef INGOT_EXPR_LITERAL
Expr equal(Expr x, double y);
Expr notEqual(Expr x, double y);

Expr select(Expr condition, Expr x, Expr y);
Expr select(Expr condition, Expr x, double y);
Expr select(Expr condition, double x, Expr y);
/// NumPy's maximum and minimum: NaN if either is.
Expr max(Expr x, Expr y);
Expr min(Expr x, Expr y);
Expr max(Expr x, double y);
Expr min(Expr x, double y);
/// x * y + z, fused where the target can; x * y if z is the constant 0, though
/// 0 + -0 would be 0.
Expr fma(Expr x, Expr y, Expr z);

/// The upper 32 of the 64 bits of a product of signed integers.
Expr mulHigh(Expr x, Expr y);

Expr abs(Expr x);
Expr sign(Expr x);
Expr sqrt(Expr x);
Expr exp(Expr x);
/// e^x, but 0 where that is next to nothing beside 1: terms of sums that are subnormal
/// would be slower to compute.
Expr expOrZero(Expr x);
/// erf(x) to which 1 is added, so that it may be off by what is next to nothing beside 1.
Expr erfBesideOne(Expr x);
Expr log(Expr x);
Expr log1p(Expr x);
Expr expm1(Expr x);
Expr pow(Expr x, Expr y);
Expr sin(Expr x);
Expr cos(Expr x);
Expr tan(Expr x);
Expr asin(Expr x);
Expr acos(Expr x);
Expr atan(Expr x);
Expr sinh(Expr x);
Expr cosh(Expr x);
Expr tanh(Expr x);
Expr asinh(Expr x);
Expr acosh(Expr x);
Expr atanh(Expr x);
Expr erf(Expr x);
Expr floor(Expr x);
Expr ceil(Expr x);
Expr trunc(Expr x);
/// Halves to even.
Expr round(Expr x);
Expr isNaN(Expr x);
Expr isInf(Expr x);

// Composed of the above (ExprFunctions.cpp).
Expr sigmoid(Expr x);
/// factor * sigmoid(x), in one division.
Expr timesSigmoid(Expr factor, Expr x);
/// The nearest number of 10 bits of fraction, of an f32; halves away from zero.
Expr roundToTf32(Expr x);
/// The remainder with the sign of the divisor (Python's `%`).
Expr floorMod(Expr x, Expr y);
/// ONNX Pow: as pow, with the type of `x`, whatever the type of `y`; constant
/// exponents become products and roots.
Expr power(Expr x, Expr y);
/// The identities of max and min: infinities, or the ends of an integer's
/// range.
Expr lowest(ElementBuilder &b, mlir::Type type);
Expr highest(ElementBuilder &b, mlir::Type type);

/// Conversion as ONNX Cast does it: floats truncate towards zero to integers
/// (out of range saturates, NaN gives 0: never undefined), integers wrap,
/// anything but 0 is true; to the 8-bit floats saturating unless `saturate` is
/// false.
Expr convert(Expr x, mlir::Type type, bool saturate = true);
/// To the scale format f8E8M0: `roundMode` is "up", "down" or "nearest".
Expr toPowerOfTwo(Expr x, llvm::StringRef roundMode, bool saturate);
/// round(x / scale) + zero, saturated to the type of `zero`; and back.
Expr quantize(Expr x, Expr scale, Expr zero, bool saturate = true);
Expr dequantize(Expr x, Expr scale, Expr zero, mlir::Type type);
/// Of a quantized number of at most 16 bits: the integer of 32 bits that it is the nearest
/// one of its type to. It is not below the type's lowest number, and may be above its
/// highest. Nothing where `x` is not what quantize makes.
std::optional<Expr> beforeSaturation(Expr x);
/// The same bits as another type of equal width.
Expr bitcast(Expr x, mlir::Type type);

} // namespace ingot::graph

#endif // INGOT_GRAPH_EXPR_H
