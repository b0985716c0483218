// Requantizes integers without floats.
//
//   quantize(dequantize(cast(sums: si32) + bias, s), 1, zero: ui8)
//     ->  cast(clamp((mul_high(sums << l, m) + offset) >> f): si32) : ui8
//
// with m = s * 2^(32 + f - l) and offset = (bias * s + zero + 1/2) * 2^f, for
// targets on which this is cheaper than floats (`scalesIntegers`). Several
// terms are added before the shift:
//
//   quantize(dequantize(a: ui8, sa, za) + dequantize(b: ui8, sb, zb), s, zero)
//     ->  ... (mul_high(a << la, ma) + mul_high(b << lb, mb) + offset) >> f ...
//
// Sums have f fractional bits: at least `leastFraction`, and as many as fit 32
// bits without further left shifts. Factors are rounded to 31 bits, and
// products are rounded down to a multiple of 2^-f. A result differs by one from
// ONNX's definition, which rounds ties to even, only if the exact value is
// close to a tie.
//
// A max pool is moved after the quantization, so that it reads 8-bit integers:
// quantize(max_pool(x)) -> max_pool(quantize(x)).
//
// All scales, zero points and addends must be constants, and no float between
// the integers and the quantization may have another user. All other
// quantizations stay in floats; if they have a single constant scale, they
// multiply by its inverse instead of dividing by it.

#include "passes/decide/IntegerSums.h"
#include "passes/decide/Passes.h"
#include "passes/decide/WordBuilder.h"
#include "targets/TargetDescription.h"

#include <cmath>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_FORMINTEGERSCALES
#include "passes/decide/Passes.h.inc"

namespace {

/// Limits of the number of fractional bits of sums. With fewer than
/// `leastFraction`, too many results would round to a neighbouring integer.
/// `wantedFraction` bits are accurate enough; more are used only if they need
/// no additional shifts.
constexpr int leastFraction = 6, wantedFraction = 10, mostFraction = 20;

/// Rewrites one quantization as integer operators or, failing that, as a
/// multiplication by the inverse of the scale.
class ScaleRewriting {
public:
  ScaleRewriting(QuantizeOp op, const TargetDescription &target)
      : op(op), target(target), words(op), loc(op.getLoc()) {}

  void run() {
    auto type = dyn_cast<IntegerType>(elementOf(op.getResult()));
    auto scale = Numbers::of(op.getScale()), zero = Numbers::of(op.getZero());
    if (!type || type.getWidth() > 16 || type.getWidth() < 8 || !scale ||
        !zero || zero->values.size() != 1 ||
        llvm::any_of(scale->values, [](double s) { return s <= 0; }))
      return;
    Numbers inverse = scale->mapped([](double s) { return 1 / s; });
    auto reshape = op.getX().getDefiningOp<ReshapeOp>();
    auto sum = readSum(op.getX(), inverse),
         flat = reshape ? readSum(reshape.getX(), inverse) : std::nullopt;
    for (const std::optional<Sum> &same : {sum, flat})
      if (same && isSame(*same, zero->values[0])) {
        Value integer = same->terms[0].integer;
        if (dimsOf(integer) != dimsOf(op.getResult()))
          integer = ReshapeOp::create(builder, loc, op.getType(), integer);
        op.replaceAllUsesWith(integer);
        return op.erase();
      }
    if (!sum || sum->terms.empty() || !chooseFraction(*sum, zero->values[0]))
      return multiplyByInverse(*scale);
    moveBias(*sum);
    sum->constant = sum->constant.mapped(
        [&](double x) { return x + zero->values[0] + 0.5; });
    bool isUnsigned = type.isUnsigned();
    int64_t width = type.getWidth(),
            least = isUnsigned ? 0 : -(int64_t(1) << (width - 1)),
            most = least + (int64_t(1) << width) - 1;
    Value steps = words.right(words.sum(*sum, fraction), fraction);
    steps = words.binary<MaximumOp>(steps, words.number(least));
    steps = words.binary<MinimumOp>(steps, words.number(most));
    Value result = CastOp::create(builder, loc, steps, type);
    op.replaceAllUsesWith(result);
    op.erase();
  }

private:
  /// Whether `sum` equals the quantized result already: it has a single term,
  /// an integer tensor of the same type, scale and zero point, perhaps in
  /// another shape.
  bool isSame(const Sum &sum, double zero) {
    if (sum.terms.size() != 1 || sum.terms[0].limited ||
        elementOf(sum.terms[0].integer) != elementOf(op.getResult()) ||
        hasDynamicSizes(op) ||
        tensorType(sum.terms[0].integer).getNumElements() !=
            tensorType(op.getResult()).getNumElements())
      return false;
    // If the factor differs from 1, and the constant from -zero, by at most
    // this number, no result changes: the difference is far below one step of
    // the result for any integer of this type.
    constexpr double nothing = 0x1p-24;
    auto isAlmost = [&](const Numbers &numbers, double value) {
      return llvm::all_of(numbers.values, [&](double x) {
        return std::abs(x - value) <= nothing;
      });
    };
    return isAlmost(sum.terms[0].factor, 1) && isAlmost(sum.constant, -zero);
  }

