// Replaces floats between integer tensors by 32-bit fixed-point numbers.
//
//   dequantize(cast(sums: si32), s) + bias -> softmax -> quantize: ui8
//     ->  x = mul_high(sums, s * log2(e)) + bias         softmax by powers of 2
//         d = x - reduce_max(x)
//         p = 2^fraction(d) >> -integer(d)               a polynomial and a shift
//         dequantize(mul_high(p, 2^60 / reduce_sum(p)), 2^-28) -> quantize
//
// This is for targets that have only integer vectors and requantize in integers
// (`vectorFloats` is false, `scalesIntegers` is true). On such targets, a float
// operation takes several VLIW packets, and an integer operation takes a part
// of one packet. Rewrites softmax, layer_norm, and sums of integers that have
// several users or are reshaped, sliced or transposed, such as the sums of
// residual networks. Their operands have to be sums of integers (readSum),
// whose types bound their magnitude: so each number gets as many fractional
// bits as fit, and no sum overflows 32 bits, whatever the data. Softmax may
// have a mask of arbitrary floats, which usually broadcasts along an axis of
// the scores (maskedSoftmax).
//
// Factors that are shared by a row along the softmax or layer_norm axis (the
// inverse sum of powers, the inverse deviation) are computed as floats. All
// other values are within 2^-16 of the exact ones, or within 2^-30 of the
// largest possible sum. Results are dequantized; if a quantization reads them,
// FormIntegerScales merges it with the dequantization.

#include "dialects/graph/ops/Patterns.h"
#include "passes/decide/Passes.h"
#include "passes/decide/SumTables.h"
#include "passes/decide/WordBuilder.h"
#include "passes/schedule/Tables.h"
#include "targets/TargetDescription.h"

#include <cmath>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_FORMFIXEDPOINT
#include "passes/decide/Passes.h.inc"

namespace {

/// A tensor of 32-bit integers that represents `integer` * 2^-`fraction`.
struct Fixed {
  Value integer;
  int fraction = 0;
};

/// Limits of fixed-point numbers. Magnitudes are below 2^magnitudeBits, so that
/// the sum of two numbers still fits a signed 32-bit integer. At most
/// `mostFraction` bits are fractional bits.
constexpr int magnitudeBits = 30, mostFraction = 24;

/// log2(e). Softmax is computed with powers of 2: e^x = 2^(x * log2e).
constexpr double log2e = 1.4426950408889634;

/// Returns the base-2 logarithm of `count`, rounded up.
int bitsFor(int64_t count) { return llvm::Log2_64_Ceil(count); }

/// The largest number of bits (bitsFor) of a row whose elements are truncated
/// before they are added: the sum of at most 2^bits elements loses less than
/// 2^(2 * bits), compared to a largest element of 2^30: a thousandth. Longer
/// rows are added in two parts (see `Parts`).
constexpr int truncatedBits = 10;

class FixedPoint : public WordBuilder {
public:
  using WordBuilder::WordBuilder;

  /// Builds `sum` as a fixed-point number with as many fractional bits as fit
  /// if magnitudes are at most `sum.bound() + more`; if `sum` is a fixed-point
  /// number already and has enough bits, returns that number. Returns nothing
  /// if fewer than `least` fractional bits fit, or if `sum` is a constant.
  std::optional<Fixed> fixed(const Sum &sum, int least, double more = 0) {
    if (sum.terms.empty())
      return std::nullopt;
    double bound = sum.bound() + more;
    if (std::optional<int> same = isFixed(sum, bound);
        same && *same >= least && *same <= mostFraction)
      return Fixed{sum.terms[0].integer, *same};
    int fraction = mostFraction;
    while (fraction >= least && !fits(sum, bound, fraction, magnitudeBits))
      --fraction;
    if (fraction < least)
      return std::nullopt;
    return Fixed{WordBuilder::sum(sum, fraction), fraction};
  }

  /// Dequantizes a fixed-point number.
  Value floats(const Fixed &x) {
    return DequantizeOp::create(
               builder, loc, tensorOf(dimsOf(x.integer), builder.getF32Type()),
               x.integer, real(std::ldexp(1.0, -x.fraction)), number(0))
        .getResult();
  }

