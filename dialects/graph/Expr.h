// Scalar and vector expressions: a value with its ONNX element type, and C++
// operators that build arith and math operations. The definition of a graph
// operator (the code that computes an element of its result) is written once
// with these C++ operators, and serves both scalars and vectors.

#ifndef INGOT_GRAPH_EXPR_H
#define INGOT_GRAPH_EXPR_H

#include "mlir/IR/Types.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/StringRef.h"

namespace ingot::graph {

class ElementBuilder;

/// `type` is the element type in the graph (f16, ui8, i1, index ...). `value`
/// has the type in which such elements are computed (`computeType`: f32 for
/// narrower floats, a signless integer for an integer), or is a vector of
/// elements of that type.
struct Expr {
  ElementBuilder *builder = nullptr;
  mlir::Value value;
  mlir::Type type;

  explicit operator bool() const { return static_cast<bool>(value); }
};

Expr operator+(Expr x, Expr y);
Expr operator-(Expr x, Expr y);
Expr operator*(Expr x, Expr y);
/// Returns x / y. A quotient of integers is truncated towards zero; for
/// integers x / 0 is 0, and MIN / -1 wraps.
Expr operator/(Expr x, Expr y);
/// Returns the remainder with the sign of the dividend (like C's `%` and fmod).
/// For integers, x % 0 is 0.
Expr operator%(Expr x, Expr y);
Expr operator&(Expr x, Expr y);
Expr operator|(Expr x, Expr y);
Expr operator^(Expr x, Expr y);
/// Shifts `x` left (right) by `y` bits. If `y` is negative or at least the bit
/// width of `x`, the result is 0; if a signed `x` is shifted right, it consists
/// of copies of the sign bit of `x`.
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

// Operators with one literal operand, which gets the type of the other operand.
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
/// NumPy's maximum and minimum: NaN if either operand is NaN.
Expr max(Expr x, Expr y);
Expr min(Expr x, Expr y);
Expr max(Expr x, double y);
Expr min(Expr x, double y);
/// Returns x * y + z, as a fused multiply-add where the target has one. If `z`
/// is the constant 0, returns x * y, which may be -0 where the sum is 0.
Expr fma(Expr x, Expr y, Expr z);

/// Returns the upper 32 bits of the 64-bit product of two signed 32-bit
/// integers.
Expr mulHigh(Expr x, Expr y);

Expr abs(Expr x);
Expr sign(Expr x);
Expr sqrt(Expr x);
Expr exp(Expr x);
/// Returns e^x, or 0 if e^x is negligible compared with 1, so that sums have no
/// subnormal terms, which would be slow to compute.
Expr expOrZero(Expr x);
/// Returns an approximation of erf(x) for use in 1 + erf(x).
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
/// Rounds to the nearest integer, ties to even.
Expr round(Expr x);
Expr isNaN(Expr x);
Expr isInf(Expr x);

// Functions that ExprFunctions.cpp composes of the functions above.
Expr sigmoid(Expr x);
/// Returns factor * sigmoid(x), computed with one division.
Expr timesSigmoid(Expr factor, Expr x);
/// Rounds an f32 to tf32 (10 bits of mantissa), ties away from zero.
Expr roundToTf32(Expr x);
/// Returns the remainder with the sign of the divisor (like Python's `%`).
Expr floorMod(Expr x, Expr y);
/// ONNX Pow: the result has the type of `x`, whatever the type of `y`. Common
/// constant exponents, such as 2 and 0.5, become multiplications and roots.
Expr power(Expr x, Expr y);
/// Return the neutral element of max, and of min: an infinity, or the lowest or
/// highest value of an integer type.
Expr lowest(ElementBuilder &b, mlir::Type type);
Expr highest(ElementBuilder &b, mlir::Type type);

/// Converts like ONNX Cast: a float becomes an integer by truncation towards
/// zero and saturation (NaN becomes 0), an integer wraps to a narrower integer
/// type, and any number but 0 becomes true. Conversion to 8-bit floats
/// saturates unless `saturate` is false.
Expr convert(Expr x, mlir::Type type, bool saturate = true);
/// Converts to f8E8M0, the type of the scales of microscaling (MX) formats,
/// whose values are powers of two. `roundMode` is "up", "down" or "nearest".
/// Without `saturate`, a number that rounding takes above 2^127 becomes NaN.
Expr toPowerOfTwo(Expr x, llvm::StringRef roundMode, bool saturate);
/// Returns round(x / scale) + zero in the type of `zero`, saturated (an 8-bit
/// float only if `saturate`). `dequantize` returns (x - zero) * scale in the
/// type `type`.
Expr quantize(Expr x, Expr scale, Expr zero, bool saturate = true);
Expr dequantize(Expr x, Expr scale, Expr zero, mlir::Type type);
/// Returns what `x` would be without saturation to the highest value of its
/// type, as a 32-bit integer; saturation to the lowest value is kept. `x` must
/// be an integer of at most 16 bits that `quantize` built with a constant zero
/// point; otherwise returns nullopt.
std::optional<Expr> beforeSaturation(Expr x);
/// Returns the number that `quantize` rounds to compute `x`, and the zero point
/// that it adds. The conditions for `x` are those of beforeSaturation. `quantize`
/// turns NaN into the lowest integer; an instruction that rounds the number may
/// turn NaN into another integer.
std::optional<std::pair<Expr, int64_t>> beforeRounding(Expr x);
/// Reinterprets the bits as another type of equal width.
Expr bitcast(Expr x, mlir::Type type);

} // namespace ingot::graph

#endif // INGOT_GRAPH_EXPR_H
