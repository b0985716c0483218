// Scalar functions composed of the basic ones of Expr.h.

#include "dialects/graph/ElementBuilder.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ingot::graph {

// If e^-x overflows to infinity, the result is 0, which is correct.
Expr timesSigmoid(Expr factor, Expr x) {
  return factor / (expOrZero(-x) + 1.0);
}
Expr sigmoid(Expr x) { return 1.0 / (expOrZero(-x) + 1.0); }

Expr roundToTf32(Expr x) {
  MLIRContext *context = x.type.getContext();
  Type f32 = Float32Type::get(context),
       ui32 = IntegerType::get(context, 32, IntegerType::Unsigned);
  Expr bits = bitcast(convert(x, f32), ui32);
  auto literal = [&](int64_t value) {
    return x.builder->constantInt(value, ui32);
  };
  // Adds half of the value of the lowest bit that is kept. A carry into the
  // exponent gives the correct result.
  constexpr int64_t half = 1 << 12, dropped = 2 * half - 1;
  Expr rounded =
      bitcast((bits + literal(half)) & literal(~dropped & 0xffffffff), f32);
  return convert(select(isNaN(x), x, rounded), x.type);
}

Expr floorMod(Expr x, Expr y) {
  Expr r = x % y;
  if (x.type.isUnsignedInteger())
    return r;
  if (!isa<FloatType>(x.type))
    return select(notEqual(r, 0.0) & ((r ^ y) < 0.0), r + y, r);
  // A zero result takes the sign of the divisor.
  Expr zero = select(y < 0.0, r.builder->constant(-0.0, r.type), 0.0 * y);
  return select(equal(r, 0.0), zero,
                select(notEqual(r < 0.0, y < 0.0), r + y, r));
}

/// Returns the value of `y` if `y` is a constant; otherwise nullopt.
static std::optional<double> constantValue(Expr y) {
  Attribute attr;
  if (!matchPattern(y.value, m_Constant(&attr)))
    return std::nullopt;
  if (auto dense = dyn_cast<SplatElementsAttr>(attr))
    attr = dense.getSplatValue<Attribute>();
  if (auto f = dyn_cast<FloatAttr>(attr))
    return f.getValueAsDouble();
  if (auto i = dyn_cast<IntegerAttr>(attr))
    return y.type.isUnsignedInteger() ? i.getValue().roundToDouble(false)
                                      : i.getValue().roundToDouble(true);
  return std::nullopt;
}

/// Returns x^0.5, which differs from the square root for -infinity, where it is
/// infinity, and for -0, where it is 0.
static Expr squareRootPower(Expr x) {
  double infinity = std::numeric_limits<double>::infinity();
  return select(equal(x, -infinity), infinity, sqrt(x + 0.0));
}

Expr power(Expr x, Expr y) {
  ElementBuilder &b = *x.builder;
  if (std::optional<double> n = constantValue(y)) {
    if (*n == 0)
      return b.broadcast(b.constant(1, x.type), b.lanes());
    if (*n == 1)
      return x;
    if (*n == 2)
      return x * x;
    if (*n == 3)
      return x * x * x;
    if (*n == 4)
      return (x * x) * (x * x);
    if (isa<FloatType>(x.type)) {
      if (*n == 0.5)
        return squareRootPower(x);
      if (*n == 0.75) {
        Expr root = squareRootPower(x);
        return root * sqrt(root);
      }
      if (*n == -0.5)
        return 1.0 / squareRootPower(x);
      if (*n == -1)
        return 1.0 / x;
      if (*n == -2)
        return 1.0 / (x * x);
    }
  }
  if (isa<FloatType>(x.type))
    return pow(x, convert(y, computeType(x.type)));
  if (!isa<FloatType>(y.type))
    return pow(x, convert(y, x.type));
  // Computes an integer to the power of a float exactly if the exponent is a
  // whole number.
  Type f64 = b.builder.getF64Type();
  Expr wide = convert(y, f64);
  Expr whole = pow(x, convert(y, x.type));
  return select(equal(floor(wide), wide), whole,
                convert(pow(convert(x, f64), wide), x.type));
}

