#include "dialects/kernel/SizeRange.h"

#include "dialects/kernel/KernelDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ingot::kernel {

int64_t saturatingAdd(int64_t x, int64_t y) {
  int64_t sum;
  return llvm::AddOverflow(x, y, sum) == 0 ? sum
         : x < 0                           ? INT64_MIN
                                           : INT64_MAX;
}

int64_t saturatingMul(int64_t x, int64_t y) {
  int64_t product;
  return llvm::MulOverflow(x, y, product) == 0 ? product
         : (x < 0) == (y < 0)                  ? INT64_MAX
                                               : INT64_MIN;
}

namespace {
/// The linear function (f0 * v0 + f1 * v1 + ... + constant) / divisor of
/// variables v0, v1, ... with `factors` f0, f1, ...
struct Linear {
  SmallVector<int64_t> factors;
  int64_t constant = 0, divisor = 1;
  bool overflows = false;

  Linear &times(int64_t by) {
    for (int64_t &factor : factors)
      overflows |= llvm::MulOverflow(factor, by, factor) != 0;
    overflows |= llvm::MulOverflow(constant, by, constant) != 0;
    return *this;
  }
  Linear &over(int64_t by) {
    overflows |= llvm::MulOverflow(divisor, by, divisor) != 0;
    return *this;
  }
  Linear &plus(const Linear &other) {
    int64_t own = divisor;
    times(other.divisor).over(other.divisor);
    auto add = [&](int64_t &to, int64_t more) {
      overflows |= llvm::MulOverflow(more, own, more) != 0 ||
                   llvm::AddOverflow(to, more, to) != 0;
    };
    for (auto [factor, more] : llvm::zip_equal(factors, other.factors))
      add(factor, more);
    add(constant, other.constant);
    overflows |= other.overflows;
    return *this;
  }
};

struct Interval {
  int64_t least, most;
};

/// The variables of linear functions, with their bounds: the symbols of an
/// expression, then its nonlinear subexpressions.
class Variables {
public:
  Variables(AffineExpr value, ArrayRef<SymbolAttr> symbols) {
    for (SymbolAttr symbol : symbols)
      bounds.push_back({symbol.getLeast(), symbol.getMost()});
    // The walk visits operands before their users, so the bounds of operands
    // are known first.
    value.walk([&](AffineExpr part) {
      if (!isLinear(part) && places.try_emplace(part, bounds.size()).second)
        bounds.push_back({INT64_MIN, INT64_MAX});
    });
  }
  size_t count() const { return bounds.size(); }
  Interval boundsOf(size_t place) const { return bounds[place]; }
  /// Returns the index of the variable for a nonlinear subexpression, and
  /// records its range; nullopt for a linear one.
  std::optional<unsigned> find(AffineExpr part, Interval range) {
    auto it = places.find(part);
    if (it == places.end())
      return std::nullopt;
    bounds[it->second] = range;
    return it->second;
  }

private:
  static bool isLinear(AffineExpr part) {
    auto parts = dyn_cast<AffineBinaryOpExpr>(part);
    if (!parts || part.getKind() == AffineExprKind::Add)
      return true;
    return part.getKind() != AffineExprKind::Mod &&
           isa<AffineConstantExpr>(parts.getRHS());
  }

  llvm::DenseMap<AffineExpr, unsigned> places;
  SmallVector<Interval> bounds;
};

/// Lower and upper bound of an expression, as linear functions of variables.
/// The lower bound of x floordiv c is (x - (c - 1)) / c. Such bounds prove that
/// s0 - s0 floordiv 2 is not negative; interval arithmetic does not.
struct LinearBounds {
  Linear least, most;

  static LinearBounds number(int64_t value, size_t variables) {
    Linear same{SmallVector<int64_t>(variables, 0), value};
    return {same, same};
  }
  static LinearBounds variable(unsigned position, size_t variables) {
    LinearBounds bounds = number(0, variables);
    bounds.least.factors[position] = bounds.most.factors[position] = 1;
    return bounds;
  }
  /// Returns the bounds of an operation on operands with the bounds x and y;
  /// nullopt if it has no linear bounds. `by` is the value of the second
  /// operand if this is a constant; otherwise 0.
  static std::optional<LinearBounds> of(AffineExprKind kind,
                                        std::optional<LinearBounds> x,
                                        const std::optional<LinearBounds> &y,
                                        int64_t by) {
    if (!x || !y)
      return std::nullopt;
    if (kind == AffineExprKind::Add) {
      x->least.plus(y->least);
      x->most.plus(y->most);
      return x;
    }
    if (kind == AffineExprKind::Mul && by != 0) {
      x->least.times(by);
      x->most.times(by);
      if (by < 0)
        std::swap(x->least, x->most);
      return x;
    }
    if (kind != AffineExprKind::FloorDiv || by <= 0)
      return std::nullopt;
    x->least.plus(number(1 - by, x->least.factors.size()).least).over(by);
    x->most.over(by);
    return x;
  }

