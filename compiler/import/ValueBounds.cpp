// Computes upper bounds of integers that the generated program computes.
//
// A size may depend on functions that size expressions lack, such as
// int(sqrt(float(n))) or floor(n * 0.7), or on a choice made by data. The
// generated program computes such a size. This file computes its upper bound
// with interval arithmetic:
//
//   n in [1, 400]  ->  sqrt(n) in [1, 20]  ->  at most 20
//
// Intervals are computed in doubles. Each float result is widened by more than
// its rounding error, so that a bound may be larger than the largest value, but
// is never smaller.

#include "compiler/import/ValueBounds.h"

#include "compiler/import/KnownSizes.h"
#include "compiler/import/TensorData.h"
#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot {
namespace {

struct Interval {
  double least, most;
};
using Intervals = SmallVector<Interval>;

constexpr double infinity = std::numeric_limits<double>::infinity();

Interval ofType(Type type) {
  // The range of an integer type wider than 8 bits is no useful bound for a
  // size.
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() > 8)
    return {-infinity, infinity};
  if (integer.getWidth() == 1 || integer.isUnsigned())
    return {0, std::ldexp(1, integer.getWidth()) - 1};
  double most = std::ldexp(1, integer.getWidth() - 1);
  return {-most, most - 1};
}

/// Whether an integer type can represent the finite ends of an interval.
/// Infinite ends are ignored: the generated program checks the sizes that it
/// reads, and so detects a value that overflows.
bool isHeld(Interval x, Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return true;
  bool isNatural = integer.getWidth() == 1 || integer.isUnsigned();
  double count = std::ldexp(1, integer.getWidth());
  double least = isNatural ? 0 : -count / 2;
  auto isInside = [&](double bound) {
    return std::isinf(bound) || (bound >= least && bound < least + count);
  };
  return isInside(x.least) && isInside(x.most);
}

/// Returns the smallest interval that contains all candidates; all numbers if a
/// candidate is NaN (inf - inf, 0 * inf).
Interval hullOf(ArrayRef<double> candidates) {
  Interval hull{infinity, -infinity};
  for (double x : candidates) {
    if (std::isnan(x))
      return {-infinity, infinity};
    hull = {std::min(hull.least, x), std::max(hull.most, x)};
  }
  return hull;
}

Interval hullOf(Interval x, Interval y) {
  return {std::min(x.least, y.least), std::max(x.most, y.most)};
}

/// Returns the interval of the results of a monotonically increasing function.
Interval growing(Interval x, double (*function)(double)) {
  return hullOf({function(x.least), function(x.most)});
}

Interval productOf(Interval x, Interval y) {
  return hullOf(
      {x.least * y.least, x.least * y.most, x.most * y.least, x.most * y.most});
}

Interval quotientOf(Interval x, Interval y) {
  if (y.least <= 0 && y.most >= 0)
    return {-infinity, infinity};
  return hullOf(
      {x.least / y.least, x.least / y.most, x.most / y.least, x.most / y.most});
}

/// Returns the interval of the integer quotient x / y. A run that reaches the
/// division does not divide by 0, so the magnitude of the quotient is at most
/// that of x.
Interval integerQuotientOf(Interval x, Interval y) {
  if (y.least < 0)
    return {-infinity, infinity};
  if (y.least < 1)
    return hullOf(x, {0, 0});
  return growing(quotientOf(x, y), std::trunc);
}

/// Returns the interval of a comparison's result: [1, 1] or [0, 0] if the
/// intervals of the operands decide it, else [0, 1].
Interval truth(bool isTrue, bool isFalse) {
  return {isTrue ? 1.0 : 0.0, isFalse ? 0.0 : 1.0};
}
Interval less(Interval x, Interval y) {
  return truth(x.most < y.least, x.least >= y.most);
}
Interval equal(Interval x, Interval y) {
  return truth(x.least == x.most && y.least == y.most && x.least == y.least,
               x.most < y.least || y.most < x.least);
}

Interval powerOf(Interval x, Interval y) {
  if (x.least < 0)
    return {-infinity, infinity};
  return hullOf({std::pow(x.least, y.least), std::pow(x.least, y.most),
                 std::pow(x.most, y.least), std::pow(x.most, y.most)});
}

