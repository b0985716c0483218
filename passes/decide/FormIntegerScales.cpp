// Scales between integers without floats.
//
//   quantize(dequantize(cast(sums: si32) + bias, s), 1, zero: ui8)
//     ->  cast(limit((mul_high(sums << l, m) + offset) >> f): si32) : ui8
//
// with m = s * 2^(32 + f - l) and offset = (bias * s + zero + 1/2) * 2^f, for targets on
// which that is cheaper (`scalesIntegers`). Several terms are added before the shift:
//
//   quantize(dequantize(a: ui8, sa, za) + dequantize(b: ui8, sb, zb), s, zero)
//     ->  ... (mul_high(a << la, ma) + mul_high(b << lb, mb) + offset) >> f ...
//
// Sums have f fractional bits, at least `leastFraction`, as many as 32 bits have room for
// without further shifts to the left. Factors are rounded to 31 bits and products down
// to a multiple of 2^-f: a result is one step away from ONNX's definition, which rounds
// halves to even, only if the exact one is nearly half way between two steps.
//
// All scales, zero points and addends must be constants, and no float on the way may
// have another reader, which would need the floats as well. Everything else stays in
// floats, but is multiplied by the inverse of the scale instead of divided by it.

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/decide/Passes.h"
#include "targets/TargetDescription.h"

#include <cmath>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_FORMINTEGERSCALES
#include "passes/decide/Passes.h.inc"

namespace {

/// Fractional bits of sums: fewer would round too many results to another step.
constexpr int leastFraction = 6, wantedFraction = 10, mostFraction = 20;

/// The numbers of a constant, which broadcast; one if the shape is empty.
struct Numbers {
  SmallVector<int64_t> shape;
  SmallVector<double> values;

  static Numbers of(double value) { return {{}, {value}}; }

  static std::optional<Numbers> of(Value v) {
    SmallVector<int64_t> shape(shapeOf(v));
    while (auto reshape = v.getDefiningOp<ReshapeOp>())
      v = reshape.getX();
    auto constant = v.getDefiningOp<ConstantOp>();
    if (!constant || !hasData(constant.getValue()))
      return std::nullopt;
    Type type = elementOf(v);
    Numbers numbers{shape, {}};
    if (isa<IntegerType>(type)) {
      for (int64_t value : elementsAsInts(constant.getValue()))
        numbers.values.push_back(static_cast<double>(value));
    } else if (type.isF32()) {
      std::vector<char> storage;
      ArrayRef<char> bytes = elementBytes(constant.getValue(), storage);
      for (size_t at = 0; at < bytes.size(); at += sizeof(float)) {
        float value;
        std::memcpy(&value, bytes.data() + at, sizeof value);
        numbers.values.push_back(value);
      }
    }
    bool isFinite =
        llvm::all_of(numbers.values, [](double x) { return std::isfinite(x); });
    if (numbers.values.empty() || !isFinite)
      return std::nullopt;
    if (llvm::all_equal(numbers.values))
      return of(numbers.values[0]);
    return numbers;
  }

  double most() const {
    double most = 0;
    for (double x : values)
      most = std::max(most, std::abs(x));
    return most;
  }

  Numbers mapped(llvm::function_ref<double(double)> f) const {
    return {shape, llvm::map_to_vector(values, f)};
  }

