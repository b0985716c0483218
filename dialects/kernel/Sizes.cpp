#include "dialects/kernel/Sizes.h"

#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/SizeDivision.h"
#include "dialects/kernel/SizeRange.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot::kernel;

#define GET_ATTRDEF_CLASSES
#include "dialects/kernel/KernelAttrs.cpp.inc"

void KernelDialect::addSizes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/kernel/KernelAttrs.cpp.inc"
      >();
}

namespace ingot::kernel {

/// The order of symbols: by name, then by choice (whether and how the symbol is
/// computed from other sizes).
static bool byName(SymbolAttr a, SymbolAttr b) {
  return std::pair(a.getName(), a.getChoice()) <
         std::pair(b.getName(), b.getChoice());
}

//===----------------------------------------------------------------------===//
// Dim
//===----------------------------------------------------------------------===//

Dim::Dim(SymbolAttr symbol)
    : Dim(getAffineSymbolExpr(0, symbol.getContext()), {symbol}) {}

/// Flattens nested sums or nested products (`kind`): returns the sum or product
/// of the constant operands, and appends the other operands to `to`.
static int64_t partsOf(AffineExpr value, AffineExprKind kind,
                       SmallVectorImpl<AffineExpr> &to) {
  if (auto number = dyn_cast<AffineConstantExpr>(value))
    return number.getValue();
  auto parts = dyn_cast<AffineBinaryOpExpr>(value);
  if (!parts || value.getKind() != kind) {
    to.push_back(value);
    return kind == AffineExprKind::Mul ? 1 : 0;
  }
  int64_t x = partsOf(parts.getLHS(), kind, to),
          y = partsOf(parts.getRHS(), kind, to);
  return kind == AffineExprKind::Mul ? x * y : x + y;
}

/// Returns the text of an expression. A single symbol is not printed by MLIR's
/// printer, which would first initialize all dialects.
static std::string textOf(AffineExpr value) {
  if (auto symbol = dyn_cast<AffineSymbolExpr>(value))
    return "s" + std::to_string(symbol.getPosition());
  std::string text;
  llvm::raw_string_ostream os(text);
  value.print(os);
  return text;
}

/// Sorts the operands of sums and products, so that equal expressions become
/// the same attribute. MLIR does not canonicalize products of symbols, which
/// are not affine.
static AffineExpr inOrder(AffineExpr value) {
  auto whole = dyn_cast<AffineBinaryOpExpr>(value);
  if (!whole)
    return value;
  AffineExprKind kind = value.getKind();
  if (kind != AffineExprKind::Mul && kind != AffineExprKind::Add)
    return getAffineBinaryOpExpr(kind, inOrder(whole.getLHS()),
                                 inOrder(whole.getRHS()));
  SmallVector<AffineExpr> parts;
  SmallVector<std::pair<std::string, AffineExpr>> ordered;
  int64_t number = partsOf(value, kind, parts);
  for (AffineExpr part : parts) {
    part = inOrder(part);
    // Factors the greatest common divisor out of a sum, so that equal sizes
    // have equal expressions: whether MLIR distributes a constant factor over
    // the terms of a sum depends on the order of operations.
    int64_t common = part.getLargestKnownDivisor();
    if (kind == AffineExprKind::Mul && part.getKind() == AffineExprKind::Add &&
        common > 1) {
      part = inOrder(part.floorDiv(common));
      number *= common;
    }
    ordered.push_back({textOf(part), part});
  }
  llvm::stable_sort(ordered, llvm::less_first());
  AffineExpr result = getAffineConstantExpr(kind == AffineExprKind::Mul ? 1 : 0,
                                            value.getContext());
  for (const auto &[text, part] : ordered)
    result = getAffineBinaryOpExpr(kind, result, part);
  return getAffineBinaryOpExpr(
      kind, result, getAffineConstantExpr(number, value.getContext()));
}

/// Simplifies the expression, drops the symbols that do not occur in it, and
/// computes its range.
Dim::Dim(AffineExpr expression, ArrayRef<SymbolAttr> symbols) {
  value = simplifyAffineExpr(expression, 0, symbols.size());
  SmallVector<AffineExpr> numbers(symbols.size(), value);
  llvm::BitVector has(symbols.size());
  value.walk([&](AffineExpr part) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
      has.set(symbol.getPosition());
  });
  for (auto [i, symbol] : llvm::enumerate(symbols))
    if (has[i]) {
      numbers[i] = getAffineSymbolExpr(used.size(), value.getContext());
      used.push_back(symbol);
    }
  value = value.replaceSymbols(numbers);
  if (used.size() > 1 || !value.isPureAffine())
    value = inOrder(value);
  range = rangeOf(value, used);
  narrowByChoices();
  if (auto number = dyn_cast<AffineConstantExpr>(value)) {
    range = {number.getValue(), number.getValue()};
    value = {};
  } else if (range.least == range.most) {
    value = {};
    used.clear();
  }
}

