#include "passes/legalize/math/MathNum.h"

#include "dialects/kernel/ValueNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;

namespace ingot::legalize {

static Type withElement(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like))
    return vector.clone(element);
  return element;
}

MathBuilder::MathBuilder(OpBuilder &builder, Location loc, Type like)
    : builder(builder), loc(loc), floatType(like),
      width(getElementTypeOrSelf(like).getIntOrFloatBitWidth()) {
  intType = withElement(like, builder.getIntegerType(width));
}

template <typename OpT, typename... Args>
static Num make(Num x, Args &&...args) {
  return {x.b, x.b->builder.createOrFold<OpT>(x.b->loc,
                                              std::forward<Args>(args)...)};
}

static bool isFloat(Num x) {
  return isa<FloatType>(getElementTypeOrSelf(x.v.getType()));
}

static Num splat(MathBuilder &b, Type type, TypedAttr scalar) {
  if (auto vector = dyn_cast<VectorType>(type))
    scalar = DenseElementsAttr::get(vector, ArrayRef<Attribute>(scalar));
  return b.wrap(arith::ConstantOp::create(b.builder, b.loc, scalar));
}

Num MathBuilder::constant(double value) {
  return splat(*this, floatType,
               FloatAttr::get(getElementTypeOrSelf(floatType), value));
}

Num MathBuilder::integer(uint64_t value) {
  return splat(*this, intType,
               IntegerAttr::get(getElementTypeOrSelf(intType),
                                APInt(64, value).trunc(width)));
}

Num MathBuilder::constantLike(Num x, double value) {
  Type element = getElementTypeOrSelf(x.v.getType());
  if (isFloat(x))
    return splat(*this, x.v.getType(), FloatAttr::get(element, value));
  return splat(*this, x.v.getType(),
               IntegerAttr::get(element, static_cast<int64_t>(value)));
}

Num MathBuilder::infinity() {
  return constant(std::numeric_limits<double>::infinity());
}
Num MathBuilder::nan() {
  auto element = cast<FloatType>(getElementTypeOrSelf(floatType));
  return splat(
      *this, floatType,
      FloatAttr::get(element, APFloat::getQNaN(element.getFloatSemantics())));
}

template <typename FloatOp, typename IntOp> static Num binary(Num x, Num y) {
  return isFloat(x) ? make<FloatOp>(x, x.v, y.v) : make<IntOp>(x, x.v, y.v);
}

Num operator+(Num x, Num y) {
  return binary<arith::AddFOp, arith::AddIOp>(x, y);
}
Num operator-(Num x, Num y) {
  return binary<arith::SubFOp, arith::SubIOp>(x, y);
}
Num operator*(Num x, Num y) {
  return binary<arith::MulFOp, arith::MulIOp>(x, y);
}
Num operator/(Num x, Num y) {
  Num quotient = make<arith::DivFOp>(x, x.v, y.v);
  if (x.b->mayApproximate)
    quotient.v.getDefiningOp<arith::DivFOp>().setFastmath(
        arith::FastMathFlags::arcp);
  return quotient;
}
Num operator&(Num x, Num y) { return make<arith::AndIOp>(x, x.v, y.v); }
Num operator|(Num x, Num y) { return make<arith::OrIOp>(x, x.v, y.v); }
Num operator^(Num x, Num y) { return make<arith::XOrIOp>(x, x.v, y.v); }
Num operator<<(Num x, unsigned bits) {
  return make<arith::ShLIOp>(x, x.v, x.b->constantLike(x, bits).v);
}
Num operator>>(Num x, unsigned bits) {
  return make<arith::ShRUIOp>(x, x.v, x.b->constantLike(x, bits).v);
}
Num operator-(Num x) {
  return isFloat(x) ? make<arith::NegFOp>(x, x.v) : x.b->constantLike(x, 0) - x;
}
Num operator!(Num x) {
  Num ones = splat(*x.b, x.v.getType(),
                   IntegerAttr::get(getElementTypeOrSelf(x.v.getType()), -1));
  return x ^ ones;
}

static Num compare(Num x, Num y, arith::CmpFPredicate f,
                   arith::CmpIPredicate i) {
  return isFloat(x) ? make<arith::CmpFOp>(x, f, x.v, y.v)
                    : make<arith::CmpIOp>(x, i, x.v, y.v);
}
Num operator<(Num x, Num y) {
  return compare(x, y, arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt);
}
Num operator<=(Num x, Num y) {
  return compare(x, y, arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle);
}
Num operator>(Num x, Num y) {
  return compare(x, y, arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt);
}
Num operator>=(Num x, Num y) {
  return compare(x, y, arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge);
}
Num equal(Num x, Num y) {
  return compare(x, y, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq);
}
Num isNaN(Num x) {
  return make<arith::CmpFOp>(x, arith::CmpFPredicate::UNE, x.v, x.v);
}

Num equal(Num x, double y) { return equal(x, x.b->constantLike(x, y)); }

Num named(Num x, const Twine &name) {
  kernel::nameValue(x.v, name);
  return x;
}

Num select(Num condition, Num x, Num y) {
  return make<arith::SelectOp>(x, condition.v, x.v, y.v);
}
Num select(Num condition, Num x, double y) {
  return select(condition, x, x.b->constantLike(x, y));
}
Num select(Num condition, double x, Num y) {
  return select(condition, y.b->constantLike(y, x), y);
}

Num clamp(Num x, double low, double high) {
  Num above = named(select(x < low, low, x), "above");
  return named(select(above > high, high, above), "limited");
}

Num fma(Num x, Num y, Num z) {
  if (isa<VectorType>(x.v.getType()))
    return make<vector::FMAOp>(x, x.v, y.v, z.v);
  return x * y + z;
}

Num polynomial(Num x, const math_tables::Table &table) {
  ArrayRef<double> c = x.b->isHalf()
                           ? ArrayRef<double>(table.f16)
                           : ArrayRef<double>(x.b->pick(table.f32, table.f64));
  Num sum = x.b->constant(c.back());
  for (double term : llvm::reverse(c.drop_back()))
    sum = named(fma(sum, x, x.b->constant(term)), "series");
  return sum;
}

Num sqrt(Num x) { return make<math::SqrtOp>(x, x.v); }

Num bitsOf(Num x) { return make<arith::BitcastOp>(x, x.b->intType, x.v); }
Num fromBits(Num x) { return make<arith::BitcastOp>(x, x.b->floatType, x.v); }
Num abs(Num x) { return fromBits(bitsOf(x) & x.b->integer(~x.b->signMask())); }
Num signOf(Num x) { return bitsOf(x) & x.b->integer(x.b->signMask()); }
Num withSign(Num x, Num signBit) { return fromBits(bitsOf(x) | signBit); }

Num upperHalf(Num x) {
  unsigned dropped = (x.b->mantissaBits() + 2) / 2;
  return fromBits(bitsOf(x) & x.b->integer(~uint64_t(0) << dropped));
}

Num nearest(Num x) {
  // Adding 1.5 * 2^mantissaBits rounds to an integer.
  double magic = x.b->pick(12582912.0, 6755399441055744.0);
  return (x + magic) - magic;
}

} // namespace ingot::legalize
