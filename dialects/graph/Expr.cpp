#include "dialects/graph/Expr.h"

#include "dialects/graph/ElementBuilder.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;

namespace ingot::graph {

static bool isFloat(Expr x) {
  return isa<FloatType>(getElementTypeOrSelf(x.value.getType()));
}
static bool isUnsigned(Expr x) {
  return x.type.isUnsignedInteger() || x.type.isInteger(1);
}

static Expr literal(Expr like, double value) {
  return like.builder->constant(value, like.type);
}

/// Returns the vector type of `scalar` with as many lanes as `x`; `scalar`
/// itself if `x` is a scalar.
static Type inLanesOf(Expr x, Type scalar) {
  if (auto vector = dyn_cast<VectorType>(x.value.getType()))
    return VectorType::get(vector.getShape(), scalar);
  return scalar;
}

template <typename OpT, typename... Args>
static Value make(Expr x, Args &&...args) {
  return x.builder->builder.createOrFold<OpT>(x.builder->loc,
                                              std::forward<Args>(args)...);
}

template <typename FloatOp, typename SignedOp, typename UnsignedOp>
static Expr binary(Expr x, Expr y) {
  ElementBuilder::unify(x, y);
  Value v = isFloat(x)      ? make<FloatOp>(x, x.value, y.value)
            : isUnsigned(x) ? make<UnsignedOp>(x, x.value, y.value)
                            : make<SignedOp>(x, x.value, y.value);
  return {x.builder, v, x.type};
}

template <typename IntOp> static Expr bitwise(Expr x, Expr y) {
  ElementBuilder::unify(x, y);
  return {x.builder, make<IntOp>(x, x.value, y.value), x.type};
}

Expr operator+(Expr x, Expr y) {
  return binary<arith::AddFOp, arith::AddIOp, arith::AddIOp>(x, y);
}
Expr operator-(Expr x, Expr y) {
  return binary<arith::SubFOp, arith::SubIOp, arith::SubIOp>(x, y);
}
Expr operator*(Expr x, Expr y) {
  return binary<arith::MulFOp, arith::MulIOp, arith::MulIOp>(x, y);
}
Expr operator&(Expr x, Expr y) { return bitwise<arith::AndIOp>(x, y); }
Expr operator|(Expr x, Expr y) { return bitwise<arith::OrIOp>(x, y); }
Expr operator^(Expr x, Expr y) { return bitwise<arith::XOrIOp>(x, y); }

/// Returns the quotient of two integers, or their remainder if `remainder`, by
/// code without undefined behaviour: the divisors 0 and, if signed, -1 are
/// replaced by 1, and the result is corrected.
static Expr guardedDivision(Expr x, Expr y, bool remainder) {
  ElementBuilder::unify(x, y);
  APInt divisor;
  bool safe =
      x.type.isIndex() || (matchPattern(y.value, m_ConstantInt(&divisor)) &&
                           !divisor.isZero() && !divisor.isAllOnes());
  Expr by = y;
  Expr bad, minusOne;
  if (!safe) {
    bad = equal(y, 0.0);
    by = select(bad, 1.0, y);
    if (!isUnsigned(x)) {
      minusOne = equal(y, -1.0);
      by = select(minusOne, 1.0, by);
    }
  }
  Value v = isUnsigned(x)
                ? (remainder ? make<arith::RemUIOp>(x, x.value, by.value)
                             : make<arith::DivUIOp>(x, x.value, by.value))
                : (remainder ? make<arith::RemSIOp>(x, x.value, by.value)
                             : make<arith::DivSIOp>(x, x.value, by.value));
  Expr result{x.builder, v, x.type};
  if (safe)
    return result;
  if (minusOne)
    result = select(minusOne, remainder ? literal(x, 0) : -x, result);
  return select(bad, 0.0, result);
}

Expr operator/(Expr x, Expr y) {
  if (!isFloat(x))
    return guardedDivision(x, y, /*remainder=*/false);
  ElementBuilder::unify(x, y);
  return {x.builder, make<arith::DivFOp>(x, x.value, y.value), x.type};
}

Expr operator%(Expr x, Expr y) {
  if (!isFloat(x))
    return guardedDivision(x, y, /*remainder=*/true);
  ElementBuilder::unify(x, y);
  return {x.builder, make<arith::RemFOp>(x, x.value, y.value), x.type};
}

static Expr shift(Expr x, Expr y, bool left) {
  ElementBuilder::unify(x, y);
  unsigned width =
      getElementTypeOrSelf(x.value.getType()).getIntOrFloatBitWidth();
  Expr fits = y < literal(y, width);
  if (!isUnsigned(y))
    fits = fits & (y >= 0.0);
  if (!left && !isUnsigned(x)) {
    Expr by = select(fits, y, literal(y, width - 1));
    return {x.builder, make<arith::ShRSIOp>(x, x.value, by.value), x.type};
  }
  Expr by = select(fits, y, 0.0);
  Value v = left ? make<arith::ShLIOp>(x, x.value, by.value)
                 : make<arith::ShRUIOp>(x, x.value, by.value);
  return select(fits, Expr{x.builder, v, x.type}, 0.0);
}
Expr operator<<(Expr x, Expr y) { return shift(x, y, /*left=*/true); }
Expr operator>>(Expr x, Expr y) { return shift(x, y, /*left=*/false); }

Expr mulHigh(Expr x, Expr y) {
  ElementBuilder::unify(x, y);
  return {x.builder,
          make<kernel::MulHighOp>(x, x.value.getType(), x.value, y.value),
          x.type};
}

Expr operator-(Expr x) {
  if (isFloat(x))
    return {x.builder, make<arith::NegFOp>(x, x.value), x.type};
  return literal(x, 0) - x;
}
Expr operator~(Expr x) { return x ^ x.builder->constantInt(-1, x.type); }

static Expr compare(Expr x, Expr y, arith::CmpFPredicate f,
                    arith::CmpIPredicate s, arith::CmpIPredicate u) {
  ElementBuilder::unify(x, y);
  Value v = isFloat(x) ? make<arith::CmpFOp>(x, f, x.value, y.value)
                       : make<arith::CmpIOp>(x, isUnsigned(x) ? u : s, x.value,
                                             y.value);
  return {x.builder, v, x.builder->builder.getI1Type()};
}
#define INGOT_COMPARE(FN, F, S, U)                                             \
  Expr FN(Expr x, Expr y) {                                                    \
    return compare(x, y, arith::CmpFPredicate::F, arith::CmpIPredicate::S,     \
                   arith::CmpIPredicate::U);                                   \
  }
INGOT_COMPARE(operator<, OLT, slt, ult)
INGOT_COMPARE(operator<=, OLE, sle, ule)
INGOT_COMPARE(operator>, OGT, sgt, ugt)
INGOT_COMPARE(operator>=, OGE, sge, uge)
INGOT_COMPARE(equalNumbers, OEQ, eq, eq)
INGOT_COMPARE(notEqual, UNE, ne, ne)
#undef INGOT_COMPARE

Expr equal(Expr x, Expr y) {
  if (!isa<kernel::StringType>(x.type))
    return equalNumbers(x, y);
  Type truth = x.builder->builder.getI1Type();
  return {x.builder, make<kernel::SameStringOp>(x, truth, x.value, y.value),
          truth};
}

#define INGOT_EXPR_LITERAL(OP)                                                 \
  Expr operator OP(Expr x, double y) { return x OP literal(x, y); }            \
  Expr operator OP(double x, Expr y) { return literal(y, x) OP y; }
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
Expr equal(Expr x, double y) { return equal(x, literal(x, y)); }
Expr notEqual(Expr x, double y) { return notEqual(x, literal(x, y)); }

Expr select(Expr condition, Expr x, Expr y) {
  ElementBuilder::unify(x, y);
  // Broadcasts scalar operands to the lanes of a vector condition.
  if (auto vector = dyn_cast<VectorType>(condition.value.getType())) {
    x = x.builder->broadcast(x, vector.getNumElements());
    y = y.builder->broadcast(y, vector.getNumElements());
  }
  return {x.builder,
          make<arith::SelectOp>(x, condition.value, x.value, y.value), x.type};
}
Expr select(Expr condition, Expr x, double y) {
  return select(condition, x, literal(x, y));
}
Expr select(Expr condition, double x, Expr y) {
  return select(condition, literal(y, x), y);
}

/// Whether `x` is a float constant other than NaN. A maximum or minimum with
/// such a constant propagates the NaN of the other operand by one compare and
/// select, which is one instruction on most targets.
static bool isOrderedConstant(Expr x) {
  llvm::APFloat value(0.0);
  return matchPattern(x.value, m_ConstantFloat(&value)) && !value.isNaN();
}

Expr max(Expr x, Expr y) {
  if (isOrderedConstant(x))
    std::swap(x, y);
  if (isOrderedConstant(y))
    return select(x < y, y, x);
  if (x.type.isInteger(1))
    return x | y;
  return binary<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(x, y);
}
Expr min(Expr x, Expr y) {
  if (isOrderedConstant(x))
    std::swap(x, y);
  if (isOrderedConstant(y))
    return select(x > y, y, x);
  if (x.type.isInteger(1))
    return x & y;
  return binary<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(x, y);
}
Expr max(Expr x, double y) { return max(x, literal(x, y)); }
Expr min(Expr x, double y) { return min(x, literal(x, y)); }

Expr fma(Expr x, Expr y, Expr z) {
  ElementBuilder::unify(x, y);
  ElementBuilder::unify(x, z);
  ElementBuilder::unify(y, z);
  if (!isFloat(x))
    return x * y + z;
  // `z` is 0 if it is the initial value of a sum. Omitting the addition of 0
  // changes at most the sign of a zero result.
  if (matchPattern(z.value, m_PosZeroFloat()))
    return x * y;
  if (isa<VectorType>(x.value.getType()))
    return {x.builder, make<vector::FMAOp>(x, x.value, y.value, z.value),
            x.type};
  return {x.builder, make<math::FmaOp>(x, x.value, y.value, z.value), x.type};
}

/// Applies a function of floats. ONNX defines some functions, for example Erf,
/// for integers as well: an integer is converted to f32 (if it has at most 16
/// bits) or f64, and the result is truncated.
template <typename OpT> static Expr unary(Expr x) {
  if (isFloat(x))
    return {x.builder, make<OpT>(x, x.value), x.type};
  Builder b(x.type.getContext());
  bool fitsSingle = x.type.getIntOrFloatBitWidth() <= 16;
  return convert(
      unary<OpT>(convert(x, fitsSingle ? b.getF32Type() : b.getF64Type())),
      x.type);
}

Expr abs(Expr x) {
  if (isFloat(x))
    return unary<math::AbsFOp>(x);
  return isUnsigned(x) ? x : select(x < 0.0, -x, x);
}
Expr sign(Expr x) {
  Expr zero = literal(x, 0), one = literal(x, 1);
  if (isUnsigned(x))
    return select(equal(x, zero), zero, one);
  Expr sign = select(x > zero, one, select(x < zero, literal(x, -1), zero));
  return isFloat(x) ? select(isNaN(x), x, sign) : sign;
}
Expr sqrt(Expr x) { return unary<math::SqrtOp>(x); }
Expr exp(Expr x) { return unary<math::ExpOp>(x); }
/// Applies a function that the target may approximate (fast-math flag afn).
template <typename Op> static Expr approximated(Expr x) {
  auto flags = arith::FastMathFlagsAttr::get(x.type.getContext(),
                                             arith::FastMathFlags::afn);
  return {x.builder, make<Op>(x, x.value, flags), x.type};
}
Expr expOrZero(Expr x) { return approximated<math::ExpOp>(x); }
Expr log(Expr x) { return unary<math::LogOp>(x); }
Expr log1p(Expr x) { return unary<math::Log1pOp>(x); }
Expr expm1(Expr x) { return unary<math::ExpM1Op>(x); }
Expr sin(Expr x) { return unary<math::SinOp>(x); }
Expr cos(Expr x) { return unary<math::CosOp>(x); }
Expr tan(Expr x) { return unary<math::TanOp>(x); }
Expr asin(Expr x) { return unary<math::AsinOp>(x); }
Expr acos(Expr x) { return unary<math::AcosOp>(x); }
Expr atan(Expr x) { return unary<math::AtanOp>(x); }
Expr sinh(Expr x) { return unary<math::SinhOp>(x); }
Expr cosh(Expr x) { return unary<math::CoshOp>(x); }
Expr tanh(Expr x) { return unary<math::TanhOp>(x); }
Expr asinh(Expr x) { return unary<math::AsinhOp>(x); }
Expr acosh(Expr x) { return unary<math::AcoshOp>(x); }
Expr atanh(Expr x) { return unary<math::AtanhOp>(x); }
Expr erf(Expr x) { return unary<math::ErfOp>(x); }
Expr erfBesideOne(Expr x) { return approximated<math::ErfOp>(x); }
Expr floor(Expr x) { return isFloat(x) ? unary<math::FloorOp>(x) : x; }
Expr ceil(Expr x) { return isFloat(x) ? unary<math::CeilOp>(x) : x; }
Expr trunc(Expr x) { return isFloat(x) ? unary<math::TruncOp>(x) : x; }
Expr round(Expr x) { return isFloat(x) ? unary<math::RoundEvenOp>(x) : x; }

Expr pow(Expr x, Expr y) {
  ElementBuilder::unify(x, y);
  if (isFloat(x))
    return {x.builder, make<math::PowFOp>(x, x.value, y.value), x.type};
  // Computes powers of integers by repeated squaring: one squaring for each bit
  // of the exponent.
  ElementBuilder &b = *x.builder;
  unsigned width =
      getElementTypeOrSelf(x.value.getType()).getIntOrFloatBitWidth();
  Expr zero = literal(x, 0),
       one = b.broadcast(
           literal(x, 1),
           isa<VectorType>(x.value.getType())
               ? cast<VectorType>(x.value.getType()).getNumElements()
               : 1);
  Expr negative = isUnsigned(y) ? Expr{} : (y < 0.0);
  Exprs result =
      b.loop(width, {one, x, y}, [&](Expr, ArrayRef<Expr> c) -> Exprs {
        Expr odd = notEqual(c[2] & literal(c[2], 1), 0.0);
        Expr shifted{
            c[2].builder,
            make<arith::ShRUIOp>(
                c[2], c[2].value,
                b.broadcast(literal(c[2], 1),
                            isa<VectorType>(c[2].value.getType())
                                ? cast<VectorType>(c[2].value.getType())
                                      .getNumElements()
                                : 1)
                    .value),
            c[2].type};
        return {select(odd, c[0] * c[1], c[0]), c[1] * c[1], shifted};
      });
  // A negative power of an integer is 0, except for the bases 1 and -1.
  if (!negative)
    return result[0];
  Expr odd = notEqual(y & literal(y, 1), 0.0);
  Expr inverse =
      select(equal(x, 1.0), one,
             select(equal(x, -1.0), select(odd, literal(x, -1), one), zero));
  return select(negative, inverse, result[0]);
}

Expr isNaN(Expr x) { return notEqual(x, x); }
Expr isInf(Expr x) {
  return equal(abs(x), std::numeric_limits<double>::infinity());
}

/// Converts a float to an integer: saturating, NaN to 0.
static Value floatToInt(Expr x, Type to, bool isUnsignedTo) {
  ElementBuilder &b = *x.builder;
  auto type = cast<IntegerType>(computeType(to));
  unsigned width = cast<IntegerType>(to).getWidth();
  const llvm::fltSemantics &semantics =
      cast<FloatType>(getElementTypeOrSelf(x.value.getType()))
          .getFloatSemantics();
  // The bounds are converted to float with rounding towards zero: the nearest
  // float could be outside of the range of the integer type.
  APSInt low = APSInt::getMinValue(width, isUnsignedTo),
         high = APSInt::getMaxValue(width, isUnsignedTo);
  llvm::APFloat lowF(semantics), highF(semantics);
  lowF.convertFromAPInt(low, !isUnsignedTo, llvm::APFloat::rmTowardZero);
  bool exact = highF.convertFromAPInt(high, !isUnsignedTo,
                                      llvm::APFloat::rmTowardZero) ==
               llvm::APFloat::opOK;
  Type scalar = getElementTypeOrSelf(x.value.getType());
  auto floatConstant = [&](const llvm::APFloat &v) {
    return Expr{
        &b,
        arith::ConstantOp::create(b.builder, b.loc, FloatAttr::get(scalar, v)),
        x.type};
  };
  Expr lo = floatConstant(lowF), hi = floatConstant(highF);
  Expr clamped =
      select(x < lo, lo, select(x > hi, hi, select(isNaN(x), 0.0, x)));
  Type resultType = inLanesOf(x, type);
  Value v = isUnsignedTo ? make<arith::FPToUIOp>(x, resultType, clamped.value)
                         : make<arith::FPToSIOp>(x, resultType, clamped.value);
  if (exact)
    return v;
  // Returns the largest integer for values above the upper bound. The float
  // type may not represent that integer, so it is selected after the
  // conversion.
  Expr result{&b, v, to};
  Value highV =
      arith::ConstantOp::create(b.builder, b.loc, IntegerAttr::get(type, high));
  return select(x > hi, Expr{&b, highV, to}, result).value;
}

/// Narrows a double to f32 by rounding to odd: of the two floats next to an `x`
/// that no float equals, the one whose lowest bit is 1. Rounding the result to a
/// type with at least two bits of significand fewer is the same as rounding `x`
/// to that type, whereas rounding twice to nearest is not.
static Expr narrowToOdd(Expr x, Type f32) {
  ElementBuilder &b = *x.builder;
  Expr nearest{&b, make<arith::TruncFOp>(x, inLanesOf(x, f32), x.value), f32};
  Expr back{&b, make<arith::ExtFOp>(x, x.value.getType(), nearest.value),
            x.type};
  Type ui32 = IntegerType::get(f32.getContext(), 32, IntegerType::Unsigned);
  Expr one = b.constantInt(1, ui32);
  Expr bits = bitcast(nearest, ui32);
  Expr towardsZero = select(abs(back) > abs(x), bits - one, bits);
  return bitcast(select(notEqual(back, x), towardsZero | one, bits), f32);
}

Expr convert(Expr x, Type to, bool saturate) {
  if (x.type == to)
    return x;
  ElementBuilder &b = *x.builder;
  Type compute = computeType(to);
  if (to.isInteger(1))
    return {&b, notEqual(x, 0.0).value, to};
  bool fromFloat = isFloat(x), toFloat = isa<FloatType>(to);
  if (fromFloat && toFloat) {
    auto from = cast<FloatType>(getElementTypeOrSelf(x.value.getType()));
    unsigned toWidth = compute.getIntOrFloatBitWidth();
    Value v = x.value;
    if (from.getWidth() < toWidth)
      v = make<arith::ExtFOp>(x, inLanesOf(x, compute), v);
    else if (from.getWidth() > toWidth)
      v = compute == to ? make<arith::TruncFOp>(x, inLanesOf(x, compute), v)
                        : narrowToOdd({&b, v, from}, compute).value;
    // Rounds to the narrow type `to` here, and holds the result in the wider
    // type of the computation.
    if (compute != to) {
      auto narrow = cast<FloatType>(to);
      Expr wide{&b, v, compute};
      if (narrow.getWidth() <= 8 && (saturate || isa<Float4E2M1FNType>(to))) {
        double limit = llvm::APFloat::getLargest(narrow.getFloatSemantics())
                           .convertToDouble();
        wide = select(wide > limit, limit, select(wide < -limit, -limit, wide));
      }
      if (isa<Float4E2M1FNType>(to)) // this type has no NaN
        wide = select(isNaN(wide), -0.0, wide);
      v = make<arith::TruncFOp>(wide, inLanesOf(x, to), wide.value);
      v = make<arith::ExtFOp>(wide, inLanesOf(x, compute), v);
    }
    return {&b, v, to};
  }
  if (fromFloat && to.isIndex())
    return convert(convert(x, b.builder.getIntegerType(64, /*isSigned=*/true)),
                   to);
  // Conversions to integers of fewer than 8 bits wrap, as those between
  // integers do.
  if (fromFloat && to.getIntOrFloatBitWidth() < 8)
    return convert(convert(x, b.builder.getIntegerType(32, /*isSigned=*/true)),
                   to);
  if (fromFloat)
    return {&b, floatToInt(x, to, to.isUnsignedInteger()), to};
  if (toFloat) {
    Value v =
        isUnsigned(x)
            ? make<arith::UIToFPOp>(x, inLanesOf(x, compute), x.value)
            : make<arith::SIToFPOp>(
                  x, inLanesOf(x, compute),
                  x.type.isIndex()
                      ? make<arith::IndexCastOp>(
                            x, inLanesOf(x, b.builder.getI64Type()), x.value)
                      : x.value);
    Expr wide{&b, v, compute};
    if (compute == to)
      return wide;
    wide.type = compute;
    return convert(wide, to, saturate);
  }
  if (x.type.isIndex() || to.isIndex()) {
    if (to.isIndex() && isUnsigned(x))
      return {&b, make<arith::IndexCastUIOp>(x, inLanesOf(x, compute), x.value),
              to};
    return {&b, make<arith::IndexCastOp>(x, inLanesOf(x, compute), x.value),
            to};
  }
  unsigned from =
      getElementTypeOrSelf(x.value.getType()).getIntOrFloatBitWidth();
  unsigned width = compute.getIntOrFloatBitWidth();
  Value v = x.value;
  if (from > width)
    v = make<arith::TruncIOp>(x, inLanesOf(x, compute), v);
  else if (from < width)
    v = isUnsigned(x) ? make<arith::ExtUIOp>(x, inLanesOf(x, compute), v)
                      : make<arith::ExtSIOp>(x, inLanesOf(x, compute), v);
  Expr result{&b, v, to};
  // Wraps the result if `to` is narrower than the type in which it is computed.
  if (unsigned bits = to.getIntOrFloatBitWidth(); bits < width) {
    result = result & literal(result, (uint64_t(1) << bits) - 1);
    // Copies the sign bit to all higher bits.
    Expr sign = literal(result, uint64_t(1) << (bits - 1));
    if (!isUnsigned(result))
      result = (result ^ sign) - sign;
  }
  return result;
}

Expr bitcast(Expr x, Type to) {
  if (x.type.isInteger(1) || to.isInteger(1))
    return convert(x, to); // i1 is a byte that is 0 or 1
  // Reinterprets the bits in the types in which the elements are stored. i1 was
  // handled above.
  Type from = storageType(x.type), stored = storageType(to);
  Value v = x.value;
  if (from != getElementTypeOrSelf(v.getType()))
    v = make<arith::TruncFOp>(x, inLanesOf(x, from), v);
  if (from != stored)
    v = make<arith::BitcastOp>(x, inLanesOf(x, stored), v);
  if (computeType(to) != stored)
    v = make<arith::ExtFOp>(x, inLanesOf(x, computeType(to)), v);
  return {x.builder, v, to};
}

} // namespace ingot::graph