Dim::Range Dim::rangeOf(AffineExpr value, ArrayRef<SymbolAttr> symbols) {
  SizeRange range = kernel::rangeOf(value, symbols);
  return {range.least, range.most};
}

Dim Dim::combine(const Dim &x, const Dim &y, AffineExprKind kind) {
  MLIRContext *context = x.value ? x.value.getContext() : y.value.getContext();
  SmallVector<SymbolAttr> symbols(x.used.begin(), x.used.end());
  for (SymbolAttr symbol : y.used)
    if (!llvm::is_contained(symbols, symbol))
      symbols.push_back(symbol);
  llvm::sort(symbols, byName);
  auto over = [&](const Dim &size) {
    if (!size.value)
      return getAffineConstantExpr(size.range.most, context);
    SmallVector<AffineExpr> numbers;
    for (SymbolAttr symbol : size.used)
      numbers.push_back(getAffineSymbolExpr(
          llvm::find(symbols, symbol) - symbols.begin(), context));
    return size.value.replaceSymbols(numbers);
  };
  return Dim(getAffineBinaryOpExpr(kind, over(x), over(y)), symbols);
}

Dim operator+(const Dim &x, const Dim &y) {
  return !x.value && !y.value ? Dim(saturatingAdd(x.most(), y.most()))
                              : Dim::combine(x, y, AffineExprKind::Add);
}
Dim operator-(const Dim &x, const Dim &y) { return x + y * -1; }
Dim operator*(const Dim &x, const Dim &y) {
  return !x.value && !y.value ? Dim(saturatingMul(x.most(), y.most()))
                              : Dim::combine(x, y, AffineExprKind::Mul);
}
Dim Dim::floorDiv(int64_t divisor) const {
  return value ? combine(*this, divisor, AffineExprKind::FloorDiv)
               : Dim(llvm::divideFloorSigned(range.most, divisor));
}

/// Flattens a product: returns its constant factor, and appends the other
/// factors to `to`. The greatest common divisor of the terms of a sum counts as
/// a constant factor.
static int64_t factorsOf(AffineExpr product, SmallVectorImpl<AffineExpr> &to) {
  if (auto number = dyn_cast<AffineConstantExpr>(product))
    return number.getValue();
  auto parts = dyn_cast<AffineBinaryOpExpr>(product);
  if (parts && parts.getKind() == AffineExprKind::Mul)
    return factorsOf(parts.getLHS(), to) * factorsOf(parts.getRHS(), to);
  int64_t common = product.getLargestKnownDivisor();
  if (parts && parts.getKind() == AffineExprKind::Add && common > 1) {
    to.push_back(product.floorDiv(common));
    return common;
  }
  to.push_back(product);
  return 1;
}

std::optional<Dim> Dim::dividedBy(const Dim &divisor) const {
  if (divisor == 0)
    return std::nullopt;
  if (auto number = divisor.known())
    return this->divisor() % *number == 0 ? std::optional(floorDiv(*number))
                                          : std::nullopt;
  // Each factor of the divisor must also be a factor of the dividend, from
  // which it is removed.
  SmallVector<AffineExpr> factors, others;
  if (!value || !llvm::all_of(divisor.used, [&](SymbolAttr symbol) {
        return llvm::is_contained(used, symbol);
      }))
    return std::nullopt;
  SmallVector<AffineExpr> numbers;
  for (SymbolAttr symbol : divisor.used)
    numbers.push_back(getAffineSymbolExpr(
        llvm::find(used, symbol) - used.begin(), value.getContext()));
  int64_t number = factorsOf(value, factors),
          other = factorsOf(divisor.value.replaceSymbols(numbers), others);
  if (number % other != 0)
    return std::nullopt;
  for (AffineExpr factor : others) {
    auto *same = llvm::find(factors, factor);
    if (same == factors.end())
      return std::nullopt;
    factors.erase(same);
  }
  AffineExpr rest = getAffineConstantExpr(number / other, value.getContext());
  for (AffineExpr factor : factors)
    rest = rest * factor;
  return Dim(rest, used);
}

