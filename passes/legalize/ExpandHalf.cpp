// Represents small floats by their bits.
//
// C has no f16, bf16, f8 or f4 type. Generated code stores their bits in
// unsigned integers (see CTypes.h) and computes in f32:
//
//     %s = arith.addf %a, %b : f16   =>   extf both, addf in f32, truncf
//     %w = arith.extf %a : f16 to f32 =>  bit operations, unless the target's
//                                         table has the conversion
//
// Narrowing rounds to nearest even and produces denormals. An f64 is first
// rounded to odd in f32, so that two roundings give the same result as one. A
// value that overflows becomes infinity; NaN in formats without infinity; or
// the largest value in formats without both. Saturating casts have been clamped
// before.

#include "dialects/kernel/Extremum.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/NumberTypes.h"
#include "dialects/kernel/Strict.h"
#include "passes/legalize/Expansions.h"
#include "passes/legalize/TargetPatterns.h"
#include "targets/TargetDescription.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace ingot::legalize {

namespace {

enum class Specials {
  Ieee,    ///< infinities and NaNs in the highest exponent
  OneNan,  ///< all ones is NaN, no infinity ("FN")
  NegZero, ///< the only NaN has the bits of -0 ("FNUZ")
  None,    ///< finite values only
};

/// The layout of a float format of at most 16 bits: sign, exponent, mantissa.
struct Format {
  unsigned exponentBits, mantissaBits;
  int bias;
  Specials specials;

  unsigned magnitudeBits() const { return exponentBits + mantissaBits; }
  unsigned highest() const { return (1u << magnitudeBits()) - 1; }
  /// Returns the bits of the result of an overflow: infinity, NaN or the
  /// largest value.
  unsigned overflow() const {
    if (specials == Specials::Ieee)
      return ((1u << exponentBits) - 1) << mantissaBits;
    return specials == Specials::NegZero ? 1u << magnitudeBits() : highest();
  }
  unsigned nan() const {
    return specials == Specials::Ieee ? overflow() | 1u << (mantissaBits - 1)
                                      : overflow();
  }
  unsigned largestFinite() const {
    switch (specials) {
    case Specials::Ieee:
      return overflow() - 1;
    case Specials::OneNan:
      return highest() - 1;
    default:
      return highest();
    }
  }
};

std::optional<Format> formatOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (element.isF16())
    return Format{5, 10, 15, Specials::Ieee};
  if (isa<Float8E5M2Type>(element))
    return Format{5, 2, 15, Specials::Ieee};
  if (isa<Float8E4M3FNType>(element))
    return Format{4, 3, 7, Specials::OneNan};
  if (isa<Float8E4M3FNUZType>(element))
    return Format{4, 3, 8, Specials::NegZero};
  if (isa<Float8E5M2FNUZType>(element))
    return Format{5, 2, 16, Specials::NegZero};
  if (isa<Float4E2M1FNType>(element))
    return Format{2, 1, 1, Specials::None};
  return std::nullopt;
}

Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

/// Builds arith operations on scalars or vectors of the shape of `like`.
struct Bits {
  OpBuilder &b;
  Location loc;
  Type like;

  Type i32() const { return withElement(like, b.getI32Type()); }
  Type f32() const { return withElement(like, b.getF32Type()); }

