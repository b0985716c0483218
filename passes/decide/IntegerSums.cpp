#include "passes/decide/IntegerSums.h"

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"

#include <cmath>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {

std::optional<Numbers> Numbers::of(Value v) {
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

double Numbers::most() const {
  double most = 0;
  for (double x : values)
    most = std::max(most, std::abs(x));
  return most;
}

Numbers Numbers::mapped(llvm::function_ref<double(double)> f) const {
  return {shape, llvm::map_to_vector(values, f)};
}

std::optional<Numbers> Numbers::withProducts(const Numbers &x, const Numbers &y,
                                             double sign) const {
  auto products =
      combined(x, y, [sign](double a, double b) { return sign * (a * b); });
  return products ? combined(*this, *products, std::plus<>()) : std::nullopt;
}

std::optional<Numbers>
Numbers::combined(const Numbers &a, const Numbers &b,
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

int Term::shift(int fraction) const {
  int exponent;
  (void)std::frexp(factor.most(), &exponent);
  return std::max(0, fraction + 1 + exponent);
}

double Sum::bound() const {
  double bound = constant.most();
  for (const Term &term : terms) {
    double ofTerm =
        term.limited ? term.limited->bound() : term.bound * term.factor.most();
    for (const std::optional<Numbers> &limit : {term.least, term.most})
      ofTerm = std::max(ofTerm, limit ? limit->most() : 0);
    bound += ofTerm;
  }
  return bound;
}

void Sum::forEachFactor(llvm::function_ref<void(const Term &)> body) const {
  for (const Term &term : terms)
    if (term.limited)
      term.limited->forEachFactor(body);
    else
      body(term);
}

namespace {

/// Computes upper bounds of the magnitudes in integer tensors.
class Bounds {
public:
  /// Returns an upper bound of the magnitude of all elements of `v`.
  double of(Value v) {
    auto known = bounds.find(v);
    if (known != bounds.end())
      return known->second;
    ++depth;
    double bound = computed(v);
    --depth;
    return bounds[v] = bound;
  }

private:
  double computed(Value v);
  double ofColumns(Value w, int64_t steps);

  DenseMap<Value, double> bounds;
  unsigned depth = 0;
};

} // namespace

/// Returns an upper bound of the dot product of any column of `w`, which has
/// `steps` weights, with factors in [-1, 1].
double Bounds::ofColumns(Value w, int64_t steps) {
  auto numbers = Numbers::of(w);
  int64_t columns = shapeOf(w).back();
  if (!numbers || numbers->values.size() == 1 || shapeOf(w).size() < 2)
    return double(steps) * of(w);
  std::vector<double> sums(numbers->values.size() / steps);
  for (auto [at, x] : llvm::enumerate(numbers->values)) {
    int64_t place = at, matrix = place / (steps * columns);
    sums[matrix * columns + place % columns] += std::abs(x);
  }
  return *llvm::max_element(sums);
}

double Bounds::computed(Value v) {
  constexpr unsigned mostDepth = 16;
  auto type = cast<IntegerType>(elementOf(v));
  // Whether a negative result wraps around to a large one.
  bool wrapsBelowZero = type.isUnsigned();
  double ofType =
      std::ldexp(1, int(type.getWidth()) - (type.isUnsigned() ? 0 : 1));
  Operation *op = v.getDefiningOp();
  if (!op || depth > mostDepth)
    return ofType;
  double bound = ofType;
  if (auto constant = Numbers::of(v)) {
    bound = constant->most();
  } else if (auto conv = dyn_cast<ConvOp>(op)) {
    ArrayRef<int64_t> w = shapeOf(conv.getW());
    int64_t steps = ShapedType::getNumElements(w) / w.back();
    bound = ofColumns(conv.getW(), steps) *
            (std::max(of(conv.getX()),
                      std::abs(double(int64_t(conv.getXOutside())))) +
             std::abs(double(int64_t(conv.getXZero()))));
    if (conv.getBias())
      bound += of(conv.getBias());
  } else if (auto product = dyn_cast<MatMulOp>(op)) {
    int64_t steps = shapeOf(product.getA()).back();
    ValueRange zeros = product.getZeros();
    bound = zeros.empty()
                ? ofColumns(product.getB(), steps) * of(product.getA())
                : double(steps) * (of(product.getA()) + of(zeros[0])) *
                      (of(product.getB()) + of(zeros[1]));
  } else if (isa<ReshapeOp, SliceOp, TransposeOp>(op)) {
    bound = of(op->getOperand(0));
  } else if (isa<AddOp>(op) || (isa<SubOp>(op) && !wrapsBelowZero)) {
    bound = of(op->getOperand(0)) + of(op->getOperand(1));
  } else if (isa<MulOp>(op)) {
    bound = of(op->getOperand(0)) * of(op->getOperand(1));
  } else if (isa<MulHighOp>(op)) {
    bound = std::ldexp(of(op->getOperand(0)) * of(op->getOperand(1)), -32) + 1;
  } else if (auto shift = dyn_cast<BitShiftOp>(op)) {
    // The stage `decide` builds only left shifts that do not overflow.
    auto by = Numbers::of(op->getOperand(1));
    if (by && shift.getDirection() == "LEFT")
      bound = std::ldexp(of(op->getOperand(0)), int(by->most()));
  } else if (auto sum = dyn_cast<ReduceSumOp>(op)) {
    bound = of(op->getOperand(0)) *
            double(tensorType(op->getOperand(0)).getNumElements() /
                   std::max<int64_t>(tensorType(v).getNumElements(), 1));
  } else if (auto cast = dyn_cast<CastOp>(op);
             cast && isa<IntegerType>(elementOf(cast.getX()))) {
    auto from = mlir::cast<IntegerType>(elementOf(cast.getX()));
    if (!wrapsBelowZero || from.isUnsigned() || from.getWidth() == 1)
      bound = of(cast.getX());
  }
  // A value that exceeds its type wraps around, so the limits of the type bound
  // its magnitude.
  return std::min(bound, ofType);
}

namespace {

/// Adds the shapes of all tensors of `sum` to `shapes`.
void collectShapes(const Sum &sum, SmallVectorImpl<Dims> &shapes) {
  auto add = [&](const std::optional<Numbers> &numbers) {
    if (numbers)
      shapes.emplace_back(numbers->shape.begin(), numbers->shape.end());
  };
  add(sum.constant);
  for (const Term &term : sum.terms) {
    if (term.limited)
      collectShapes(*term.limited, shapes);
    else
      shapes.push_back(dimsOf(term.integer));
    for (const auto &numbers :
         {std::optional(term.factor), term.least, term.most})
      add(numbers);
  }
}

/// Returns `sum` if it has the shape of `v` when it is computed; nothing if an
/// operator that `sum` replaces broadcasts its operands to a larger shape. (A
/// constant whose elements are all equal has no shape in a sum.)
std::optional<Sum> withShapeOf(Value v, std::optional<Sum> sum) {
  if (!sum || sum->terms.empty())
    return sum;
  SmallVector<Dims> shapes;
  collectShapes(*sum, shapes);
  auto all = broadcastShapes(llvm::to_vector_of<ArrayRef<Dim>>(shapes));
  return all && *all == dimsOf(v) ? sum : std::nullopt;
}

/// Matches float expressions as sums of integers times constant factors.
class SumReader {
public:
  /// Unlike `readSum`, also matches sums with a smaller shape than `v`.
  static std::optional<Sum> read(Value v, const Numbers &factor) {
    Operation *op = v.getDefiningOp();
    if (!op || !elementOf(v).isF32())
      return std::nullopt;
    if (auto constant = Numbers::of(v)) {
      auto scaled = product(*constant, factor);
      return scaled ? std::optional(Sum{{}, *scaled}) : std::nullopt;
    }
    // The integers that a dequantization reads are stored anyway, so its result
    // may have other users.
    if (auto dequantize = dyn_cast<DequantizeOp>(op);
        dequantize && isa<IntegerType>(elementOf(dequantize.getX())))
      return readDequantized(dequantize, factor);
    return v.hasOneUse() ? readOperator(op, factor) : std::nullopt;
  }

  /// Matches the result of `op` as a sum, even if the result has several users.
  static std::optional<Sum> readOperator(Operation *op, const Numbers &factor) {
    if (auto cast = dyn_cast<CastOp>(op))
      return ofInteger(cast.getX(), factor, 0, cast->hasOneUse());
    if (auto dequantize = dyn_cast<DequantizeOp>(op))
      return readDequantized(dequantize, factor);
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

  /// Returns (`integer` - `zero`) * `factor` as a sum with one term; nothing if
  /// the type of `integer` is unsupported or `factor` is 0. If the expression
  /// has no other users (`isPrivate`) and adds a constant to an integer, this
  /// constant becomes part of the sum's constant, unless the integer sum may
  /// wrap around.
  static std::optional<Sum> ofInteger(Value integer, const Numbers &factor,
                                      double zero, bool isPrivate) {
    auto type = dyn_cast<IntegerType>(elementOf(integer));
    if (!type || type.getWidth() == 1 || type.getWidth() > 32 ||
        (type.isUnsigned() && type.getWidth() == 32) || factor.most() == 0)
      return std::nullopt;
    // The constant is usually the correction of a zero point.
    Operation *op = integer.getDefiningOp();
    if (isa_and_nonnull<AddOp, SubOp>(op) && type.getWidth() == 32 &&
        isPrivate && integer.hasOneUse()) {
      auto moved = Numbers::of(op->getOperand(1));
      bool wraps =
          moved && boundOf(op->getOperand(0)) + moved->most() >= 0x1p31;
      auto inner = moved && !wraps
                       ? ofInteger(op->getOperand(0), factor, zero, isPrivate)
                       : std::nullopt;
      auto constant = inner ? inner->constant.withProducts(
                                  *moved, factor, isa<SubOp>(op) ? -1 : 1)
                            : std::nullopt;
      if (constant) {
        inner->constant = *constant;
        return inner;
      }
    }
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
      return zero->values[0] == 0 ? read(x, *scaled) : std::nullopt;
    return ofInteger(x, *scaled, zero->values[0], op->hasOneUse());
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

  /// Matches a sum, along `axes`, of floats that are small integers times a
  /// constant. Sums of such integers are exact in floats, so the sum can be
  /// computed in integers by a ReduceSumOp, which this function builds.
  static std::optional<Sum> readReduction(Operation *op, ArrayRef<int64_t> axes,
                                          const Numbers &factor) {
    Value x = op->getOperand(0);
    if (hasDynamicSizes(op) || tensorType(x).getNumElements() == 0)
      return std::nullopt;
    int64_t count = tensorType(x).getNumElements() /
                    tensorType(op->getResult(0)).getNumElements();
    auto inner = withShapeOf(x, read(x, factor));
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
                         inner->terms[0].factor.values[0],
                     /*isPrivate=*/true);
  }

  /// Matches an average pool over all spatial positions.
  static std::optional<Sum> readMean(AveragePoolOp op, const Numbers &factor) {
    ArrayRef<int64_t> shape = shapeOf(op.getX());
    auto axes = llvm::to_vector(
        llvm::seq<int64_t>(1, static_cast<int64_t>(shape.size()) - 1));
    auto isOne = [](int64_t x) { return x == 1; };
    if (hasDynamicSizes(op) ||
        !llvm::all_of(shapeOf(op.getResult()).slice(1, axes.size()), isOne) ||
        op.getKernel() != shape.slice(1, axes.size()) ||
        !llvm::all_of(op.getDilations(), isOne) ||
        llvm::any_of(op.getLow(), [](int64_t low) { return low != 0; }))
      return std::nullopt;
    double count = double(ShapedType::getNumElements(op.getKernel()));
    return readReduction(op, axes,
                         factor.mapped([&](double x) { return x / count; }));
  }
};

} // namespace

std::optional<Sum> readSum(Value v, const Numbers &factor) {
  return withShapeOf(v, SumReader::read(v, factor));
}

std::optional<Sum> readSharedSum(Value v) {
  Operation *op = v.getDefiningOp();
  return op && elementOf(v).isF32()
             ? withShapeOf(v, SumReader::readOperator(op, Numbers::of(1.0)))
             : std::nullopt;
}

double boundOf(Value v) { return Bounds().of(v); }

} // namespace ingot::decide