int64_t Dim::divisor() const {
  return value ? value.getLargestKnownDivisor() : range.most;
}

static Dim evaluated(AffineExpr value, ArrayRef<Dim> symbols) {
  if (auto number = dyn_cast<AffineConstantExpr>(value))
    return number.getValue();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(value))
    return symbols[symbol.getPosition()];
  auto parts = cast<AffineBinaryOpExpr>(value);
  Dim x = evaluated(parts.getLHS(), symbols),
      y = evaluated(parts.getRHS(), symbols);
  switch (value.getKind()) {
  case AffineExprKind::Add:
    return x + y;
  case AffineExprKind::Mul:
    return x * y;
  case AffineExprKind::FloorDiv:
    return x.floorDiv(*y.known());
  case AffineExprKind::Mod:
    return x - x.floorDiv(*y.known()) * y;
  default:
    llvm_unreachable("no other expressions are made");
  }
}

/// Returns the sizes from which a symbol is computed by its SizeChoice, such as
/// the two sizes of which it is the maximum.
static Dims operandsOf(SymbolAttr symbol) {
  return dimsOf(cast<SizesAttr>(symbol.getOperands()));
}

Dim Dim::with(function_ref<Dim(SymbolAttr)> sizeOf) const {
  auto sizeOfAny = [&](SymbolAttr symbol) -> Dim {
    if (symbol.isGiven())
      return sizeOf(symbol);
    return chosen(symbol.getChoice(),
                  llvm::map_to_vector(operandsOf(symbol), [&](const Dim &x) {
                    return x.with(sizeOf);
                  }));
  };
  return value ? evaluated(value, llvm::map_to_vector(used, sizeOfAny)) : *this;
}

int64_t Dim::at(function_ref<int64_t(SymbolAttr)> valueOf) const {
  if (!value)
    return range.most;
  SmallVector<AffineExpr> values;
  for (SymbolAttr symbol : used) {
    int64_t number =
        symbol.isGiven()
            ? valueOf(symbol)
            : *chosen(symbol.getChoice(),
                      llvm::map_to_vector(
                          operandsOf(symbol),
                          [&](const Dim &x) { return Dim(x.at(valueOf)); }))
                   .known();
    values.push_back(getAffineConstantExpr(number, value.getContext()));
  }
  return cast<AffineConstantExpr>(
             simplifyAffineExpr(value.replaceSymbols(values), 0, 0))
      .getValue();
}

SmallVector<SymbolAttr> Dim::given() const {
  SmallVector<SymbolAttr> found;
  for (SymbolAttr symbol : used) {
    SmallVector<SymbolAttr> parts;
    if (symbol.isGiven())
      parts.push_back(symbol);
    else
      for (const Dim &x : operandsOf(symbol))
        llvm::append_range(parts, x.given());
    for (SymbolAttr part : parts)
      if (!llvm::is_contained(found, part))
        found.push_back(part);
  }
  return found;
}

std::optional<bool> Dim::is(int64_t number) const {
  return isEqual(*this, number);
}

Dim Dim::withSymbol(size_t i, const Dim &size) const {
  SmallVector<SymbolAttr> symbols(used.begin(), used.end());
  symbols.erase(symbols.begin() + i);
  for (SymbolAttr symbol : size.used)
    if (!llvm::is_contained(symbols, symbol))
      symbols.push_back(symbol);
  llvm::sort(symbols, byName);
  auto over = [&](SymbolAttr symbol) {
    return getAffineSymbolExpr(llvm::find(symbols, symbol) - symbols.begin(),
                               value.getContext());
  };
  AffineExpr other = getAffineConstantExpr(size.range.most, value.getContext());
  if (size.value) {
    SmallVector<AffineExpr> places;
    for (SymbolAttr symbol : size.used)
      places.push_back(over(symbol));
    other = size.value.replaceSymbols(places);
  }
  SmallVector<AffineExpr> replacements;
  for (auto [j, symbol] : llvm::enumerate(used))
    replacements.push_back(j == i ? other : over(symbol));
  return Dim(value.replaceSymbols(replacements), symbols);
}