/// Returns the largest or smallest value of the integer type `type`, or
/// infinity or -infinity if `type` is a float type.
static Expr extreme(ElementBuilder &b, Type type, bool largest) {
  if (isa<FloatType>(type))
    return b.constant(largest ? INFINITY : -INFINITY, type);
  unsigned width = type.getIntOrFloatBitWidth();
  bool isUnsigned = type.isUnsignedInteger() || type.isInteger(1);
  APSInt value = largest ? APSInt::getMaxValue(width, isUnsigned)
                         : APSInt::getMinValue(width, isUnsigned);
  return b.constantInt(isUnsigned ? static_cast<int64_t>(value.getZExtValue())
                                  : value.getSExtValue(),
                       type);
}
Expr lowest(ElementBuilder &b, Type type) {
  return extreme(b, type, /*largest=*/false);
}
Expr highest(ElementBuilder &b, Type type) {
  return extreme(b, type, /*largest=*/true);
}

Expr toPowerOfTwo(Expr x, llvm::StringRef roundMode, bool saturate) {
  ElementBuilder &b = *x.builder;
  Type ui32 = b.builder.getIntegerType(32, /*isSigned=*/false),
       f32 = b.builder.getF32Type();
  Expr bits = bitcast(convert(x, f32), ui32);
  auto literal = [&](int64_t value) { return b.constantInt(value, ui32); };
  Expr exponent = (bits >> literal(23)) & literal(0xff);
  Expr fraction = bits & literal(0x7fffff);
  // "nearest" rounds a fraction of exactly one half up. With exponent 0,
  // however, such a fraction means the subnormal number 2^-127, which f8E8M0
  // represents exactly.
  Expr up = roundMode == "nearest"
                ? (fraction > literal(0x400000)) |
                      (equal(fraction, 0x400000) & (exponent > 0.0))
            : roundMode == "up" ? fraction > 0.0
                                : b.constant(0, b.builder.getI1Type());
  up = up & (exponent < (saturate ? 254.0 : 255.0));
  exponent = exponent + convert(up, ui32);
  // Converts the exponent back to a float. The exponent 255 means NaN, and 0
  // means 2^-127, which is subnormal in f32.
  Expr value = bitcast(exponent << literal(23), f32);
  value =
      select(equal(exponent, 255.0), std::numeric_limits<double>::quiet_NaN(),
             select(equal(exponent, 0.0), 0x1p-127, value));
  value.type = Float8E8M0FNUType::get(b.builder.getContext());
  return value;
}

/// 1.5 * 2^23, the middle of the range in which adjacent f32 values are 1
/// apart.
static constexpr double magic = 0x1.8p23;

/// Returns the integer nearest to `x` (ties to even) plus `zero`, saturated to
/// `to`, an integer type of at most 16 bits; NaN gives the lowest value. The
/// low 16 bits of the sum x + 1.5 * 2^23 are this integer, so that no
/// conversion with undefined overflow is needed. The bounds are applied to the
/// sum, so that if `x` is a product, the multiplication and the addition can be
/// one fused instruction.
static Expr roundWithin(Expr x, Expr zero, Type to) {
  ElementBuilder &b = *x.builder;
  double range = 1u << to.getIntOrFloatBitWidth(),
         low = to.isUnsignedInteger() ? 0 : -range / 2;
  Expr shift = convert(zero, x.type), least = magic + low - shift,
       most = magic + low + range - 1 - shift, sum = x + magic;
  sum = select(sum > least, sum, least);
  sum = select(sum < most, sum, most);
  Type si32 = b.builder.getIntegerType(32, /*isSigned=*/true);
  return convert(bitcast(sum, si32) + convert(zero, si32), to);
}

Expr quantize(Expr x, Expr scale, Expr zero, bool saturate) {
  ElementBuilder &b = *x.builder;
  Type f32 = b.builder.getF32Type(), to = zero.type;
  Expr q = convert(x, scale.type) / scale;
  // The quotient is rounded to the type of `scale` first, as ONNX defines: this
  // affects which quotients are ties.
  q.type = computeType(scale.type);
  q = convert(convert(q, scale.type), f32);
  // 8-bit floats have no zero point. f4E2M1 has the zero point 0: adding it
  // turns -0 into 0.
  if (isa<Float4E2M1FNType>(to))
    q = q + convert(zero, f32);
  if (isa<FloatType>(to))
    return convert(q, to, saturate);
  if (to.getIntOrFloatBitWidth() <= 16)
    return roundWithin(q, zero, to);
  // An integer type of more than 16 bits. The sum is exact if the zero point is
  // 0 or the sum is below 2^24.
  return convert(round(q) + convert(zero, f32), to);
}

