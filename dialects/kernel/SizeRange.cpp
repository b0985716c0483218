#include "dialects/kernel/SizeRange.h"

#include "dialects/kernel/KernelDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ingot::kernel {

namespace {
/// (c0 * s0 + c1 * s1 + ... + constant) / divisor
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

/// What an expression is at least and at most, as linear functions of its symbols: a
/// quotient is less than 1 below the fraction. Tells that s0 - s0 floordiv 2 is not
/// negative, which bounds of the parts do not.
struct LinearBounds {
  Linear least, most;

  static LinearBounds number(int64_t value, size_t symbols) {
    Linear same{SmallVector<int64_t>(symbols, 0), value};
    return {same, same};
  }
  static LinearBounds symbol(unsigned position, size_t symbols) {
    LinearBounds bounds = number(0, symbols);
    bounds.least.factors[position] = bounds.most.factors[position] = 1;
    return bounds;
  }
  /// Of an operation on what has the bounds x and y; `by` is the number that y is, or 0.
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
  atBounds(const Linear &x, ArrayRef<SymbolAttr> symbols, bool isLeast) {
    bool overflows = x.overflows;
    int64_t sum = x.constant;
    for (auto [factor, symbol] : llvm::zip_equal(x.factors, symbols)) {
      int64_t value =
          (factor > 0) == isLeast ? symbol.getLeast() : symbol.getMost();
      overflows |= llvm::MulOverflow(factor, value, value) != 0 ||
                   llvm::AddOverflow(sum, value, sum) != 0;
    }
    if (overflows)
      return std::nullopt;
    return isLeast ? llvm::divideCeilSigned(sum, x.divisor)
                   : llvm::divideFloorSigned(sum, x.divisor);
  }
};

/// What an expression is at least and at most, and that as functions of its symbols.
struct Bounds {
  int64_t least, most;
  std::optional<LinearBounds> linear;

  /// By the bounds of the parts, each of which is seen once.
  static Bounds of(AffineExpr value, ArrayRef<SymbolAttr> symbols);
};
} // namespace

Bounds Bounds::of(AffineExpr value, ArrayRef<SymbolAttr> symbols) {
  if (auto number = dyn_cast<AffineConstantExpr>(value))
    return {number.getValue(), number.getValue(),
            LinearBounds::number(number.getValue(), symbols.size())};
  if (auto symbol = dyn_cast<AffineSymbolExpr>(value)) {
    unsigned position = symbol.getPosition();
    return {symbols[position].getLeast(), symbols[position].getMost(),
            LinearBounds::symbol(position, symbols.size())};
  }
  auto parts = cast<AffineBinaryOpExpr>(value);
  Bounds x = of(parts.getLHS(), symbols), y = of(parts.getRHS(), symbols);
  auto number = dyn_cast<AffineConstantExpr>(parts.getRHS());
  auto linear = LinearBounds::of(value.getKind(), std::move(x.linear), y.linear,
                                 number ? number.getValue() : 0);
  switch (value.getKind()) {
  case AffineExprKind::Add: {
    Bounds sum{x.least + y.least, x.most + y.most, std::move(linear)};
    if (sum.linear) {
      auto least = LinearBounds::atBounds(sum.linear->least, symbols, true),
           most = LinearBounds::atBounds(sum.linear->most, symbols, false);
      sum.least = std::max(sum.least, least.value_or(sum.least));
      sum.most = std::min(sum.most, most.value_or(sum.most));
    }
    return sum;
  }
  case AffineExprKind::Mul: {
    auto [least, most] = std::minmax({x.least * y.least, x.least * y.most,
                                      x.most * y.least, x.most * y.most});
    return {least, most, std::move(linear)};
  }
  case AffineExprKind::FloorDiv:
    return {llvm::divideFloorSigned(x.least, y.most),
            llvm::divideFloorSigned(x.most, y.most), std::move(linear)};
  case AffineExprKind::CeilDiv:
    return {llvm::divideCeilSigned(x.least, y.most),
            llvm::divideCeilSigned(x.most, y.most), std::move(linear)};
  case AffineExprKind::Mod:
    return {0, y.most - 1, std::move(linear)};
  default:
    llvm_unreachable("no other expressions are made");
  }
}

SizeRange rangeOf(AffineExpr value, ArrayRef<SymbolAttr> symbols) {
  Bounds bounds = Bounds::of(value, symbols);
  return {bounds.least, bounds.most};
}

} // namespace ingot::kernel