/// Returns the coefficient of symbol `position` in the sum `value` if exactly
/// one term contains the symbol, and this term is the symbol times a constant;
/// otherwise 0.
static int64_t factorOf(AffineExpr value, unsigned position) {
  auto parts = dyn_cast<AffineBinaryOpExpr>(value);
  bool isSum = parts && value.getKind() == AffineExprKind::Add;
  if (isSum && parts.getLHS().isFunctionOfSymbol(position))
    return parts.getRHS().isFunctionOfSymbol(position)
               ? 0
               : factorOf(parts.getLHS(), position);
  if (isSum)
    return factorOf(parts.getRHS(), position);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(value))
    return symbol.getPosition() == position;
  if (!parts || value.getKind() != AffineExprKind::Mul)
    return 0;
  auto factor = dyn_cast<AffineConstantExpr>(parts.getRHS());
  auto symbol = dyn_cast<AffineSymbolExpr>(parts.getLHS());
  return factor && symbol && symbol.getPosition() == position
             ? factor.getValue()
             : 0;
}

void Dim::narrowByChoices() {
  auto isChoice = [](SymbolAttr symbol) {
    return !symbol.isGiven() && symbol.getChoice() != SizeChoice::Quotient;
  };
  // A symbol that is a choice, such as min(n, m), is replaced by each of its
  // two possible sizes in turn. This doubles the number of expressions to
  // evaluate.
  constexpr int64_t mostChoices = 4;
  int64_t choices = llvm::count_if(used, isChoice);
  bool isAlone = isa<AffineSymbolExpr>(value);
  if (choices == 0 || choices > mostChoices || isAlone)
    return;
  size_t i = llvm::find_if(used, isChoice) - used.begin();
  Dims operands = operandsOf(used[i]);
  SizeChoice choice = used[i].getChoice();
  bool isOrder = choice == SizeChoice::Smaller || choice == SizeChoice::Larger;
  Range x = withSymbol(i, operands[isOrder ? 0 : 2]).range,
        y = withSymbol(i, operands[isOrder ? 1 : 3]).range;
  Range either{std::min(x.least, y.least), std::max(x.most, y.most)};
  // max(x, y) * factor is the maximum of the two products if the factor is
  // positive, the minimum if it is negative. The same holds for min(x, y), with
  // the roles exchanged.
  if (int64_t factor = isOrder ? factorOf(value, i) : 0; factor != 0) {
    if ((choice == SizeChoice::Larger) == (factor > 0))
      either.least = std::max(x.least, y.least);
    else
      either.most = std::min(x.most, y.most);
  }
  range.least = std::max(range.least, either.least);
  range.most = std::min(range.most, either.most);
}