  /// f(a, b) for each two; nothing if they do not have one shape.
  static std::optional<Numbers>
  combined(const Numbers &a, const Numbers &b,
           llvm::function_ref<double(double, double)> f) {
    if (b.values.size() == 1)
      return a.mapped([&](double x) { return f(x, b.values[0]); });
    if (a.values.size() == 1)
      return b.mapped([&](double x) { return f(a.values[0], x); });
    auto own = [](ArrayRef<int64_t> shape) {
      return shape.drop_while([](int64_t size) { return size == 1; });
    };
    if (own(a.shape) != own(b.shape))
      return std::nullopt;
    Numbers result = a.shape.size() < b.shape.size() ? b : a;
    for (auto [to, x, y] : llvm::zip(result.values, a.values, b.values))
      to = f(x, y);
    return result;
  }
};

/// The magnitude that no element of an integer tensor exceeds.
double boundOf(Value v, unsigned depth = 0) {
  constexpr unsigned mostDepth = 16;
  auto type = cast<IntegerType>(elementOf(v));
  double ofType =
      std::ldexp(1, int(type.getWidth()) - (type.isUnsigned() ? 0 : 1));
  Operation *op = v.getDefiningOp();
  if (!op || depth > mostDepth)
    return ofType;
  auto of = [&](Value operand) { return boundOf(operand, depth + 1); };
  double bound = ofType;
  if (auto constant = Numbers::of(v)) {
    bound = constant->most();
  } else if (auto conv = dyn_cast<ConvOp>(op)) {
    ArrayRef<int64_t> w = shapeOf(conv.getW());
    double steps = double(ShapedType::getNumElements(w) / w.back());
    bound = steps * (of(conv.getX()) + std::abs(double(conv.getXZero()))) *
            of(conv.getW());
    if (conv.getBias())
      bound += of(conv.getBias());
  } else if (auto product = dyn_cast<MatMulOp>(op)) {
    // Zero points are of the operands' types.
    double zeros = product.getZeros().empty() ? 1 : 4;
    bound = double(shapeOf(product.getA()).back()) * of(product.getA()) *
            of(product.getB()) * zeros;
  } else if (isa<AddOp, SubOp>(op)) {
    bound = of(op->getOperand(0)) + of(op->getOperand(1));
  } else if (isa<MulOp>(op)) {
    bound = of(op->getOperand(0)) * of(op->getOperand(1));
  } else if (auto sum = dyn_cast<ReduceSumOp>(op)) {
    bound = of(op->getOperand(0)) *
            double(tensorType(op->getOperand(0)).getNumElements() /
                   std::max<int64_t>(tensorType(v).getNumElements(), 1));
  } else if (auto cast = dyn_cast<CastOp>(op);
             cast && isa<IntegerType>(elementOf(cast.getX()))) {
    double narrow = of(cast.getX());
    bound = narrow <= ofType ? narrow : ofType;
  }
  // What exceeds its type wraps.
  return std::min(bound, ofType);
}

struct Sum;

/// An integer times a factor, or a sum within limits.
struct Term {
  Value integer;
  Numbers factor;
  double bound = 0;
  /// Instead of an integer.
  std::shared_ptr<Sum> limited;
  std::optional<Numbers> least, most;

  /// The least shift to the left with which a factor has its fractional bits.
  int shift(int fraction) const {
    int exponent;
    (void)std::frexp(factor.most(), &exponent);
    return std::max(0, fraction + 1 + exponent);
  }
};

/// Terms and a constant.
struct Sum {
  SmallVector<Term, 1> terms;
  Numbers constant = Numbers::of(0.0);

  /// The magnitude that it does not exceed, nor any part of it.
  double bound() const {
    double bound = constant.most();
    for (const Term &term : terms) {
      bound += term.limited ? term.limited->bound()
                            : term.bound * term.factor.most();
      for (const std::optional<Numbers> &limit : {term.least, term.most})
        bound = std::max(bound, limit ? limit->most() : 0);
    }
    return bound;
  }

  void forEachFactor(llvm::function_ref<void(const Term &)> body) const {
    for (const Term &term : terms)
      if (term.limited)
        term.limited->forEachFactor(body);
      else
        body(term);
  }
};

/// Reads floats as sums of integers.
class SumReader {
public:
  /// `v` times a factor; nothing if it is no such sum.
  static std::optional<Sum> read(Value v, const Numbers &factor) {
    Operation *op = v.getDefiningOp();
    if (!op || !elementOf(v).isF32())
      return std::nullopt;
    if (auto constant = Numbers::of(v)) {
      auto scaled = product(*constant, factor);
      return scaled ? std::optional(Sum{{}, *scaled}) : std::nullopt;
    }
    if (auto dequantize = dyn_cast<DequantizeOp>(op))
      return readDequantized(dequantize, factor);
    if (!v.hasOneUse())
      return std::nullopt;
    if (auto cast = dyn_cast<CastOp>(op))
      return ofInteger(cast.getX(), factor);
    if (isa<AddOp, SubOp>(op))
      return readSum(op, factor);
    if (isa<MulOp, DivOp>(op))
      return readScaled(op, factor);
    if (isa<ReluOp>(op))
      return limited(op->getOperand(0), factor, Numbers::of(0.0), {});
    if (isa<MaximumOp, MinimumOp>(op))
      return readLimited(op, factor);
    if (auto sum = dyn_cast<ReduceSumOp>(op))
      return readReduction(op, sum.getAxes(), factor);
    if (auto mean = dyn_cast<AveragePoolOp>(op))
      return readMean(mean, factor);
    return std::nullopt;
  }

private:
  static std::optional<Numbers> product(const Numbers &a, const Numbers &b) {
    return Numbers::combined(a, b, [](double x, double y) { return x * y; });
  }