  /// Multiplies by the inverse of the scale instead of dividing by the scale,
  /// since a division takes longer.
  void multiplyByInverse(const Numbers &scale) {
    if (scale.values.size() != 1 || scale.values[0] == 1 ||
        !elementOf(op.getX()).isF32() || !elementOf(op.getScale()).isF32())
      return;
    auto number = [&](float value) -> Value {
      return ConstantOp::create(
          builder, loc,
          DenseElementsAttr::get(
              RankedTensorType::get({}, builder.getF32Type()), value));
    };
    auto inverse = static_cast<float>(1 / scale.values[0]);
    if (!std::isnormal(inverse))
      return;
    Value x = op.getX();
    op->setOperand(0, MulOp::create(builder, loc, TypeRange{x.getType()},
                                    ValueRange{x, number(inverse)})
                          .getResult());
    op->setOperand(1, number(1.0f));
  }

  /// Sets `fraction` to the number of fractional bits: `wantedFraction`, or
  /// fewer if a sum does not fit 32 bits otherwise, or more if this needs no
  /// additional left shifts. Returns false if not even `leastFraction` bits
  /// fit.
  bool chooseFraction(const Sum &sum, double zero) {
    double bound = sum.bound() + std::abs(zero) + 1;
    auto fits = [&](int bits) { return decide::fits(sum, bound, bits, 31); };
    auto shifts = [&](int bits) {
      int shifts = 0;
      sum.forEachFactor([&](const Term &term) { shifts += term.shift(bits); });
      return shifts;
    };
    fraction = wantedFraction;
    while (fraction > leastFraction && !fits(fraction))
      --fraction;
    if (!fits(fraction))
      return false;
    while (fraction < mostFraction && fits(fraction + 1) &&
           shifts(fraction + 1) == shifts(fraction))
      ++fraction;
    return true;
  }

  /// Moves constants between the sum and the bias of the convolution. On cores
  /// that multiply int8 in core registers, an accumulator can start with a bias
  /// at no cost: there, the sum's constant moves into the bias if the rounding
  /// to units of the accumulator is fine enough. Otherwise the bias moves into
  /// the sum's constant, so that only one addition remains, after the scaling.
  void moveBias(Sum &sum) {
    if (sum.terms.size() != 1 || sum.terms[0].limited)
      return;
    auto conv = sum.terms[0].integer.getDefiningOp<ConvOp>();
    if (!conv || !conv->hasOneUse())
      return;
    auto bias = conv.getBias() ? Numbers::of(conv.getBias())
                               : std::optional(Numbers::of(0.0));
    if (bias && !(target.coreRegisters && moveToBias(sum, conv, *bias)) &&
        conv.getBias())
      moveFromBias(sum, conv, *bias);
  }

  static void moveFromBias(Sum &sum, ConvOp conv, const Numbers &bias) {
    auto all = sum.constant.withProducts(bias, sum.terms[0].factor, 1);
    if (!all)
      return;
    sum.constant = *all;
    conv.getBiasMutable().clear();
  }

  bool moveToBias(Sum &sum, ConvOp conv, const Numbers &bias) {
    Term &term = sum.terms[0];
    // The constant is rounded to units of the accumulator, which are smaller
    // than units of the result.
    auto units =
        Numbers::combined(sum.constant, term.factor, [](double x, double y) {
          return std::nearbyint(x / y);
        });
    auto all =
        units ? Numbers::combined(*units, bias, std::plus<>()) : std::nullopt;
    if (!all || std::ldexp(term.factor.most(), fraction) > 1 ||
        all->most() + term.bound >= 0x1p31 ||
        std::ldexp(all->most() + term.bound, term.shift(fraction)) >= 0x1p31 ||
        all->most() == 0)
      return false;
    int64_t channels = shapeOf(conv.getW()).back();
    if (all->values.size() != 1 && (int64_t(all->values.size()) != channels ||
                                    all->shape.back() != channels))
      return false;
    if (all->values.size() == 1)
      all->values.assign(channels, all->values[0]);
    all->shape = {channels};
    builder.setInsertionPoint(conv);
    conv.getBiasMutable().assign(words.constant(*all));
    builder.setInsertionPoint(op);
    sum.constant = Numbers::of(0.0);
    return true;
  }