std::string sizeText(const Dim &size) {
  if (auto known = size.known())
    return std::to_string(*known);
  std::string expression, text;
  llvm::raw_string_ostream os(expression);
  size.expression().print(os);
  // Replaces the symbols s0, s1, ... in the text by their names.
  for (StringRef rest = expression; !rest.empty();) {
    size_t number = 0;
    if (rest.consume_front("s") && !rest.consumeInteger(10, number)) {
      text += size.symbols()[number].getName();
    } else {
      text += rest.front();
      rest = rest.drop_front();
    }
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Sizes of tensors
//===----------------------------------------------------------------------===//

/// Helper that is a friend of `Dim`: creates a Dim from any expression.
class Sizes {
public:
  static Dim at(SizesAttr sizes, size_t i) {
    return of(sizes.getSizes()[i], sizes.getSymbols());
  }
  static Dim of(AffineExpr expression, ArrayRef<SymbolAttr> symbols) {
    return Dim(expression, symbols);
  }
  /// Returns the attribute for `sizes`: the symbols of all sizes are merged
  /// into one list, to which the expressions refer.
  static SizesAttr attr(ArrayRef<Dim> sizes, MLIRContext *context) {
    SmallVector<SymbolAttr> symbols;
    Dim all = 0;
    for (const Dim &size : sizes)
      llvm::append_range(symbols, size.symbols());
    llvm::sort(symbols, byName);
    symbols.erase(llvm::unique(symbols), symbols.end());
    SmallVector<AffineExpr> expressions;
    for (const Dim &size : sizes) {
      if (auto known = size.known()) {
        expressions.push_back(getAffineConstantExpr(*known, context));
        continue;
      }
      SmallVector<AffineExpr> numbers;
      for (SymbolAttr symbol : size.symbols())
        numbers.push_back(getAffineSymbolExpr(
            llvm::find(symbols, symbol) - symbols.begin(), context));
      expressions.push_back(size.expression().replaceSymbols(numbers));
    }
    return SizesAttr::get(context, symbols, expressions);
  }
};

int64_t divisorsToAdd(AffineBinaryOpExpr division,
                      ArrayRef<SymbolAttr> symbols) {
  auto divisor = dyn_cast<AffineConstantExpr>(division.getRHS());
  int64_t least = Sizes::of(division.getLHS(), symbols).least();
  return divisor && least < 0
             ? llvm::divideCeilSigned(-least, divisor.getValue())
             : 0;
}

Dims dimsOf(SizesAttr sizes) {
  Dims dims;
  for (size_t i = 0; i < sizes.getSizes().size(); ++i)
    dims.push_back(Sizes::at(sizes, i));
  return dims;
}

SizesAttr sizesAttr(ArrayRef<Dim> sizes, MLIRContext *context) {
  return Sizes::attr(sizes, context);
}

Dims dimsOf(RankedTensorType type) {
  if (auto sizes = dyn_cast_or_null<SizesAttr>(type.getEncoding()))
    return dimsOf(sizes);
  return Dims(type.getShape().begin(), type.getShape().end());
}

LogicalResult verifyReadSizes(Operation *op, int64_t integers,
                              SizesAttr sizes) {
  Dims dims = dimsOf(sizes);
  if (int64_t(dims.size()) != integers)
    return op->emitOpError() << "reads " << dims.size() << " sizes from "
                             << integers << " integers";
  return success();
}

LogicalResult verifyPairs(Operation *op, SizesAttr pairs) {
  return pairs.getSizes().size() % 2 == 0
             ? success()
             : op->emitOpError("needs sizes to be equal that are no pairs");
}

bool isCompact(ArrayRef<Dim> sizes) {
  while (!sizes.empty() && sizes.front() == 1)
    sizes = sizes.drop_front();
  return llvm::all_of(sizes.drop_front(sizes.empty() ? 0 : 1),
                      [](const Dim &size) { return size.known().has_value(); });
}

RankedTensorType tensorOf(ArrayRef<Dim> sizes, Type element) {
  SmallVector<int64_t> shape;
  bool isKnown = true;
  for (const Dim &size : sizes) {
    shape.push_back(size.most());
    isKnown &= size.known().has_value();
  }
  return RankedTensorType::get(
      shape, element,
      isKnown ? SizesAttr() : sizesAttr(sizes, element.getContext()));
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

LogicalResult SymbolAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef name, int64_t least, int64_t most,
                                 SizeChoice choice, Attribute operands) {
  if (name.empty())
    return emitError() << "a symbol needs a name";
  if ((choice == SizeChoice::None && least < 0) || least > most)
    return emitError() << "no size is in " << least << " to " << most;
  auto sizes = dyn_cast_or_null<SizesAttr>(operands);
  size_t wanted = choice == SizeChoice::None      ? 0
                  : choice == SizeChoice::IfLess  ? 4
                  : choice == SizeChoice::IfEqual ? 4
                                                  : 2;
  if ((sizes ? sizes.getSizes().size() : 0) != wanted)
    return emitError() << "a symbol of this kind follows from " << wanted
                       << " sizes";
  return success();
}

LogicalResult SizesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<SymbolAttr> symbols,
                                ArrayRef<AffineExpr> sizes) {
  for (AffineExpr size : sizes)
    if (size.getKind() == AffineExprKind::DimId)
      return emitError() << "sizes are expressions of symbols";
  for (size_t i = 1; i < symbols.size(); ++i)
    if (!byName(symbols[i - 1], symbols[i]))
      return emitError() << "the symbols are not in the order of their names";
  return success();
}

/// Checks that the static shape of the tensor type consists of the maximum
/// sizes, and that the sizes contain a symbol.
LogicalResult
SizesAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                          function_ref<InFlightDiagnostic()> emitError) const {
  Dims sizes = dimsOf(*this);
  if (sizes.size() != shape.size())
    return emitError() << "there are " << sizes.size()
                       << " sizes for a rank of " << shape.size();
  for (auto [size, most] : llvm::zip(sizes, shape))
    if (size.most() != most)
      return emitError() << "a size that is " << size.most()
                         << " at most is an axis of " << most;
  if (getSymbols().empty())
    return emitError() << "sizes of numbers alone are the shape";
  return success();
}