  Value constant(Type type, TypedAttr value) const {
    if (auto vector = dyn_cast<VectorType>(type))
      value = DenseElementsAttr::get(vector, Attribute(value));
    return arith::ConstantOp::create(b, loc, type, value);
  }
  Value c(uint32_t value) const {
    return constant(i32(), b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value f(float value) const {
    return constant(f32(), b.getF32FloatAttr(value));
  }
  Value add(Value x, Value y) const {
    return arith::AddIOp::create(b, loc, x, y);
  }
  Value sub(Value x, Value y) const {
    return arith::SubIOp::create(b, loc, x, y);
  }
  Value conj(Value x, Value y) const {
    return arith::AndIOp::create(b, loc, x, y);
  }
  Value disj(Value x, Value y) const {
    return arith::OrIOp::create(b, loc, x, y);
  }
  Value shl(Value x, unsigned n) const {
    return arith::ShLIOp::create(b, loc, x, c(n));
  }
  Value shr(Value x, unsigned n) const {
    return arith::ShRUIOp::create(b, loc, x, c(n));
  }
  Value is(arith::CmpIPredicate p, Value x, Value y) const {
    return arith::CmpIOp::create(b, loc, p, x, y);
  }
  Value pick(Value condition, Value x, Value y) const {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value asInt(Value x) const {
    return arith::BitcastOp::create(b, loc, i32(), x);
  }
  Value asFloat(Value x) const {
    return arith::BitcastOp::create(b, loc, f32(), x);
  }
  /// Returns the bits of `small`, a float of at most 16 bits, zero-extended to
  /// 32 bits.
  Value widen(Value small) const {
    unsigned bits = getElementTypeOrSelf(small).getIntOrFloatBitWidth();
    Type narrow = withElement(like, b.getIntegerType(bits));
    Value raw = arith::BitcastOp::create(b, loc, narrow, small);
    return arith::ExtUIOp::create(b, loc, i32(), raw);
  }
  Value narrow(Value bits, Type small) const {
    unsigned width = getElementTypeOrSelf(small).getIntOrFloatBitWidth();
    Type type = withElement(like, b.getIntegerType(width));
    Value cut = arith::TruncIOp::create(b, loc, type, bits);
    return arith::BitcastOp::create(b, loc, small, cut);
  }
};

using P = arith::CmpIPredicate;

/// Converts the float `x` of format `format` to f32, exactly.
Value widenFormat(Bits bits, Value x, const Format &format) {
  unsigned mantissa = format.mantissaBits;
  Value raw = bits.widen(x);
  Value magnitude = bits.conj(raw, bits.c(format.highest()));
  Value sign = bits.shl(bits.conj(raw, bits.c(1u << format.magnitudeBits())),
                        31 - format.magnitudeBits());
  Value normal = bits.add(bits.shl(magnitude, 23 - mantissa),
                          bits.c((127u - format.bias) << 23));
  // The value of a denormal is its mantissa times a power of two, which is a
  // normal f32.
  Value steps =
      arith::UIToFPOp::create(bits.b, bits.loc, bits.f32(), magnitude);
  float unit = std::ldexp(1.0f, 1 - format.bias - int(mantissa));
  Value denormal =
      bits.asInt(arith::MulFOp::create(bits.b, bits.loc, steps, bits.f(unit)));
  Value result = bits.pick(bits.is(P::ult, magnitude, bits.c(1u << mantissa)),
                           denormal, normal);
  result = bits.disj(result, sign);
  switch (format.specials) {
  case Specials::Ieee:
    result = bits.pick(bits.is(P::uge, magnitude, bits.c(format.overflow())),
                       bits.disj(result, bits.c(0x7f800000)), result);
    break;
  case Specials::OneNan:
    result = bits.pick(bits.is(P::eq, magnitude, bits.c(format.nan())),
                       bits.disj(result, bits.c(0x7fc00000)), result);
    break;
  case Specials::NegZero:
    result = bits.pick(bits.is(P::eq, raw, bits.c(format.nan())),
                       bits.c(0x7fc00000), result);
    break;
  case Specials::None:
    break;
  }
  return bits.asFloat(result);
}

/// Converts the f32 `x` to format `format`, rounded to nearest even.
Value narrowFormat(Bits bits, Value x, Type small, const Format &format) {
  unsigned shift = 23 - format.mantissaBits;
  Value raw = bits.asInt(x);
  Value magnitude = bits.conj(raw, bits.c(0x7fffffff));
  Value sign = bits.conj(bits.shr(raw, 31 - format.magnitudeBits()),
                         bits.c(1u << format.magnitudeBits()));
  Value odd = bits.conj(bits.shr(magnitude, shift), bits.c(1));
  Value rounded = bits.shr(
      bits.add(bits.add(magnitude, bits.c((1u << (shift - 1)) - 1)), odd),
      shift);
  Value normal =
      bits.sub(rounded, bits.c((127u - format.bias) << format.mantissaBits));
  // Adds a constant whose unit in the last place is the smallest denormal of
  // the format: the f32 addition then rounds to a multiple of this denormal.
  float magic = std::ldexp(1.0f, 24 - format.bias - int(format.mantissaBits));
  uint32_t magicBits;
  std::memcpy(&magicBits, &magic, sizeof magic);
  Value sum = arith::AddFOp::create(bits.b, bits.loc, bits.asFloat(magnitude),
                                    bits.f(magic));
  Value denormal = bits.sub(bits.asInt(sum), bits.c(magicBits));
  Value result =
      bits.pick(bits.is(P::ult, magnitude, bits.c((128u - format.bias) << 23)),
                denormal, normal);
  Value code =
      bits.pick(bits.is(P::ugt, result, bits.c(format.largestFinite())),
                bits.c(format.overflow()), result);
  code = bits.pick(bits.is(P::ugt, magnitude, bits.c(0x7f800000)),
                   bits.c(format.nan()), code);
  Value withSign = bits.disj(code, sign);
  if (format.specials == Specials::NegZero)
    // In a format whose only NaN has the bits of -0, neither zero nor NaN has a
    // sign.
    withSign = bits.pick(
        bits.is(P::eq, bits.conj(code, bits.c(format.highest())), bits.c(0)),
        code, withSign);
  return bits.narrow(withSign, small);
}

Value narrowBFloat(Bits bits, Value x, Type small) {
  Value raw = bits.asInt(x);
  Value odd = bits.conj(bits.shr(raw, 16), bits.c(1));
  Value rounded = bits.shr(bits.add(bits.add(raw, bits.c(0x7fff)), odd), 16);
  // A NaN whose payload is only in the dropped bits must remain NaN.
  Value quiet = bits.disj(bits.shr(raw, 16), bits.c(0x40));
  Value isNan =
      bits.is(P::ugt, bits.conj(raw, bits.c(0x7fffffff)), bits.c(0x7f800000));
  return bits.narrow(bits.pick(isNan, quiet, rounded), small);
}

/// Converts f8E8M0FNU to f32. The bits of an f8E8M0FNU are the biased exponent
/// of a power of two, or 255 for NaN.
Value widenPower(Bits bits, Value x) {
  Value raw = bits.widen(x);
  Value power = bits.pick(bits.is(P::eq, raw, bits.c(0)), bits.c(0x00400000),
                          bits.shl(raw, 23));
  return bits.asFloat(
      bits.pick(bits.is(P::eq, raw, bits.c(255)), bits.c(0x7fc00000), power));
}

Value narrowPower(Bits bits, Value x, Type small) {
  Value raw = bits.asInt(x);
  Value power = bits.shr(bits.add(raw, bits.c(0x00400000)), 23);
  // Negative values, infinities and NaNs become NaN, whose bits are 255.
  Value isPower = bits.is(P::ult, power, bits.c(255));
  return bits.narrow(bits.pick(isPower, power, bits.c(255)), small);
}

LogicalResult expandExt(arith::ExtFOp op, const TargetDescription &target,
                        PatternRewriter &rewriter) {
  Value x = op.getIn();
  Type from = getElementTypeOrSelf(x), to = getElementTypeOrSelf(op.getType());
  if (!isBitsFloat(from))
    return failure();
  Type f32 = withElement(op.getType(), rewriter.getF32Type());
  if (!to.isF32()) {
    // Convert through f32, which holds every small float exactly.
    Value wide = arith::ExtFOp::create(rewriter, op.getLoc(), f32, x);
    if (to.isF64())
      rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, op.getType(), wide);
    else
      rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), wide);
    return success();
  }
  if (target.intrinsic("arith.extf", x.getType(), op.getType()))
    return failure();
  Bits bits{rewriter, op.getLoc(), op.getType()};
  Value result;
  if (from.isBF16())
    result = bits.asFloat(bits.shl(bits.widen(x), 16));
  else if (isa<Float8E8M0FNUType>(from))
    result = widenPower(bits, x);
  else if (std::optional<Format> format = formatOf(from))
    result = widenFormat(bits, x, *format);
  else
    return failure();
  rewriter.replaceOp(op, result);
  return success();
}

