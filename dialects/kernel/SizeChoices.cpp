// Comparisons of sizes, and sizes that are chosen by a comparison at run time.
#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/Sizes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ingot::kernel {

std::optional<bool> isEqual(const Dim &x, const Dim &y) {
  if (x == y)
    return true;
  Dim distance = y - x;
  if (auto known = distance.known())
    return *known == 0;
  return distance.least() > 0 || distance.most() < 0 ? std::optional(false)
                                                     : std::nullopt;
}

std::optional<bool> isLess(const Dim &x, const Dim &y) {
  Dim distance = y - x;
  if (distance.least() > 0)
    return true;
  return distance.most() <= 0 ? std::optional(false) : std::nullopt;
}

/// Returns the formula, such as "min(n, m)", of a symbol that is computed from
/// other sizes. The formula is also the name of the symbol.
static std::string textOf(SizeChoice choice, ArrayRef<Dim> operands) {
  auto text = [&](size_t i) { return sizeText(operands[i]); };
  auto compared = [&](const char *by) {
    return "(" + text(0) + by + text(1) + " ? " + text(2) + " : " + text(3) +
           ")";
  };
  switch (choice) {
  case SizeChoice::Smaller:
    return "min(" + text(0) + ", " + text(1) + ")";
  case SizeChoice::Larger:
    return "max(" + text(0) + ", " + text(1) + ")";
  case SizeChoice::IfLess:
    return compared(" < ");
  case SizeChoice::IfEqual:
    return compared(" == ");
  case SizeChoice::Quotient:
    return "((" + text(0) + ") floordiv (" + text(1) + "))";
  case SizeChoice::None:
    break;
  }
  llvm_unreachable("a symbol that is given has no definition");
}

/// Returns the size that `choice` computes from `operands` at run time, as a
/// new symbol with the bounds `least` and `most`; a constant if these are
/// equal.
static Dim choiceOf(SizeChoice choice, ArrayRef<Dim> operands, int64_t least,
                    int64_t most) {
  if (least == most)
    return least;
  MLIRContext *context = nullptr;
  for (const Dim &x : operands)
    if (!x.known())
      context = x.expression().getContext();
  return Dim(SymbolAttr::get(context, textOf(choice, operands), least, most,
                             choice, sizesAttr(operands, context)));
}

Dim smallerOf(const Dim &x, const Dim &y) {
  Dim distance = y - x;
  if (distance.least() >= 0)
    return x;
  if (distance.most() <= 0)
    return y;
  bool isOrdered = sizeText(x) < sizeText(y);
  return choiceOf(SizeChoice::Smaller, {isOrdered ? x : y, isOrdered ? y : x},
                  std::min(x.least(), y.least()), std::min(x.most(), y.most()));
}

Dim largerOf(const Dim &x, const Dim &y) {
  Dim distance = y - x;
  if (distance.least() >= 0)
    return y;
  if (distance.most() <= 0)
    return x;
  bool isOrdered = sizeText(x) < sizeText(y);
  return choiceOf(SizeChoice::Larger, {isOrdered ? x : y, isOrdered ? y : x},
                  std::max(x.least(), y.least()), std::max(x.most(), y.most()));
}

Dim ifLess(const Dim &x, const Dim &y, const Dim &a, const Dim &b) {
  if (a == b)
    return a;
  if (auto known = isLess(x, y))
    return *known ? a : b;
  if (a == x && b == y)
    return smallerOf(x, y);
  if (a == y && b == x)
    return largerOf(x, y);
  return choiceOf(SizeChoice::IfLess, {x, y, a, b},
                  std::min(a.least(), b.least()), std::max(a.most(), b.most()));
}

Dim ifEqual(const Dim &x, const Dim &y, const Dim &a, const Dim &b) {
  if (a == b || (a == y && b == x))
    return b;
  if (auto known = isEqual(x, y))
    return *known ? a : b;
  // If `x` is a choice between two constants and `y` is a constant, the result
  // of `x == y` follows from the comparison that decides `x`.
  SymbolAttr inner = x.symbols().size() == 1 ? x.symbols()[0] : SymbolAttr();
  if (inner && x == Dim(inner) && y.known() &&
      (inner.getChoice() == SizeChoice::IfLess ||
       inner.getChoice() == SizeChoice::IfEqual)) {
    Dims of = dimsOf(cast<SizesAttr>(inner.getOperands()));
    auto first = isEqual(of[2], y), second = isEqual(of[3], y);
    if (first && second)
      return chosen(inner.getChoice(),
                    {of[0], of[1], *first ? a : b, *second ? a : b});
  }
  return choiceOf(SizeChoice::IfEqual, {x, y, a, b},
                  std::min(a.least(), b.least()), std::max(a.most(), b.most()));
}

Dim floorDiv(const Dim &x, const Dim &y) {
  // The divisor is positive at run time, so a smaller constant is treated as 1.
  if (auto number = y.known())
    return x.floorDiv(std::max<int64_t>(*number, 1));
  if (auto quotient = x.dividedBy(y))
    return *quotient;
  auto bound = [&](int64_t value, int64_t small, int64_t large) {
    return llvm::divideFloorSigned(value, value >= 0 ? large : small);
  };
  int64_t low = std::max<int64_t>(y.least(), 1);
  return choiceOf(SizeChoice::Quotient, {x, y}, bound(x.least(), low, y.most()),
                  bound(x.most(), y.most(), low));
}

Dim chosen(SizeChoice choice, ArrayRef<Dim> operands) {
  switch (choice) {
  case SizeChoice::Smaller:
    return smallerOf(operands[0], operands[1]);
  case SizeChoice::Larger:
    return largerOf(operands[0], operands[1]);
  case SizeChoice::IfLess:
    return ifLess(operands[0], operands[1], operands[2], operands[3]);
  case SizeChoice::IfEqual:
    return ifEqual(operands[0], operands[1], operands[2], operands[3]);
  case SizeChoice::Quotient:
    return floorDiv(operands[0], operands[1]);
  case SizeChoice::None:
    break;
  }
  llvm_unreachable("a symbol that is given is no choice");
}

} // namespace ingot::kernel