  /// Builds 2^x / reduce_sum(2^x) along `axis` as floats. If `least` is given,
  /// a row along `axis` whose maximum is far below `least` becomes zeros.
  Value softmax(const Fixed &x, int64_t axis,
                std::optional<double> least = std::nullopt) {
    // The powers have 30 fractional bits. Their sum has `bits` fractional bits
    // fewer, so that it cannot overflow. In a long row, many powers may be
    // below a unit of this sum; the sum of these bits is added as a float.
    int bits = bitsFor(shapeOf(x.integer)[axis]);
    Value top = reduced<ReduceMaxOp>(x.integer, axis);
    if (least)
      top = binary<MaximumOp>(
          top, number(std::llround(std::ldexp(*least, x.fraction))));
    Value p = power(binary<SubOp>(x.integer, top), x.fraction);
    Parts sum = sumOf(p, axis, bits);
    if (least)
      sum.high = binary<MaximumOp>(sum.high, number(int64_t(1) << (30 - bits)));
    Value factor =
        cast(scaled(inverse(inFloats(sum)), std::ldexp(1.0, 60 - bits)), si32);
    return floats({binary<MulHighOp>(p, factor), 28});
  }

  /// Builds softmax(scores + mask) with powers of 2, for `scores` that are
  /// exponents of 2 with magnitudes up to `bound`. Each mask element is
  /// replaced by its difference to the maximum of its row (along `axis`). The
  /// difference is limited to -`depth`; 2^-depth is negligible:
  ///
  ///   mask   0 0 -1e9     ->  0 0 -depth
  ///   mask  -2 5 -inf     -> -7 0 -depth
  ///   mask  -1e30 -1e30   ->  0 0             scores are negligible here
  ///   mask  -inf  -inf    -> -depth -depth    the row of the result is zeros
  ///
  /// If the row maximum of the mask has a magnitude over `vanish`, the scores
  /// of the row are replaced by 0.
  Value maskedSoftmax(const Fixed &scores, Value mask, int64_t axis,
                      double bound, double depth, double vanish) {
    int64_t axisOfMask = axis - int64_t(shapeOf(scores.integer).size()) +
                         int64_t(shapeOf(mask).size());
    constexpr double mostFloat = std::numeric_limits<float>::max();
    // If both the mask element and the maximum `top` are infinite, their
    // difference `below` is NaN. Comparisons with NaN are false, so `limited`
    // is `deepest` there.
    double unit = std::ldexp(1.0, scores.fraction);
    Value top = binary<MaximumOp>(reduced<ReduceMaxOp>(mask, axisOfMask),
                                  real(-mostFloat)),
          below = scaled(binary<SubOp>(mask, top), log2e * unit),
          deepest = real(-depth * unit),
          limited = where(below, deepest, below, deepest),
          kept = where(real(vanish), unary<AbsOp>(top), number(-1), number(0)),
          x = binary<AddOp>(binary<AndOp>(scores.integer, kept),
                            cast(limited, si32));
    return softmax({x, scores.fraction}, axis, -bound);
  }

  /// Returns the mask that replaces a selection between scores and the constant
  /// `hidden`: 0 where `condition` equals `takesTrue`, `hidden` elsewhere.
  Value maskOf(Value condition, bool takesTrue, double hidden) {
    Value taken = real(0), other = real(hidden);
    return WhereOp::create(
               builder, loc,
               TypeRange{tensorOf(dimsOf(condition), builder.getF32Type())},
               ValueRange{condition, takesTrue ? taken : other,
                          takesTrue ? other : taken})
        ->getResult(0);
  }