  static std::optional<int64_t>
  atBounds(const Linear &x, const Variables &variables, bool isLeast) {
    bool overflows = x.overflows;
    int64_t sum = x.constant;
    for (auto [place, factor] : llvm::enumerate(x.factors)) {
      if (factor == 0)
        continue;
      Interval range = variables.boundsOf(place);
      int64_t value = (factor > 0) == isLeast ? range.least : range.most;
      overflows |= llvm::MulOverflow(factor, value, value) != 0 ||
                   llvm::AddOverflow(sum, value, sum) != 0;
    }
    if (overflows)
      return std::nullopt;
    return isLeast ? llvm::divideCeilSigned(sum, x.divisor)
                   : llvm::divideFloorSigned(sum, x.divisor);
  }
};

/// The bounds of an expression, as an interval and as linear functions of
/// variables.
struct Bounds {
  Interval range;
  std::optional<LinearBounds> linear;

  /// Computes the bounds of `value` from the bounds of its subexpressions,
  /// visiting each subexpression once.
  static Bounds of(AffineExpr value, Variables &variables);
};
} // namespace

/// Divides a bound by the positive number `by`, rounding up if `isUp`,
/// otherwise down. An infinite bound stays infinite.
static int64_t dividedBound(int64_t bound, int64_t by, bool isUp) {
  if (bound == INT64_MIN || bound == INT64_MAX || by < 1)
    return bound;
  return isUp ? llvm::divideCeilSigned(bound, by)
              : llvm::divideFloorSigned(bound, by);
}

/// Returns the interval of an operation on operands with the intervals x and y.
static Interval rangeOf(AffineExprKind kind, Interval x, Interval y) {
  switch (kind) {
  case AffineExprKind::Add:
    return {saturatingAdd(x.least, y.least), saturatingAdd(x.most, y.most)};
  case AffineExprKind::Mul: {
    auto [least, most] = std::minmax(
        {saturatingMul(x.least, y.least), saturatingMul(x.least, y.most),
         saturatingMul(x.most, y.least), saturatingMul(x.most, y.most)});
    return {least, most};
  }
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv: {
    bool isUp = kind == AffineExprKind::CeilDiv;
    return {dividedBound(x.least, y.most, isUp),
            dividedBound(x.most, y.most, isUp)};
  }
  case AffineExprKind::Mod:
    return {0, y.most - 1};
  default:
    llvm_unreachable("no other expressions are made");
  }
}

Bounds Bounds::of(AffineExpr value, Variables &variables) {
  if (auto number = dyn_cast<AffineConstantExpr>(value))
    return {{number.getValue(), number.getValue()},
            LinearBounds::number(number.getValue(), variables.count())};
  if (auto symbol = dyn_cast<AffineSymbolExpr>(value)) {
    unsigned position = symbol.getPosition();
    return {variables.boundsOf(position),
            LinearBounds::variable(position, variables.count())};
  }
  auto parts = cast<AffineBinaryOpExpr>(value);
  Bounds x = of(parts.getLHS(), variables), y = of(parts.getRHS(), variables);
  Interval range = kernel::rangeOf(value.getKind(), x.range, y.range);
  if (auto place = variables.find(value, range))
    return {range, LinearBounds::variable(*place, variables.count())};
  auto number = dyn_cast<AffineConstantExpr>(parts.getRHS());
  auto linear = LinearBounds::of(value.getKind(), std::move(x.linear), y.linear,
                                 number ? number.getValue() : 0);
  if (linear && value.getKind() == AffineExprKind::Add) {
    auto least = LinearBounds::atBounds(linear->least, variables, true),
         most = LinearBounds::atBounds(linear->most, variables, false);
    range.least = std::max(range.least, least.value_or(range.least));
    range.most = std::min(range.most, most.value_or(range.most));
  }
  return {range, std::move(linear)};
}

SizeRange rangeOf(AffineExpr value, ArrayRef<SymbolAttr> symbols) {
  Variables variables(value, symbols);
  Interval range = Bounds::of(value, variables).range;
  return {range.least, range.most};
}

} // namespace ingot::kernel