static StringRef keywordOf(SizeChoice choice) {
  switch (choice) {
  case SizeChoice::Smaller:
    return "min";
  case SizeChoice::Larger:
    return "max";
  case SizeChoice::IfLess:
    return "if_less";
  case SizeChoice::IfEqual:
    return "if_equal";
  case SizeChoice::Quotient:
    return "quotient";
  case SizeChoice::None:
    break;
  }
  return "";
}

/// Parses `"batch" in 1 to 64`, followed by ` = max <sizes>` for a choice. If
/// the name has already been parsed, it is passed as `name`.
static SymbolAttr parseSymbol(AsmParser &parser, std::string name) {
  int64_t least, most;
  if ((name.empty() && parser.parseString(&name)) ||
      parser.parseKeyword("in") || parser.parseInteger(least) ||
      parser.parseKeyword("to") || parser.parseInteger(most))
    return {};
  SizeChoice choice = SizeChoice::None;
  Attribute operands;
  if (succeeded(parser.parseOptionalEqual())) {
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return {};
    for (SizeChoice each :
         {SizeChoice::Smaller, SizeChoice::Larger, SizeChoice::IfLess,
          SizeChoice::IfEqual, SizeChoice::Quotient})
      if (keyword == keywordOf(each))
        choice = each;
    if (choice == SizeChoice::None)
      return parser.emitError(parser.getNameLoc(),
                              "expected min, max, if_less, if_equal or "
                              "quotient, not ")
                 << keyword,
             SymbolAttr();
    operands = SizesAttr::parse(parser, Type());
    if (!operands)
      return {};
  }
  return SymbolAttr::getChecked(
      [&] { return parser.emitError(parser.getNameLoc()); },
      parser.getContext(), name, least, most, choice, operands);
}

static void printSymbol(AsmPrinter &printer, SymbolAttr symbol) {
  printer.printString(symbol.getName());
  printer << " in " << symbol.getLeast() << " to " << symbol.getMost();
  if (symbol.isGiven())
    return;
  printer << " = " << keywordOf(symbol.getChoice()) << ' ';
  cast<SizesAttr>(symbol.getOperands()).print(printer);
}

Attribute SymbolAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  SymbolAttr symbol = parseSymbol(parser, "");
  return symbol && succeeded(parser.parseGreater()) ? symbol : SymbolAttr();
}

void SymbolAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printSymbol(printer, *this);
  printer << '>';
}

/// Parses `<"batch" in 1 to 64, "time" in 1 to 9 : s0, s1 * 4, 28>`, or `<28>`
/// for constants alone.
Attribute SizesAttr::parse(AsmParser &parser, Type) {
  SmallVector<SymbolAttr> symbols;
  SmallVector<std::string> names;
  std::string first;
  auto symbol = [&]() -> ParseResult {
    SymbolAttr attr = parseSymbol(parser, std::exchange(first, ""));
    symbols.push_back(attr);
    return success(static_cast<bool>(attr));
  };
  if (parser.parseLess())
    return {};
  if (succeeded(parser.parseOptionalString(&first)) &&
      (parser.parseCommaSeparatedList(symbol) || parser.parseColon()))
    return {};
  for (size_t i = 0; i < symbols.size(); ++i)
    names.push_back("s" + std::to_string(i));
  SmallVector<SymbolAttr> asWritten(symbols);
  llvm::sort(symbols, byName);
  SmallVector<std::pair<StringRef, AffineExpr>> known;
  for (auto [name, symbol] : llvm::zip(names, asWritten))
    known.push_back({name, getAffineSymbolExpr(llvm::find(symbols, symbol) -
                                                   symbols.begin(),
                                               parser.getContext())});
  SmallVector<AffineExpr> sizes;
  auto size = [&] {
    sizes.emplace_back();
    return parser.parseAffineExpr(known, sizes.back());
  };
  if (parser.parseCommaSeparatedList(size) || parser.parseGreater())
    return {};
  auto given = SizesAttr::getChecked(
      [&] { return parser.emitError(parser.getNameLoc()); },
      parser.getContext(), symbols, sizes);
  return given ? sizesAttr(dimsOf(given), parser.getContext()) : SizesAttr();
}

void SizesAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getSymbols(), printer, [&](SymbolAttr symbol) {
    printSymbol(printer, symbol);
  });
  if (!getSymbols().empty())
    printer << " : ";
  llvm::interleaveComma(getSizes(), printer, [&](AffineExpr size) {
    size.print(printer.getStream());
  });
  printer << '>';
}

} // namespace ingot::kernel