  /// Builds (x - mean) / sqrt(variance + epsilon) along the last axis; without
  /// `center`, the mean counts as 0.
  Value normalized(const Fixed &x, double epsilon, bool center) {
    int64_t axis = int64_t(shapeOf(x.integer).size()) - 1,
            count = shapeOf(x.integer)[axis];
    int bits = bitsFor(count);
    bool isLong = bits > truncatedBits;
    Value centered = x.integer;
    if (center) {
      // Drops low bits so that the sum of a row fits 32 bits. Rounds while
      // doing so, since truncating all elements of a row would shift its mean.
      // The low bits of a long row are added, too.
      Value rounded =
          bits == 0 || isLong
              ? x.integer
              : binary<AddOp>(x.integer, number(int64_t(1) << (bits - 1)));
      Parts sum = sumOf(rounded, axis, bits);
      Value half = binary<MulHighOp>(
          left(sum.high, 1),
          number(std::llround(std::ldexp(1.0, 30 + bits) / double(count))));
      centered = binary<SubOp>(x.integer, left(half, 1));
      if (sum.low)
        centered = binary<SubOp>(
            centered,
            binary<MulHighOp>(sum.low, number(std::llround(std::ldexp(1.0, 32) /
                                                           double(count)))));
    }
    // Shifts each row so that its largest magnitude has as many bits as
    // possible without an overflow of the sum of squares. The squares of a long
    // row have less than 28 bits, and are added in two parts.
    int room =
        isLong ? magnitudeBits : std::min((63 - bits) / 2, magnitudeBits);
    Value largest = reduced<ReduceMaxOp>(unary<AbsOp>(centered), axis);
    auto by = [&](bool toLeft) {
      // The exponent field of a float with the value of a positive integer is
      // 127 plus the position of the highest bit of the integer.
      Value place = right(floatBits(largest), 23),
            want = number(room - 1 + 127),
            shift = toLeft ? binary<SubOp>(want, place)
                           : binary<SubOp>(place, want);
      return binary<MinimumOp>(binary<MaximumOp>(shift, number(0)), number(31));
    };
    Value toLeft = by(true), toRight = by(false),
          large = shifted(shifted(centered, toLeft, "LEFT"), toRight, "RIGHT");
    int dropped = isLong ? bits - 2 : 0;
    Parts squares = sumOf(binary<MulHighOp>(large, large), axis, dropped);
    // `variance` is in squared units of the shifted elements, so epsilon is
    // scaled by the square of the shift.
    Value net = binary<SubOp>(toLeft, toRight),
          scale = bits_(left(binary<AddOp>(left(net, 1), number(127)), 23)),
          variance = sum_(scaled(inFloats(squares),
                                 std::ldexp(1.0, 32 + dropped) / double(count)),
                          scaled(scale, std::ldexp(epsilon, 2 * x.fraction)));
    // The largest magnitude in a row is at least 2^(room - 1) and at most
    // sqrt(count) times the standard deviation. So the deviation has a lower
    // bound, and its inverse, the factor, fits 32 bits.
    int fraction = room - 3 - (bits + 1) / 2;
    Value factor = cast(
        scaled(inverseRoot(variance), std::ldexp(1.0, 32 + fraction)), si32);
    return floats({binary<MulHighOp>(large, factor), fraction});
  }

private:
  /// The sum of a row: `high` * 2^`dropped` + `low`. Without `low`, the sum is
  /// less exact.
  struct Parts {
    Value high, low;
    int dropped = 0;
  };

  /// Sums the elements of `x` along `axis` without their `dropped` low bits. If
  /// these are too many (see truncatedBits), also sums the low bits.
  Parts sumOf(Value x, int64_t axis, int dropped) {
    Parts sum{reduced<ReduceSumOp>(right(x, dropped), axis), {}, dropped};
    if (bitsFor(shapeOf(x)[axis]) > truncatedBits)
      sum.low = reduced<ReduceSumOp>(
          binary<AndOp>(x, number((int64_t(1) << dropped) - 1)), axis);
    return sum;
  }

  /// Returns the sum, divided by 2^`dropped`.
  Value inFloats(const Parts &sum) {
    Value high = inFloats(sum.high);
    return sum.low ? sum_(high, scaled(inFloats(sum.low),
                                       std::ldexp(1.0, -sum.dropped)))
                   : high;
  }

  /// Returns the number of fractional bits if `sum`, whose magnitude is at most
  /// `bound`, is a fixed-point number within the limits already: a single si32
  /// integer times a power of 2. Returns nothing for other sums.
  static std::optional<int> isFixed(const Sum &sum, double bound) {
    if (sum.terms.size() != 1 || sum.terms[0].limited ||
        sum.constant.most() != 0 || sum.terms[0].factor.values.size() != 1 ||
        !elementOf(sum.terms[0].integer).isSignedInteger(32))
      return std::nullopt;
    int exponent;
    double factor = sum.terms[0].factor.values[0];
    if (std::frexp(factor, &exponent) != 0.5 ||
        bound / factor >= std::ldexp(1, magnitudeBits))
      return std::nullopt;
    return 1 - exponent;
  }