/// Rounds f64 to f32 toward odd, so that a later rounding to fewer bits is
/// correct.
Value roundToOdd(OpBuilder &b, Location loc, Value x) {
  Type f32 = withElement(x.getType(), b.getF32Type());
  Bits bits{b, loc, f32};
  Value nearest = arith::TruncFOp::create(b, loc, f32, x);
  Value back = arith::ExtFOp::create(b, loc, x.getType(), nearest);
  Value inexact =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ONE, back, x);
  Value away = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT,
                                     math::AbsFOp::create(b, loc, back),
                                     math::AbsFOp::create(b, loc, x));
  Value raw = bits.asInt(nearest);
  Value towardZero = bits.pick(away, bits.sub(raw, bits.c(1)), raw);
  return bits.asFloat(
      bits.pick(inexact, bits.disj(towardZero, bits.c(1)), raw));
}

LogicalResult expandTrunc(arith::TruncFOp op, const TargetDescription &target,
                          PatternRewriter &rewriter) {
  Type to = getElementTypeOrSelf(op.getType());
  if (!isBitsFloat(to))
    return failure();
  Location loc = op.getLoc();
  Value x = op.getIn();
  Type from = getElementTypeOrSelf(x);
  if (from.isF64())
    x = roundToOdd(rewriter, loc, x);
  else if (!from.isF32())
    x = arith::ExtFOp::create(
        rewriter, loc, withElement(x.getType(), rewriter.getF32Type()), x);
  const Intrinsic *row =
      target.intrinsic("arith.truncf", x.getType(), op.getType());
  if (row && !(row->flushes && kernel::isStrict(op))) {
    if (x == op.getIn())
      return failure();
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), x);
    return success();
  }
  Bits bits{rewriter, loc, op.getType()};
  Value result;
  if (to.isBF16())
    result = narrowBFloat(bits, x, op.getType());
  else if (isa<Float8E8M0FNUType>(to))
    result = narrowPower(bits, x, op.getType());
  else if (std::optional<Format> format = formatOf(to))
    result = narrowFormat(bits, x, op.getType(), *format);
  else
    return failure();
  rewriter.replaceOp(op, result);
  return success();
}