/// Returns the interval of one element of the result of `op`, given the
/// intervals of one element of each operand; nullopt if the operator is not
/// supported.
std::optional<Interval> elementOfResult(Operation *op, ArrayRef<Interval> x) {
  bool isInteger = elementOf(op->getResult(0)).isIntOrIndex();
  return llvm::TypeSwitch<Operation *, std::optional<Interval>>(op)
      .Case([&](AddOp) {
        return Interval{x[0].least + x[1].least, x[0].most + x[1].most};
      })
      .Case([&](SubOp) {
        return Interval{x[0].least - x[1].most, x[0].most - x[1].least};
      })
      .Case([&](MulOp) { return productOf(x[0], x[1]); })
      .Case([&](DivOp) {
        return isInteger ? integerQuotientOf(x[0], x[1])
                         : quotientOf(x[0], x[1]);
      })
      .Case([&](ModOp) -> std::optional<Interval> {
        if (x[1].least <= 0)
          return std::nullopt;
        return Interval{x[0].least < 0 ? -x[1].most : 0,
                        x[0].least < 0 ? x[1].most
                                       : std::min(x[0].most, x[1].most)};
      })
      .Case([&](PowOp) { return powerOf(x[0], x[1]); })
      .Case([&](MaximumOp) {
        return Interval{std::max(x[0].least, x[1].least),
                        std::max(x[0].most, x[1].most)};
      })
      .Case([&](MinimumOp) {
        return Interval{std::min(x[0].least, x[1].least),
                        std::min(x[0].most, x[1].most)};
      })
      .Case([&](NegOp) { return Interval{-x[0].most, -x[0].least}; })
      .Case([&](AbsOp) {
        return Interval{std::max({0.0, x[0].least, -x[0].most}),
                        std::max(x[0].most, -x[0].least)};
      })
      .Case([&](ReluOp) {
        return Interval{std::max(0.0, x[0].least), std::max(0.0, x[0].most)};
      })
      .Case([&](FloorOp) { return growing(x[0], std::floor); })
      .Case([&](CeilOp) { return growing(x[0], std::ceil); })
      .Case([&](RoundOp) { return growing(x[0], std::nearbyint); })
      .Case([&](SqrtOp) {
        return growing({std::max(0.0, x[0].least), x[0].most}, std::sqrt);
      })
      .Case([&](ExpOp) { return growing(x[0], std::exp); })
      .Case([&](LogOp) { return growing(x[0], std::log); })
      .Case([&](ReciprocalOp) { return quotientOf({1, 1}, x[0]); })
      .Case([&](SigmoidOp) { return Interval{0, 1}; })
      .Case([&](TanhOp) { return Interval{-1, 1}; })
      .Case([&](LessOp) { return less(x[0], x[1]); })
      .Case([&](GreaterOp) { return less(x[1], x[0]); })
      .Case([&](EqualOp) { return equal(x[0], x[1]); })
      .Case([&](WhereOp) {
        return x[0].least >= 1  ? x[1]
               : x[0].most <= 0 ? x[2]
                                : hullOf(x[1], x[2]);
      })
      .Case([&](CastOp cast) {
        // Each number but 0 becomes true, also one between -1 and 1.
        if (elementOf(cast.getResult()).isInteger(1))
          return truth(x[0].least > 0 || x[0].most < 0,
                       x[0].least == 0 && x[0].most == 0);
        bool isRounded = isInteger && isa<FloatType>(elementOf(cast.getX()));
        return isRounded ? growing(x[0], std::trunc) : x[0];
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// Maps each tensor to the intervals of its elements, in row-major order. A
/// tensor with dynamic sizes or many elements has one interval for all its
/// elements.
class Bounds {
public:
  const Intervals &of(Value value, int depth = 0) {
    auto [place, isNew] = all.try_emplace(value);
    if (!isNew)
      return all[value];
    Interval type = ofType(elementOf(value));
    Intervals found = depth < deepest ? compute(value, depth) : Intervals{};
    if (found.empty())
      found = {type};
    auto real = dyn_cast<FloatType>(elementOf(value));
    bool isFloat = static_cast<bool>(real);
    // Widens the interval of a float by more than the relative error of a few
    // roundings to float32, or of one rounding to a narrower type, since the
    // generated program rounds.
    double slack = 1e-6;
    if (real)
      slack = std::max(
          slack, std::ldexp(2, -static_cast<int>(real.getFPMantissaWidth())));
    for (Interval &x : found) {
      if (isFloat)
        x = {x.least - slack * std::abs(x.least),
             x.most + slack * std::abs(x.most)};
      // An integer outside of the range of its type wraps, and may become any
      // value of the type.
      if (!isFloat && !isHeld(x, elementOf(value)))
        x = type;
    }
    return all[value] = std::move(found);
  }

  static Interval wholeOf(const Intervals &x) {
    Interval whole = x.front();
    for (Interval next : x)
      whole = hullOf(whole, next);
    return whole;
  }

  /// Returns the interval of element `i` of a tensor with `count` elements. `x`
  /// may have one interval for all elements.
  static Interval at(const Intervals &x, size_t i, size_t count) {
    return x.size() == count ? x[i] : wholeOf(x);
  }

private:
  /// The limit for the depth of the recursion from results to operands;
  /// computations of shapes are shorter.
  static constexpr int deepest = 200;
  static constexpr int64_t mostElements = 256;

  static bool isListed(Value value) {
    return !hasDynamicSizes(value.getType()) &&
           tensorType(value).getNumElements() <= mostElements;
  }

  /// Returns the intervals of the elements of a value; empty if only the range
  /// of its type is known.
  Intervals compute(Value value, int depth) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return {};
    if (auto constant = dyn_cast<ConstantOp>(op))
      return ofConstant(value, constant);
    // An element that is an expression of sizes has the bounds of that
    // expression.
    if (isListed(value) && elementOf(value).isIntOrIndex()) {
      Intervals found;
      Interval type = ofType(elementOf(value));
      bool isAll = true;
      for (const std::optional<Dim> &x : elementsOfSizes(value)) {
        isAll &= x.has_value();
        found.push_back(x ? Interval{double(x->least()), double(x->most())}
                          : type);
      }
      if (isAll || isa<SizesOp>(op))
        return found;
    }
    size_t count = isListed(value)
                       ? static_cast<size_t>(tensorType(value).getNumElements())
                       : 1;
    if (isa<ElementwiseOpInterface>(op)) {
      SmallVector<Intervals> operands;
      for (Value operand : op->getOperands())
        operands.push_back(of(operand, depth + 1));
      Intervals found;
      for (size_t i = 0; i < count; ++i) {
        SmallVector<Interval> in;
        for (auto [operand, x] : llvm::zip(op->getOperands(), operands))
          in.push_back(shapeOf(operand) == shapeOf(value) ? at(x, i, count)
                                                          : wholeOf(x));
        auto one = elementOfResult(op, in);
        if (!one)
          return {};
        found.push_back(*one);
      }
      return found;
    }
    if (auto gather = dyn_cast<GatherOp>(op))
      return {wholeOf(of(gather.getX(), depth + 1))};
    if (isa<ReshapeOp>(op))
      return of(op->getOperand(0), depth + 1);
    if (isa<ReduceProdOp>(op) && count == 1 && isListed(op->getOperand(0))) {
      Intervals factors = of(op->getOperand(0), depth + 1);
      int64_t number = tensorType(op->getOperand(0)).getNumElements();
      Interval product{1, 1};
      for (int64_t i = 0; i < number; ++i)
        product = productOf(product, at(factors, i, number));
      return {product};
    }
    if (auto concat = dyn_cast<ConcatOp>(op)) {
      Intervals joined;
      for (Value operand : op->getOperands()) {
        const Intervals &x = of(operand, depth + 1);
        if (!isListed(operand))
          return {};
        for (int64_t i = 0; i < tensorType(operand).getNumElements(); ++i)
          joined.push_back(at(x, i, tensorType(operand).getNumElements()));
      }
      if (tensorType(value).getRank() == 1)
        return joined;
      return joined.empty() ? Intervals{} : Intervals{wholeOf(joined)};
    }
    if (auto slice = dyn_cast<SliceOp>(op);
        slice && tensorType(value).getRank() == 1 && isListed(value) &&
        isListed(slice.getX())) {
      const Intervals &x = of(slice.getX(), depth + 1);
      int64_t number = tensorType(slice.getX()).getNumElements();
      Intervals part;
      for (size_t i = 0; i < count; ++i)
        part.push_back(
            at(x, slice.getStarts()[0] + i * slice.getSteps()[0], number));
      return part;
    }
    if (isa<SliceOp, TransposeOp, ExpandOp, ReduceMaxOp, ReduceMinOp>(op))
      return {wholeOf(of(op->getOperand(0), depth + 1))};
    return {};
  }

  static Intervals ofConstant(Value value, ConstantOp constant) {
    if (!hasData(constant.getValue()) || !isListed(value))
      return {};
    Intervals found;
    if (elementOf(value).isIntOrIndex()) {
      for (int64_t x : elementsAsInts(constant.getValue()))
        found.push_back({double(x), double(x)});
      return found;
    }
    if (!isa<FloatType>(elementOf(value)))
      return {};
    for (const APFloat &x : toDense(constant.getValue()).getValues<APFloat>()) {
      double number = x.convertToDouble();
      if (std::isnan(number))
        return {};
      found.push_back({number, number});
    }
    return found;
  }

  llvm::DenseMap<Value, Intervals> all;
};

} // namespace

SmallVector<std::optional<int64_t>> mostOfElements(Value value) {
  // A bound above `mostSize` counts as unknown, so that the user is asked to
  // give a bound: a tensor with such a large size would need too much memory.
  constexpr double mostSize = int64_t(1) << 31;
  size_t count = tensorType(value).getNumElements();
  Bounds bounds;
  const Intervals &found = bounds.of(value);
  SmallVector<std::optional<int64_t>> most;
  for (size_t i = 0; i < count; ++i) {
    double own = Bounds::at(found, i, count).most;
    most.push_back(own <= mostSize
                       ? std::optional(std::max<int64_t>(0, int64_t(own)))
                       : std::nullopt);
  }
  return most;
}

} // namespace ingot
