// Expands bit counts and integer powers.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/legalize/math/ExpandMathFunctions.h"
#include "passes/legalize/math/MathNum.h"

using namespace mlir;

namespace ingot::legalize {

static unsigned widthOf(Value v) {
  return getElementTypeOrSelf(v.getType()).getIntOrFloatBitWidth();
}

static Num integerLike(Num x, uint64_t bits) {
  Type type = x.v.getType(), element = getElementTypeOrSelf(type);
  TypedAttr value = IntegerAttr::get(
      element, APInt(64, bits).trunc(element.getIntOrFloatBitWidth()));
  if (auto vector = dyn_cast<VectorType>(type))
    value = DenseElementsAttr::get(vector, ArrayRef<Attribute>(value));
  return x.b->wrap(arith::ConstantOp::create(x.b->builder, x.b->loc, value));
}

/// Counts the set bits of `x` by adding the counts of neighbouring groups of 1,
/// 2, 4, ... bits.
Num expandPopulation(Num x) {
  for (unsigned group = 1; group < widthOf(x.v); group *= 2) {
    uint64_t mask = ~uint64_t(0) / ((uint64_t(1) << group) + 1);
    x = (x & integerLike(x, mask)) + ((x >> group) & integerLike(x, mask));
  }
  return x;
}

Num expandLeadingZeros(Num x) {
  for (unsigned distance = 1; distance < widthOf(x.v); distance *= 2)
    x = x | (x >> distance);
  return expandPopulation(!x);
}

Num expandTrailingZeros(Num x) {
  return expandPopulation(!x & (x - integerLike(x, 1)));
}

/// Computes x^n by repeated squaring, with a step for each bit of n >= 0.
template <typename MulOp>
static Value power(OpBuilder &builder, Location loc, Value x, Value n,
                   TypedAttr oneOfX) {
  auto constant = [&](Type type, TypedAttr scalar) -> Value {
    if (auto vector = dyn_cast<VectorType>(type))
      scalar = DenseElementsAttr::get(vector, ArrayRef<Attribute>(scalar));
    return arith::ConstantOp::create(builder, loc, scalar);
  };
  Type exponentElement = getElementTypeOrSelf(n.getType());
  Value result = constant(x.getType(), oneOfX);
  Value one = constant(n.getType(), builder.getIntegerAttr(exponentElement, 1));
  Value zero =
      constant(n.getType(), builder.getIntegerAttr(exponentElement, 0));
  // If the exponent is constant, only multiplications are built.
  unsigned bits = widthOf(n);
  APInt known;
  bool isKnown = matchPattern(n, m_ConstantInt(&known));
  if (isKnown)
    bits = std::max(1u, known.getActiveBits());
  for (unsigned bit = 0; bit < bits; ++bit) {
    Value product = builder.createOrFold<MulOp>(loc, result, x);
    if (isKnown) {
      result = known[bit] ? product : result;
    } else {
      Value lowest = builder.createOrFold<arith::AndIOp>(loc, n, one);
      Value odd = builder.createOrFold<arith::CmpIOp>(
          loc, arith::CmpIPredicate::ne, lowest, zero);
      result = builder.createOrFold<arith::SelectOp>(loc, odd, product, result);
      n = builder.createOrFold<arith::ShRUIOp>(loc, n, one);
    }
    if (bit + 1 < bits)
      x = builder.createOrFold<MulOp>(loc, x, x);
  }
  return result;
}

Value expandIPow(OpBuilder &builder, Location loc, Value x, Value y) {
  Type element = getElementTypeOrSelf(x.getType());
  MathBuilder b(builder, loc,
                builder.getF32Type()); // The float type is not used.
  Value positive = power<arith::MulIOp>(builder, loc, x, y,
                                        builder.getIntegerAttr(element, 1));
  // With a negative exponent, the power is 1 / x^|y|, which truncates to 0
  // unless the base is 1 or -1.
  Num base = b.wrap(x), exponent = b.wrap(y);
  Num odd = equal(exponent & integerLike(exponent, 1), 1);
  Num inverse = select(equal(base, 1), 1,
                       select(equal(base, -1) & odd, base,
                              select(equal(base, -1), 1, base - base)));
  return select(exponent < 0, inverse, b.wrap(positive)).v;
}

Value expandFPowI(OpBuilder &builder, Location loc, Value x, Value y) {
  MathBuilder b(builder, loc, x.getType());
  Num exponent = b.wrap(y);
  Num negative = exponent < 0;
  Num magnitude = select(negative, -exponent, exponent);
  Type element = getElementTypeOrSelf(x.getType());
  Num result = b.wrap(power<arith::MulFOp>(builder, loc, x, magnitude.v,
                                           builder.getFloatAttr(element, 1)));
  return select(negative, 1 / result, result).v;
}

} // namespace ingot::legalize
