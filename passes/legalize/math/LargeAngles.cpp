// Reduces large angles by multiples of pi/2, in integers (Payne and Hanek,
// 1983).
//
//     |x| = m * 2^e, where m is the mantissa as an integer
//     |x| * 2/pi mod 4 = (m * window) mod 2^(32 * words), in fixed point
//
// where `window` contains the bits of 2/pi whose products with m are neither a
// multiple of 4 nor too small to matter. The two highest bits of the product
// are the quadrant, the other bits are the fraction of the quadrant. No float
// is closer to a multiple of pi/2 than 2^-31 (f32) or 2^-61 (f64) times pi/2,
// so the fraction (62 or 126 bits) has enough bits after its leading zeros for
// a mantissa.
//
// The code multiplies 32-bit integers to 64-bit products, since
// microcontrollers multiply and shift these without library calls.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/legalize/math/ExpandMathFunctions.h"
#include "passes/legalize/math/MathNum.h"

using namespace mlir;

namespace ingot::legalize {

/// The digits of 2/pi in 32-bit words, the highest first: 2/pi * 2^1184.
static constexpr uint32_t kTwoOverPi[] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041,
    0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c,
    0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41,
    0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d,
    0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08,
    0x56033046};

namespace {

/// Builds the reduction of a large scalar angle by multiples of pi/2.
class LargeAngle {
public:
  explicit LargeAngle(Num x)
      : b(*x.b), magnitude(bitsOf(x) & b.integer(~b.signMask())),
        sign(named(signOf(x), "sign")) {}

  ReducedAngle reduce() {
    Num exponent = magnitude >> b.mantissaBits();
    // The window consists of the bits of 2/pi that matter for the product.
    // `position` is the index of its first bit in the words of 2/pi.
    int64_t zeros = b.pick(1, 2), bits = b.mantissaBits();
    Num position = named(
        word(exponent) - double(b.bias() + bits + 2 - 32 * zeros), "position");
    SmallVector<Num> product = multiply(mantissa(), window(position, zeros));
    // Split the product into the nearest quadrant and the remaining fraction,
    // in [-1/2, 1/2) of a quadrant.
    Num top = named(product.back(), "top");
    Num quadrant = named((top + 0x20000000) >> 30, "quadrant");
    product.back() = named(top - (quadrant << 30), "rest");
    Num angle = fractionToAngle(product);
    Num negative = !equal(sign, 0);
    Num signedQuadrant = select(negative, -quadrant, quadrant);
    return {fromBits(bitsOf(angle) ^ sign), fromWord(signedQuadrant)};
  }

private:
  Num word(uint32_t value) {
    return b.wrap(arith::ConstantOp::create(
        b.builder, b.loc,
        b.builder.getI32IntegerAttr(static_cast<int32_t>(value))));
  }
  /// Returns the low 32 bits of an integer.
  Num word(Num x) {
    Type i32 = b.builder.getI32Type();
    return x.v.getType() == i32
               ? x
               : b.wrap(arith::TruncIOp::create(b.builder, b.loc, i32, x.v));
  }
  Num wide(Num x) {
    return b.wrap(
        arith::ExtUIOp::create(b.builder, b.loc, b.builder.getI64Type(), x.v));
  }
  Num fromWord(Num x) {
    return b.isDouble() ? b.wrap(arith::ExtSIOp::create(b.builder, b.loc,
                                                        b.intType, x.v))
                        : x;
  }

  /// Returns m, the mantissa as an integer, in 32-bit words, the lowest first.
  SmallVector<Num> mantissa() {
    uint64_t one = uint64_t(1) << b.mantissaBits();
    Num m = named((magnitude & b.integer(one - 1)) | b.integer(one), "m");
    if (!b.isDouble())
      return {m};
    return {named(word(m), "m_low"), named(word(m >> 32), "m_high")};
  }