  static std::optional<Sum> ofInteger(Value integer, const Numbers &factor,
                                      double zero = 0) {
    auto type = dyn_cast<IntegerType>(elementOf(integer));
    if (!type || type.getWidth() == 1 || type.getWidth() > 32 ||
        (type.isUnsigned() && type.getWidth() == 32) || factor.most() == 0)
      return std::nullopt;
    Sum sum;
    sum.terms.push_back({integer, factor, boundOf(integer), {}, {}, {}});
    sum.constant = factor.mapped([&](double x) { return -zero * x; });
    return sum;
  }

  static std::optional<Sum> readDequantized(DequantizeOp op,
                                            const Numbers &factor) {
    auto scale = Numbers::of(op.getScale()), zero = Numbers::of(op.getZero());
    if (!scale || !zero || zero->values.size() != 1)
      return std::nullopt;
    auto scaled = product(*scale, factor);
    if (!scaled)
      return std::nullopt;
    Value x = op.getX();
    if (isa<FloatType>(elementOf(x)))
      return zero->values[0] == 0 && op->hasOneUse() ? read(x, *scaled)
                                                     : std::nullopt;
    return ofInteger(x, *scaled, zero->values[0]);
  }

  static std::optional<Sum> readSum(Operation *op, const Numbers &factor) {
    bool subtracts = isa<SubOp>(op);
    auto left = read(op->getOperand(0), factor),
         right =
             read(op->getOperand(1),
                  factor.mapped([&](double x) { return subtracts ? -x : x; }));
    if (!left || !right)
      return std::nullopt;
    auto constant = Numbers::combined(left->constant, right->constant,
                                      [](double x, double y) { return x + y; });
    if (!constant)
      return std::nullopt;
    left->constant = *constant;
    llvm::append_range(left->terms, right->terms);
    return left;
  }

  static std::optional<Sum> readScaled(Operation *op, const Numbers &factor) {
    unsigned other = isa<MulOp>(op) && Numbers::of(op->getOperand(0)) ? 0 : 1;
    auto by = Numbers::of(op->getOperand(other));
    if (!by || llvm::is_contained(by->values, 0.0))
      return std::nullopt;
    if (isa<DivOp>(op))
      *by = by->mapped([](double x) { return 1 / x; });
    auto scaled = product(*by, factor);
    return scaled ? read(op->getOperand(1 - other), *scaled) : std::nullopt;
  }

  static std::optional<Sum> readLimited(Operation *op, const Numbers &factor) {
    unsigned other = Numbers::of(op->getOperand(0)) ? 0 : 1;
    auto limit = Numbers::of(op->getOperand(other));
    auto scaled = limit ? product(*limit, factor) : std::nullopt;
    if (!scaled)
      return std::nullopt;
    std::optional<Numbers> least, most;
    (isa<MaximumOp>(op) ? least : most) = scaled;
    return limited(op->getOperand(1 - other), factor, least, most);
  }

  static std::optional<Sum> limited(Value v, const Numbers &factor,
                                    const std::optional<Numbers> &least,
                                    const std::optional<Numbers> &most) {
    if (llvm::any_of(factor.values, [](double x) { return x <= 0; }))
      return std::nullopt;
    auto inner = read(v, factor);
    if (!inner || inner->terms.empty())
      return std::nullopt;
    Sum sum;
    sum.terms.push_back(
        {{}, {}, 0, std::make_shared<Sum>(std::move(*inner)), least, most});
    return sum;
  }