  QuantizeOp op;
  const TargetDescription &target;
  WordBuilder words;
  OpBuilder &builder = words.builder;
  Location loc;
  int fraction = 0;
};

/// If the quantization `op` reads the result of a max pool, moves the pool
/// after the quantization, so that the pool reads 8-bit integers. Returns the
/// quantization that is then before the pool, or `op` if nothing changes. For
/// cores that multiply int8 in core registers, a pool of accumulators is not
/// moved, since fewer elements have to be scaled after the pool.
QuantizeOp poolBehind(QuantizeOp op, const TargetDescription &target) {
  auto pool = op.getX().getDefiningOp<MaxPoolOp>();
  auto scale = Numbers::of(op.getScale()), zero = Numbers::of(op.getZero());
  if (!pool || !pool->hasOneUse() || !scale || !zero ||
      scale->values.size() != 1 || scale->values[0] <= 0 ||
      zero->values.size() != 1)
    return op;
  auto bytes = pool.getX().getDefiningOp<DequantizeOp>();
  if (target.coreRegisters &&
      !(bytes && isa<IntegerType>(elementOf(bytes.getX()))))
    return op;
  OpBuilder builder(op);
  Type type = elementOf(op.getResult());
  auto before = QuantizeOp::create(
      builder, op.getLoc(), TypeRange{tensorOf(dimsOf(pool.getX()), type)},
      ValueRange{pool.getX(), op.getScale(), op.getZero()}, op->getAttrs());
  op.replaceAllUsesWith(
      MaxPoolOp::create(builder, pool.getLoc(), TypeRange{op.getType()},
                        ValueRange{before->getResult(0)}, pool->getAttrs())
          .getResult());
  op.erase();
  pool.erase();
  return before;
}

/// Rewrites the correction `moved` of a zero point, a constant that is
/// subtracted from integer sums, as part of the constant float `bias`:
///
///   dequantize(cast(sums - moved: si32), s, 0) + bias
///     ->  dequantize(cast(sums), s, 0) + (bias - moved * s)
///
/// The sums must be exact in f32 with and without the correction; otherwise the
/// result would lose the digits of a small difference.
void joinBias(AddOp op) {
  auto floats = op->getOperand(0).getDefiningOp<DequantizeOp>();
  auto cast = floats ? floats.getX().getDefiningOp<CastOp>() : CastOp();
  auto sums = cast ? cast.getX().getDefiningOp<SubOp>() : SubOp();
  if (!sums || !floats->hasOneUse() || !cast->hasOneUse() ||
      !sums->hasOneUse() || !elementOf(cast.getResult()).isF32() ||
      !elementOf(sums.getResult()).isSignedInteger(32))
    return;
  auto moved = Numbers::of(sums->getOperand(1)),
       scale = Numbers::of(floats.getScale()),
       zero = Numbers::of(floats.getZero()),
       bias = Numbers::of(op->getOperand(1));
  if (!moved || !scale || !zero || zero->most() != 0 || !bias)
    return;
  constexpr double mostExact = 0x1p24;
  Value before = sums->getOperand(0);
  auto all = bias->withProducts(*moved, *scale, -1);
  if (!all || boundOf(before) + moved->most() > mostExact)
    return;
  // A constant whose elements are all equal may have broadcast the result.
  Dims shape(all->shape.begin(), all->shape.end());
  if (dimsOf(before) != dimsOf(sums.getResult()) ||
      broadcastShapes({dimsOf(floats.getResult()), shape}) !=
          dimsOf(op.getResult()))
    return;
  OpBuilder builder(op);
  auto values = llvm::map_to_vector(
      all->values, [](double x) { return static_cast<float>(x); });
  op->setOperand(
      1, ConstantOp::create(
             builder, op.getLoc(),
             DenseElementsAttr::get(
                 RankedTensorType::get(all->shape, builder.getF32Type()),
                 ArrayRef<float>(values))));
  cast->setOperand(0, before);
}

struct FormIntegerScalesPass
    : impl::FormIntegerScalesBase<FormIntegerScalesPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    if (!target.scalesIntegers)
      return;
    SmallVector<QuantizeOp> quantizations;
    getOperation().walk([&](QuantizeOp op) {
      quantizations.push_back(poolBehind(op, target));
    });
    for (QuantizeOp op : quantizations)
      ScaleRewriting(op, target).run();
    getOperation().walk(joinBias);
    for (Operation &op : llvm::make_early_inc_range(
             llvm::reverse(getOperation().getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }
};

} // namespace
} // namespace ingot::decide