  /// Computes 2^x for x <= 0. `x` has `fraction` fractional bits, the result
  /// has 30.
  Value power(Value x, int fraction) {
    // Splits x into the nearest integer `whole` and the remainder `rest` in
    // [-1/2, 1/2]. One unit of `rest` is 2^-32.
    Value whole = right(binary<AddOp>(x, number(int64_t(1) << (fraction - 1))),
                        fraction),
          rest = leftBits(x, 32 - fraction);
    // Polynomial fit of 2^x with constant term 1; the error is less than
    // 2.7e-6.
    constexpr double coefficients[] = {0.00968191, 0.05591969, 0.24022021,
                                       0.69312153, 1};
    Value y;
    for (double c : coefficients) {
      Value term = number(std::llround(std::ldexp(c, 30)));
      y = y ? binary<AddOp>(binary<MulHighOp>(y, rest), term) : term;
    }
    Value by = binary<MinimumOp>(binary<SubOp>(number(0), whole), number(31));
    return shifted(y, by, "RIGHT");
  }

  /// Shifts `x` left by `by` bits; the high bits are lost.
  Value leftBits(Value x, int64_t by) {
    Type ui32 = builder.getIntegerType(32, /*isSigned=*/false);
    Value count = ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(RankedTensorType::get({}, ui32), APInt(32, by)));
    return bits(shifted(bits(x, ui32), count, "LEFT"), si32);
  }

  template <typename OpT> Value reduced(Value x, int64_t axis) {
    auto sizes = llvm::to_vector(dimsOf(x));
    sizes[axis] = 1;
    return OpT::create(builder, loc, tensorOf(sizes, elementOf(x)), x,
                       ArrayRef<int64_t>(axis));
  }

  /// Returns a > b ? x : y, elementwise.
  Value where(Value a, Value b, Value x, Value y) {
    auto as = [&](Type element) {
      return tensorOf(dimsOf(typeOf(a, b)), element);
    };
    Value isGreater = GreaterOp::create(
        builder, loc, TypeRange{as(builder.getI1Type())}, ValueRange{a, b});
    return WhereOp::create(builder, loc, TypeRange{as(elementOf(x))},
                           ValueRange{isGreater, x, y})
        ->getResult(0);
  }

  Value inFloats(Value x) { return cast(x, builder.getF32Type()); }
  Value floatBits(Value x) { return bits(inFloats(x), si32); }
  Value bits_(Value x) { return bits(x, builder.getF32Type()); }
  Value real(double value) {
    auto type = RankedTensorType::get({}, builder.getF32Type());
    return ConstantOp::create(
        builder, loc, DenseElementsAttr::get(type, static_cast<float>(value)));
  }
  Value scaled(Value x, double by) { return binary<MulOp>(x, real(by)); }
  Value sum_(Value x, Value y) { return binary<AddOp>(x, y); }
  /// Returns a - b * c.
  Value lessProduct(double a, Value b, Value c) {
    return binary<SubOp>(real(a), binary<MulOp>(b, c));
  }
  /// Computes 1 / x for positive floats by Newton's method, since divisions
  /// call a library function on some targets. The initial guess uses the bits
  /// of the float as an approximate logarithm.
  Value inverse(Value x) {
    Value y = bits_(binary<SubOp>(number(0x7ef311c7), bits(x, si32)));
    for (int i = 0; i < newtonSteps; ++i)
      y = binary<MulOp>(y, lessProduct(2, x, y));
    return y;
  }
  /// Computes 1 / sqrt(x) for positive floats by Newton's method. The initial
  /// guess uses the bits of the float as an approximate logarithm.
  Value inverseRoot(Value x) {
    Value y = bits_(binary<SubOp>(number(0x5f3759df), right(bits(x, si32), 1))),
          half = scaled(x, 0.5);
    for (int i = 0; i < newtonSteps; ++i)
      y = binary<MulOp>(y, lessProduct(1.5, half, binary<MulOp>(y, y)));
    return y;
  }
  /// Three steps reduce the error of `inverse` from 12 % to 5e-8, and that of
  /// `inverseRoot` from 3.5 % to 1e-7.
  static constexpr int newtonSteps = 3;
};

/// The least number of fractional bits of x in 2^x. With fewer bits, the powers
/// of 2 would have a relative error above 1/1000.
constexpr int leastOfPowers = 10;
/// The largest size of a softmax or layer_norm axis that is rewritten: the sum
/// of the low bits (FixedPoint::Parts) of 2^15 elements is less than 2^30.
constexpr int64_t longestRow = int64_t(1) << 15;