  /// Sums of small integers, which floats hold, are sums of integers.
  static std::optional<Sum> readReduction(Operation *op, ArrayRef<int64_t> axes,
                                          const Numbers &factor) {
    Value x = op->getOperand(0);
    int64_t count = tensorType(x).getNumElements() /
                    tensorType(op->getResult(0)).getNumElements();
    auto inner = read(x, factor);
    if (!inner || inner->terms.size() != 1 || inner->terms[0].limited ||
        inner->terms[0].factor.values.size() != 1 ||
        inner->constant.values.size() != 1 ||
        inner->terms[0].bound * double(count) >= 0x1p24)
      return std::nullopt;
    OpBuilder builder(op);
    Type si32 = builder.getIntegerType(32, /*isSigned=*/true);
    Value wide =
        CastOp::create(builder, op->getLoc(), inner->terms[0].integer, si32);
    Value sums = ReduceSumOp::create(
        builder, op->getLoc(),
        RankedTensorType::get(shapeOf(op->getResult(0)), si32), wide, axes);
    return ofInteger(sums, inner->terms[0].factor,
                     -inner->constant.values[0] * double(count) /
                         inner->terms[0].factor.values[0]);
  }

  /// A mean over whole images.
  static std::optional<Sum> readMean(AveragePoolOp op, const Numbers &factor) {
    ArrayRef<int64_t> shape = shapeOf(op.getX());
    auto axes = llvm::to_vector(
        llvm::seq<int64_t>(1, static_cast<int64_t>(shape.size()) - 1));
    if (tensorType(op.getResult()).getNumElements() !=
            shape[0] * shape.back() ||
        op.getKernel() != shape.slice(1, axes.size()) ||
        llvm::any_of(op.getLow(), [](int64_t low) { return low != 0; }))
      return std::nullopt;
    double count = double(ShapedType::getNumElements(op.getKernel()));
    return readReduction(op, axes,
                         factor.mapped([&](double x) { return x / count; }));
  }
};

/// Replaces a quantization.
class ScaleRewriting {
public:
  ScaleRewriting(QuantizeOp op, const TargetDescription &target)
      : op(op), target(target), builder(op), loc(op.getLoc()),
        si32(builder.getIntegerType(32, /*isSigned=*/true)) {}

  void run() {
    auto type = dyn_cast<IntegerType>(elementOf(op.getResult()));
    auto scale = Numbers::of(op.getScale()), zero = Numbers::of(op.getZero());
    if (!type || type.getWidth() > 16 || type.getWidth() < 8 || !scale ||
        !zero || zero->values.size() != 1 || hasRunTimeSizes(op) ||
        llvm::any_of(scale->values, [](double s) { return s <= 0; }))
      return;
    auto sum = SumReader::read(op.getX(),
                               scale->mapped([](double s) { return 1 / s; }));
    if (!sum || sum->terms.empty() || !chooseFraction(*sum, zero->values[0]))
      return multiplyByInverse(*scale);
    moveBias(*sum);
    sum->constant = sum->constant.mapped(
        [&](double x) { return x + zero->values[0] + 0.5; });
    bool isUnsigned = type.isUnsigned();
    int64_t width = type.getWidth(),
            least = isUnsigned ? 0 : -(int64_t(1) << (width - 1)),
            most = least + (int64_t(1) << width) - 1;
    Value steps = binary<BitShiftOp>(built(*sum), number(fraction), "RIGHT");
    steps = binary<MinimumOp>(binary<MaximumOp>(steps, number(least)),
                              number(most));
    Value result = CastOp::create(builder, loc, steps, type);
    op.replaceAllUsesWith(result);
    op.erase();
  }

private:
  /// What stays a float is not divided by the scale, which takes longer than a product.
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