  /// Returns the bits of 2/pi that begin at `position`, in 32-bit words, the
  /// lowest first. Positions are counted as if `zeros` words of 0 preceded the
  /// words of 2/pi.
  SmallVector<Num> window(Num position, int64_t zeros) {
    size_t count = b.pick<size_t>(3, 6), bits = b.pick<size_t>(3, 6);
    SmallVector<Num> words;
    for (size_t i = 0; i < b.pick<size_t>(8, 39); ++i)
      words.push_back(word(static_cast<int64_t>(i) < zeros
                               ? uint32_t(0)
                               : kTwoOverPi[i - static_cast<size_t>(zeros)]));
    // Moves the words down by `index` words. Each bit of `index` that is set
    // moves them by the value of the bit, from the highest bit to the lowest.
    // If the highest bit is set, all other bits are 0: no further move follows,
    // so this move only has to set the words that the result needs.
    Num index = named(position >> 5, "index");
    for (size_t bit = bits; bit-- > 0;) {
      size_t step = size_t(1) << bit,
             needed = bit + 1 == bits ? count + 1 : count + step;
      Num isSet = named(!equal(index & word(uint32_t(step)), 0), "is_set");
      for (size_t i = 0; i < std::min(needed, words.size() - step); ++i)
        words[i] = named(select(isSet, words[i + step], words[i]), "word");
    }
    Num shift = named(position & word(31u), "shift");
    Num back = named(shift ^ word(31u), "shift_back");
    SmallVector<Num> result(count);
    for (size_t i = 0; i < count; ++i) {
      Num high =
          b.wrap(arith::ShLIOp::create(b.builder, b.loc, words[i].v, shift.v));
      Num low = b.wrap(arith::ShRUIOp::create(b.builder, b.loc,
                                              (words[i + 1] >> 1).v, back.v));
      result[count - 1 - i] = named(high | low, "bits");
    }
    return result;
  }

  /// Returns the low y.size() words of the product of the integers `x` and `y`.
  /// All words are in order from the lowest.
  SmallVector<Num> multiply(ArrayRef<Num> x, ArrayRef<Num> y) {
    SmallVector<Num> result;
    Num carry;
    for (size_t i = 0; i < y.size(); ++i) {
      Num sum = carry, next;
      for (size_t k = 0; k <= std::min(i, x.size() - 1); ++k) {
        Num product = named(wide(x[k]) * wide(y[i - k]), "product");
        Num low = wide(word(product)), high = product >> 32;
        sum = named(sum.b ? sum + low : low, "sum");
        next = named(next.b ? next + high : high, "next");
      }
      result.push_back(word(sum));
      carry = named(next + (sum >> 32), "carry");
    }
    return result;
  }

  /// Returns pi/2 times a signed fraction. The fraction consists of 32-bit
  /// `words`, the lowest one first; the unit of the highest word is 2^-30.
  Num fractionToAngle(ArrayRef<Num> words) {
    // Split the fraction into integers that floats represent exactly.
    SmallVector<Num> parts;
    auto add = [&](Num integer, int exponent) {
      Num value = b.wrap(
          arith::SIToFPOp::create(b.builder, b.loc, b.floatType, integer.v));
      parts.push_back(named(value * std::ldexp(1.0, exponent), "part"));
    };
    Num top = words.back(), next = words[words.size() - 2];
    if (b.isDouble()) {
      add(top, -30);
      add(wide(next), -62);
      add(wide(words[words.size() - 3]), -94);
      add(wide(words[words.size() - 4]), -126);
    } else {
      add(top & word(0xffffff00u), -30);
      add(((top & word(0xffu)) << 16) | (next >> 16), -46);
      add(next & word(0xffffu), -62);
    }
    Num tail = parts.back();
    for (size_t i = parts.size() - 2; i > 0; --i)
      tail = named(parts[i] + tail, "tail");
    Num fraction = named(parts.front() + tail, "fraction");
    Num high = named(upperHalf(fraction), "high");
    Num low = named((parts.front() - high) + tail, "low");
    // pi/2 is split into two parts, so that the product of the first part with
    // `high` is exact.
    double piHigh = b.pick(1.57080078125, 1.5707963109016418457);
    double piLow = b.pick(-4.4544551033807686783e-6, 1.5893254773528196e-8);
    return named(fma(high, b.constant(piHigh),
                     fma(high, b.constant(piLow), low * (piHigh + piLow))),
                 "angle");
  }