/// Returns the value of a constant; for a vector, the value that all lanes
/// have. Returns nullopt if `v` is not constant.
static std::optional<double> numberOf(Value v) {
  while (auto splat = v.getDefiningOp<vector::BroadcastOp>())
    v = splat.getSource();
  APInt integer;
  APFloat number(0.0f);
  if (matchPattern(v, m_ConstantInt(&integer)))
    return double(integer.getSExtValue());
  if (matchPattern(v, m_ConstantFloat(&number)))
    return number.convertToDouble();
  return std::nullopt;
}

namespace {
/// The intermediate values of roundWithin, found in the IR that it built.
struct Rounded {
  /// The sum x + `magic`, the sum after clamping to the lower bound, and after
  /// clamping to both bounds.
  Value sum, atLeast, within;
  double zero;
};
} // namespace

static std::optional<Rounded> roundedWithin(Expr x) {
  auto cut = x.value.getDefiningOp<arith::TruncIOp>();
  if (!cut)
    return std::nullopt;
  double range = 1u << x.type.getIntOrFloatBitWidth(),
         low = x.type.isUnsignedInteger() ? 0 : -range / 2;
  Rounded result{{}, {}, {}, 0};
  Value sum = cut.getIn();
  if (auto moved = sum.getDefiningOp<arith::AddIOp>()) {
    std::optional<double> zero = numberOf(moved.getRhs());
    if (!zero)
      return std::nullopt;
    result.zero = *zero;
    sum = moved.getLhs();
  }
  auto bits = sum.getDefiningOp<arith::BitcastOp>();
  auto below =
      bits ? bits.getIn().getDefiningOp<arith::SelectOp>() : arith::SelectOp();
  auto above = below ? below.getTrueValue().getDefiningOp<arith::SelectOp>()
                     : arith::SelectOp();
  if (!above ||
      numberOf(below.getFalseValue()) !=
          magic + low + range - 1 - result.zero ||
      numberOf(above.getFalseValue()) != magic + low - result.zero)
    return std::nullopt;
  result.sum = above.getTrueValue();
  result.atLeast = above;
  result.within = bits.getIn();
  return result;
}

/// Returns `x` minus its zero point as a float, without converting to an
/// integer and back, if roundWithin built `x` with the constant zero point
/// `zero`; otherwise nullopt.
static std::optional<Expr> roundedFloat(Expr x, Expr zero) {
  std::optional<double> shift = numberOf(zero.value);
  std::optional<Rounded> rounded = roundedWithin(x);
  if (!rounded || !shift || zero.type != x.type)
    return std::nullopt;
  // The IR has no unsigned constants, so a zero point of type uint8 above 127
  // is negative here.
  if (x.type.isUnsignedInteger() && *shift < 0)
    *shift += 1u << x.type.getIntOrFloatBitWidth();
  if (*shift != rounded->zero)
    return std::nullopt;
  return Expr{x.builder, rounded->within, x.builder->builder.getF32Type()} -
         magic;
}

std::optional<Expr> beforeSaturation(Expr x) {
  std::optional<Rounded> rounded = roundedWithin(x);
  if (!rounded)
    return std::nullopt;
  ElementBuilder &b = *x.builder;
  Type si32 = b.builder.getIntegerType(32, /*isSigned=*/true);
  Expr sum{x.builder, rounded->atLeast, b.builder.getF32Type()};
  constexpr int64_t bitsOfMagic = 0x4b400000;
  return bitcast(sum, si32) -
         b.constantInt(bitsOfMagic - int64_t(rounded->zero), si32);
}

std::optional<std::pair<Expr, int64_t>> beforeRounding(Expr x) {
  std::optional<Rounded> rounded = roundedWithin(x);
  auto sum =
      rounded ? rounded->sum.getDefiningOp<arith::AddFOp>() : arith::AddFOp();
  if (!sum || numberOf(sum.getRhs()) != magic)
    return std::nullopt;
  return std::pair(
      Expr{x.builder, sum.getLhs(), x.builder->builder.getF32Type()},
      int64_t(rounded->zero));
}

Expr dequantize(Expr x, Expr scale, Expr zero, Type type) {
  ElementBuilder &b = *x.builder;
  Type f32 = b.builder.getF32Type(),
       si32 = b.builder.getIntegerType(32, /*isSigned=*/true);
  if (std::optional<Expr> known = roundedFloat(x, zero))
    x = *known;
  else if (!isa<FloatType>(x.type))
    x = convert(x, si32) - convert(zero, si32);
  return convert(convert(x, f32) * convert(scale, f32), type);
}

} // namespace ingot::graph