  /// The most fractional bits for which no term is shifted further than for the wanted
  /// ones; fewer than those where there is no room.
  bool chooseFraction(const Sum &sum, double zero) {
    double bound = sum.bound() + std::abs(zero) + 1;
    auto fits = [&](int bits) {
      bool fits = std::ldexp(bound, bits) < 0x1p31;
      sum.forEachFactor([&](const Term &term) {
        fits &= std::ldexp(term.bound, term.shift(bits)) < 0x1p31;
      });
      return fits;
    };
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

  /// The sums of cores that multiply bytes in core registers begin with a bias at no
  /// cost; elsewhere one addend is left.
  void moveBias(Sum &sum) {
    if (sum.terms.size() != 1 || sum.terms[0].limited)
      return;
    Term &term = sum.terms[0];
    auto conv = term.integer.getDefiningOp<ConvOp>();
    if (!conv || !conv->hasOneUse())
      return;
    auto bias = conv.getBias() ? Numbers::of(conv.getBias())
                               : std::optional(Numbers::of(0.0));
    if (!bias)
      return;
    if (!target.coreRegisters) {
      auto scaled = Numbers::combined(*bias, term.factor,
                                      [](double x, double y) { return x * y; });
      auto all =
          scaled ? Numbers::combined(sum.constant, *scaled,
                                     [](double x, double y) { return x + y; })
                 : std::nullopt;
      if (!all || !conv.getBias())
        return;
      sum.constant = *all;
      conv.getBiasMutable().clear();
      return;
    }
    // In units of the sums, which are finer than those of the result.
    auto units =
        Numbers::combined(sum.constant, term.factor, [](double x, double y) {
          return std::nearbyint(x / y);
        });
    auto all = units
                   ? Numbers::combined(*units, *bias,
                                       [](double x, double y) { return x + y; })
                   : std::nullopt;
    if (!all || std::ldexp(term.factor.most(), fraction) > 1 ||
        all->most() + term.bound >= 0x1p31 ||
        std::ldexp(all->most() + term.bound, term.shift(fraction)) >= 0x1p31 ||
        all->most() == 0)
      return;
    int64_t channels = shapeOf(conv.getW()).back();
    if (all->values.size() != 1 && (int64_t(all->values.size()) != channels ||
                                    all->shape.back() != channels))
      return;
    if (all->values.size() == 1)
      all->values.assign(channels, all->values[0]);
    all->shape = {channels};
    builder.setInsertionPoint(conv);
    conv.getBiasMutable().assign(constant(*all));
    builder.setInsertionPoint(op);
    sum.constant = Numbers::of(0.0);
  }

  Value built(const Sum &sum) {
    Value result;
    for (const Term &term : sum.terms) {
      Value v = built(term);
      result = result ? binary<AddOp>(result, v) : v;
    }
    Numbers addend = sum.constant.mapped(
        [&](double x) { return std::nearbyint(std::ldexp(x, fraction)); });
    return addend.most() == 0 ? result
                              : binary<AddOp>(result, constant(addend));
  }

  Value built(const Term &term) {
    auto inUnits = [&](const Numbers &limit) {
      return constant(limit.mapped(
          [&](double x) { return std::nearbyint(std::ldexp(x, fraction)); }));
    };
    if (term.limited) {
      Value v = built(*term.limited);
      if (term.least)
        v = binary<MaximumOp>(v, inUnits(*term.least));
      return term.most ? binary<MinimumOp>(v, inUnits(*term.most)) : v;
    }
    Value x = term.integer;
    if (elementOf(x) != si32)
      x = CastOp::create(builder, loc, x, si32);
    int shift = term.shift(fraction);
    if (shift > 0)
      x = binary<BitShiftOp>(x, number(shift), "LEFT");
    Numbers multiplier = term.factor.mapped([&](double factor) {
      double m = std::nearbyint(std::ldexp(factor, 32 + fraction - shift));
      return std::clamp(m, -0x1p31, 0x1p31 - 1);
    });
    return binary<MulHighOp>(x, constant(multiplier));
  }

  template <typename OpT>
  Value binary(Value x, Value y, StringRef direction = "") {
    auto shape = broadcastShapes({shapeOf(x), shapeOf(y)});
    auto made = OpT::create(builder, loc,
                            TypeRange{RankedTensorType::get(*shape, si32)},
                            ValueRange{x, y});
    if (!direction.empty())
      made->setAttr("direction", builder.getStringAttr(direction));
    return made->getResult(0);
  }

  Value number(int64_t value) { return constant(Numbers::of(double(value))); }

  Value constant(const Numbers &numbers) {
    auto type = RankedTensorType::get(numbers.shape, si32);
    auto values = llvm::map_to_vector(numbers.values, [](double x) {
      return APInt(32, static_cast<int64_t>(x), /*isSigned=*/true);
    });
    return ConstantOp::create(builder, loc,
                              DenseElementsAttr::get(type, values));
  }

  QuantizeOp op;
  const TargetDescription &target;
  OpBuilder builder;
  Location loc;
  Type si32;
  int fraction = 0;
};

struct FormIntegerScalesPass
    : impl::FormIntegerScalesBase<FormIntegerScalesPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    if (!target.scalesIntegers)
      return;
    SmallVector<QuantizeOp> quantizations;
    getOperation().walk([&](QuantizeOp op) { quantizations.push_back(op); });
    for (QuantizeOp op : quantizations)
      ScaleRewriting(op, target).run();
    for (Operation &op : llvm::make_early_inc_range(
             llvm::reverse(getOperation().getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }
};

} // namespace
} // namespace ingot::decide