  MathBuilder &b;
  Num magnitude, sign;
};

} // namespace

Num isLargeAngle(Num x) { return abs(x) > 1e5; }

ReducedAngle reduceLargeAngle(Num x, ReducedAngle otherwise) {
  MathBuilder &b = *x.b;
  // For infinities and NaN, `otherwise` is NaN, which is the correct result.
  Num isLarge = named(isLargeAngle(x) & (abs(x) < b.infinity()), "is_large");
  auto branch = scf::IfOp::create(
      b.builder, b.loc, TypeRange{b.floatType, b.intType}, isLarge.v, true);
  auto build = [&](Block &block, llvm::function_ref<ReducedAngle(Num)> body) {
    OpBuilder builder = OpBuilder::atBlockEnd(&block);
    MathBuilder inner(builder, b.loc, b.floatType);
    ReducedAngle angle = body(inner.wrap(x.v));
    scf::YieldOp::create(builder, b.loc,
                         ValueRange{angle.r.v, angle.quadrant.v});
  };
  build(*branch.thenBlock(), [](Num x) { return LargeAngle(x).reduce(); });
  build(*branch.elseBlock(), [&](Num) { return otherwise; });
  return {named(b.wrap(branch.getResult(0)), "r"),
          named(b.wrap(branch.getResult(1)), "quadrant")};
}

Num replaceLargeAngles(Num x, Num result, Num (*ofScalar)(Num)) {
  MathBuilder &b = *x.b;
  auto vector = cast<VectorType>(b.floatType);
  Num flags = select(isLargeAngle(x), b.integer(1), b.integer(0));
  Value any = vector::ReductionOp::create(b.builder, b.loc,
                                          vector::CombiningKind::OR, flags.v);
  Value zero = arith::ConstantOp::create(
      b.builder, b.loc, b.builder.getIntegerAttr(any.getType(), 0));
  Value isAny = arith::CmpIOp::create(b.builder, b.loc,
                                      arith::CmpIPredicate::ne, any, zero);
  auto branch = scf::IfOp::create(b.builder, b.loc, TypeRange{vector}, isAny,
                                  /*withElseRegion=*/true);
  OpBuilder builder = branch.getElseBodyBuilder();
  scf::YieldOp::create(builder, b.loc, result.v);
  // If any lane is a large angle, compute the function lane by lane through a
  // stack buffer.
  builder = branch.getThenBodyBuilder();
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, b.loc, value);
  };
  Value lanes = memref::AllocaOp::create(
      builder, b.loc,
      MemRefType::get(vector.getShape(), vector.getElementType()));
  named(b.wrap(lanes), "lanes");
  Value first = index(0);
  vector::StoreOp::create(builder, b.loc, x.v, lanes, first);
  auto loop = scf::ForOp::create(builder, b.loc, first,
                                 index(vector.getNumElements()), index(1));
  {
    OpBuilder inner = OpBuilder::atBlockTerminator(loop.getBody());
    MathBuilder scalar(inner, b.loc, vector.getElementType());
    Value lane = loop.getInductionVar();
    named(scalar.wrap(lane), "lane");
    Num element = named(
        scalar.wrap(memref::LoadOp::create(inner, b.loc, lanes, lane)), "x");
    memref::StoreOp::create(inner, b.loc, ofScalar(element).v, lanes, lane);
  }
  Value loaded = vector::LoadOp::create(builder, b.loc, vector, lanes, first);
  scf::YieldOp::create(builder, b.loc, loaded);
  return named(b.wrap(branch.getResult(0)), "result");
}

} // namespace ingot::legalize