/// Whether `v` is a finite constant, or is computed from finite constants only
/// by selections (graph.where).
bool isSurelyFinite(Value v) {
  llvm::SetVector<Value> chosen;
  chosen.insert(v);
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (auto choice = chosen[i].getDefiningOp<WhereOp>()) {
      chosen.insert(choice.getX());
      chosen.insert(choice.getY());
    } else if (!Numbers::of(chosen[i])) {
      return false;
    }
  }
  return true;
}

/// Scores with a mask: either floats that are added to the scores, or a
/// condition that selects between the scores and a constant.
struct MaskedScores {
  Value scores;
  /// The floats that are added to the scores; null if a condition selects
  /// between scores and a constant.
  Value mask;
  /// The condition of a selection: where it equals `takesTrue`, the scores are
  /// taken, elsewhere the constant `hidden`.
  Value condition;
  bool takesTrue = false;
  double hidden = 0;

  /// Matches an addition or a selection. The scores are the first of the two
  /// tensors that `op` adds or selects, or the second one if `swap` is true.
  /// Returns nothing for other operators.
  static std::optional<MaskedScores> of(Operation *op, bool swap) {
    if (auto sum = dyn_cast<AddOp>(op);
        sum && elementOf(op->getResult(0)).isF32())
      return MaskedScores{sum->getOperand(swap), sum->getOperand(!swap), {}};
    auto choice = dyn_cast<WhereOp>(op);
    auto hidden =
        choice ? uniformNumber(choice->getOperand(swap ? 1 : 2)) : std::nullopt;
    if (!hidden)
      return std::nullopt;
    return MaskedScores{choice->getOperand(swap ? 2 : 1),
                        {},
                        choice.getCondition(),
                        !swap,
                        *hidden};
  }
  bool isSurelyFinite() const {
    return mask ? decide::isSurelyFinite(mask) : std::isfinite(hidden);
  }
};

/// Builds a softmax of scores and a mask; the mask may be computed at run time.
/// Returns nothing if `op` does not match.
std::optional<Value> formMaskedSoftmax(SoftmaxOp op) {
  Operation *input = op.getInput().getDefiningOp();
  if (!input || !input->hasOneUse())
    return std::nullopt;
  int64_t axis = op.getAxis(), rank = shapeOf(op.getInput()).size();
  for (bool swap : {false, true}) {
    auto masked = MaskedScores::of(input, swap);
    if (!masked)
      continue;
    // The softmax of a row whose elements are all -inf is NaN, which integers
    // cannot represent.
    bool hasNaN = !op.getZeroNan() && !masked->isSurelyFinite() &&
                  !llvm::all_of(op->getUsers(), llvm::IsaPred<QuantizeOp>);
    Value mask = masked->mask ? masked->mask : masked->condition,
          scores = masked->scores;
    if (hasNaN || int64_t(shapeOf(scores).size()) != rank ||
        shapeOf(scores)[axis] != shapeOf(op.getInput())[axis] ||
        axis + int64_t(shapeOf(mask).size()) < rank)
      continue;
    auto read = readSum(scores, Numbers::of(log2e));
    if (!read)
      continue;
    // 2^-32 is negligible compared to 1, the largest power in a row.
    constexpr double nothing = 32;
    double bound = read->bound(),
           depth = std::exp2(std::ceil(std::log2(2 * bound + nothing)));
    if (!masked->mask && masked->hidden * log2e > -bound - nothing)
      continue;
    FixedPoint build(op);
    auto x = build.fixed(*read, leastOfPowers, depth);
    if (!x)
      continue;
    if (masked->mask)
      return build.maskedSoftmax(*x, mask, axis, bound, depth, 0x1p25 * bound);
    return build.maskedSoftmax(
        *x, build.maskOf(mask, masked->takesTrue, masked->hidden), axis, bound,
        depth, /*vanish=*/1);
  }
  return std::nullopt;
}

std::optional<Value> formSoftmax(SoftmaxOp op) {
  int64_t axis = op.getAxis(), count = shapeOf(op.getInput())[axis];
  if (hasDynamicSizes(op) || count < 2 || count > longestRow)
    return std::nullopt;
  auto sum = readSum(op.getInput(), Numbers::of(log2e));
  FixedPoint build(op);
  auto x = sum ? build.fixed(*sum, leastOfPowers) : std::nullopt;
  return x ? build.softmax(*x, axis) : formMaskedSoftmax(op);
}