/// Computes arithmetic, comparisons and conversions of floats narrower than f32
/// in f32, if the target has no instruction for the operation in the narrow
/// type.
struct ComputeWide : RewritePattern {
  ComputeWide(MLIRContext *context, const TargetDescription &target)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context), target(target) {}
  const TargetDescription &target;

  /// Whether the target has an instruction for `op`, or for the maximum or
  /// minimum that a comparison forms together with its select.
  bool isInstruction(Operation *op) const {
    Type type = op->getOperand(0).getType();
    if (!isa<arith::CmpFOp>(op))
      return target.intrinsic(op->getName().getStringRef(), type,
                              op->getResult(0).getType());
    return target.intrinsic(arith::MaximumFOp::getOperationName(), type,
                            type) &&
           llvm::all_of(op->getUsers(), [](Operation *user) {
             auto select = dyn_cast<arith::SelectOp>(user);
             return select && kernel::isMaximum(select);
           });
  }

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    StringRef dialect = op->getName().getDialectNamespace();
    bool computes = dialect == "arith" || dialect == "math" ||
                    isa<vector::FMAOp, vector::ReductionOp>(op);
    if (!computes || isa<arith::ConstantOp, arith::BitcastOp, arith::SelectOp,
                         arith::ExtFOp, arith::TruncFOp>(op))
      return failure();
    auto isSmall = [](Type type) {
      return isBitsFloat(getElementTypeOrSelf(type));
    };
    if (llvm::none_of(op->getOperandTypes(), isSmall) &&
        llvm::none_of(op->getResultTypes(), isSmall))
      return failure();
    if (isInstruction(op))
      return failure();
    auto wide = [&](Type type) {
      return isSmall(type) ? withElement(type, rewriter.getF32Type()) : type;
    };
    Location loc = op->getLoc();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isSmall(operand.getType())
                             ? arith::ExtFOp::create(rewriter, loc,
                                                     wide(operand.getType()),
                                                     operand)
                             : operand);
    SmallVector<Type> types;
    for (Type type : op->getResultTypes())
      types.push_back(wide(type));
    OperationState state(loc, op->getName(), operands, types, op->getAttrs());
    Operation *computed = rewriter.create(state);
    SmallVector<Value> results;
    for (auto [result, value] :
         llvm::zip_equal(op->getResults(), computed->getResults()))
      results.push_back(isSmall(result.getType())
                            ? Value(arith::TruncFOp::create(
                                  rewriter, loc, result.getType(), value))
                            : Value(value));
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace

void populateExpandHalf(RewritePatternSet &patterns,
                        const TargetDescription &target) {
  addForTarget(patterns, target, expandExt);
  addForTarget(patterns, target, expandTrunc);
  patterns.add<ComputeWide>(patterns.getContext(), target);
}

} // namespace ingot::legalize