std::optional<Value> formLayerNorm(LayerNormOp op) {
  int64_t count = shapeOf(op.getInput()).back();
  double epsilon = op.getEpsilon().convertToDouble();
  if (hasDynamicSizes(op) || count < 2 || count > longestRow || epsilon <= 0)
    return std::nullopt;
  auto sum = readSum(op.getInput(), Numbers::of(1.0));
  FixedPoint build(op);
  auto x = sum ? build.fixed(*sum, /*least=*/0) : std::nullopt;
  if (!x)
    return std::nullopt;
  Value y = build.normalized(*x, epsilon, op.getCenter());
  if (!op.getAffine().empty())
    y = build.binary<MulOp>(y, op.getAffine()[0]);
  if (op.getAffine().size() == 2)
    y = build.binary<AddOp>(y, op.getAffine()[1]);
  return y;
}

bool isMove(Operation *op) {
  return isa<ReshapeOp, SliceOp, TransposeOp>(op) && !hasDynamicSizes(op);
}

/// Builds the sum of integers that `op` computes as a fixed-point tensor. It
/// must have several users, or one that reshapes, slices or transposes it; and
/// one of its users must be a reshape, slice, transpose, addition, subtraction,
/// normalization, softmax or quantization. Otherwise returns nothing.
std::optional<Value> formShared(Operation *op) {
  if (op->getNumResults() != 1 || op->use_empty() || hasDynamicSizes(op) ||
      !isa<ElementwiseOpInterface>(op))
    return std::nullopt;
  Value v = op->getResult(0);
  auto dequantize = dyn_cast<DequantizeOp>(op);
  if (!elementOf(v).isF32() ||
      (dequantize && isa<IntegerType>(elementOf(dequantize.getX()))) ||
      (v.hasOneUse() && !isMove(*v.user_begin())) ||
      llvm::none_of(v.getUsers(), [](Operation *user) {
        return isMove(user) ||
               isa<AddOp, SubOp, LayerNormOp, SoftmaxOp, QuantizeOp>(user);
      }))
    return std::nullopt;
  auto sum = readSharedSum(v);
  FixedPoint build(op);
  auto x = sum ? build.fixed(*sum, /*least=*/0) : std::nullopt;
  return x ? std::optional(build.floats(*x)) : std::nullopt;
}

/// Rewrites each reshape, slice or transpose of the result of `op` so that it
/// moves the integers before they are dequantized.
void moveIntegers(DequantizeOp op) {
  for (Operation *user :
       llvm::make_early_inc_range(op.getResult().getUsers())) {
    if (!isMove(user))
      continue;
    OpBuilder builder(user);
    Operation *move = builder.clone(*user);
    Value moved = move->getResult(0);
    move->setOperand(0, op.getX());
    moved.setType(tensorOf(dimsOf(moved), elementOf(op.getX())));
    auto floats = DequantizeOp::create(builder, user->getLoc(),
                                       user->getResult(0).getType(), moved,
                                       op.getScale(), op.getZero());
    user->replaceAllUsesWith(floats);
    user->erase();
    moveIntegers(floats);
  }
}

struct FormFixedPointPass : impl::FormFixedPointBase<FormFixedPointPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    if (target.vectorBytes.empty() || target.vectorFloats ||
        !target.scalesIntegers)
      return;
    Block &block = getOperation().getBody().front();
    auto replace = [](Operation *op, Value by) {
      op->getResult(0).replaceAllUsesWith(by);
      if (auto floats = by.getDefiningOp<DequantizeOp>())
        moveIntegers(floats);
      return by.getDefiningOp();
    };
    SmallVector<Operation *> operators;
    for (Operation &op : block)
      if (!isMove(&op))
        operators.push_back(&op);
    for (Operation *op : operators) {
      if (auto quantize = dyn_cast<QuantizeOp>(op);
          quantize && schedule::looksUpBytes(target) && formSumTable(quantize))
        continue;
      std::optional<Value> result;
      if (auto softmax = dyn_cast<SoftmaxOp>(op))
        result = formSoftmax(softmax);
      else if (auto norm = dyn_cast<LayerNormOp>(op))
        result = formLayerNorm(norm);
      if (result)
        op = replace(op, *result);
      if (std::optional<Value> shared = formShared(op))
        replace(op, *shared);
    }
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }
};

} // namespace
} // namespace ingot::decide
