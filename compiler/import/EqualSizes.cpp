// Assumes that dynamic sizes are equal where the model requires it.
//
// An exporter may name the batch size of one input `batch` and that of another
// `N`, although the model concatenates both inputs. The program is built as if
// there were one size. The generated function still takes both sizes, and
// rejects a call in which they differ before it writes any result.
//
// A size may also have to be a number (the channels of a convolution), a
// multiple of a number, or a multiple of another size (a hidden size must be a
// multiple of the number of heads). Nothing is assumed about two sizes that may
// broadcast, since each of them may be 1: see MadeSizes.cpp. With --dim N=2..64
// the user excludes 1.
//
// In a branch of `If`, nothing is assumed: a run that takes the other branch
// need not satisfy the assumption. There, and where no symbol can be replaced
// such that two sizes become equal, the operand is converted instead: its type
// gets the other size, and the generated program checks that both sizes are
// equal.

#include "compiler/import/GraphImporter.h"
#include "compiler/import/ProtoNode.h"
#include "compiler/import/operators/RunTimeShapes.h"

#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot {

/// Returns the symbol (the name of a dynamic size) if `size` is just a symbol;
/// null if `size` is a number or an expression.
static kernel::SymbolAttr symbolOf(const Dim &size) {
  bool isOne = size.symbols().size() == 1 && size.symbols().front().isGiven() &&
               size == Dim(size.symbols().front());
  return isOne ? size.symbols().front() : kernel::SymbolAttr();
}

/// Returns `symbol` with its bounds intersected with [least, most]; nullopt if
/// the intersection is empty.
static std::optional<Dim> narrowed(kernel::SymbolAttr symbol, int64_t least,
                                   int64_t most) {
  least = std::max(least, symbol.getLeast());
  most = std::min(most, symbol.getMost());
  if (least > most)
    return std::nullopt;
  return Dim(kernel::SymbolAttr::get(symbol.getContext(), symbol.getName(),
                                     least, most));
}

/// Given a size that grows monotonically with `symbol`, returns the symbol with
/// bounds for which the size is between `least` and `most`; nullopt if there
/// are no such bounds, or if the size does not grow.
static std::optional<Dim> boundedBy(kernel::SymbolAttr symbol, const Dim &size,
                                    int64_t least, int64_t most) {
  auto at = [&](int64_t value) {
    return size.at([&](kernel::SymbolAttr) { return value; });
  };
  // Returns the smallest value of the symbol for which the size is at least
  // `wanted`, by binary search.
  auto firstWith = [&](int64_t wanted) {
    int64_t low = symbol.getLeast(), high = symbol.getMost() + 1;
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      if (at(middle) >= wanted)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  };
  std::optional<Dim> fitting =
      narrowed(symbol, firstWith(least),
               most == INT64_MAX ? symbol.getMost() : firstWith(most + 1) - 1);
  if (!fitting)
    return std::nullopt;
  Dim within = size.with([&](kernel::SymbolAttr) { return *fitting; });
  return within.least() >= least && within.most() <= most ? fitting
                                                          : std::nullopt;
}

bool GraphImporter::isMade(kernel::SymbolAttr symbol) const {
  return made.contains(symbol.getName());
}

bool GraphImporter::assumeEqual(const Dim &x, const Dim &y) {
  kernel::SymbolAttr a = symbolOf(x), b = symbolOf(y);
  // An assumption applies to the whole program. In a branch of `If` nothing is
  // assumed: a run that takes the other branch need not satisfy it.
  if (!a || !b || branchDepth > 0)
    return false;
  // Replaces both symbols by one of them, with the intersection of their
  // bounds. The symbol of an input's size, which is known from the start of a
  // run, is preferred to the symbol of a data-dependent size. Otherwise, the
  // symbol whose name is first in alphabetical order is preferred.
  auto rank = [&](kernel::SymbolAttr symbol) {
    return isMade(symbol) + madeInBodies.contains(symbol.getName());
  };
  bool isFirst =
      rank(a) == rank(b) ? a.getName() < b.getName() : rank(a) < rank(b);
  std::optional<Dim> common =
      narrowed(isFirst ? a : b, std::max(x.least(), y.least()),
               std::min(x.most(), y.most()));
  if (!common)
    return false;
  takeAs({{a, *common}, {b, *common}});
  return true;
}

/// If `x` and `y` differ in exactly one symbol, returns the two symbols: n and
/// m for x = k + n and y = k + m. Returns nullopt otherwise.
static std::optional<std::pair<Dim, Dim>> apartBy(const Dim &x, const Dim &y) {
  Dim difference = x - y;
  if (difference.symbols().size() != 2 || difference.given().size() != 2)
    return std::nullopt;
  Dim a(difference.symbols()[0]), b(difference.symbols()[1]);
  bool isOnly = symbolOf(a) && symbolOf(b) &&
                (difference == a - b || difference == b - a);
  return isOnly ? std::optional(std::pair(a, b)) : std::nullopt;
}

bool GraphImporter::requireEqual(const Dim &x, const Dim &y) {
  if (x == y || assumeEqual(x, y))
    return true;
  if (branchDepth > 0)
    return false;
  if (auto apart = apartBy(x, y); apart && !isMade(symbolOf(apart->first)) &&
                                  !isMade(symbolOf(apart->second)))
    return assumeEqual(apart->first, apart->second);
  kernel::SymbolAttr a = symbolOf(x);
  if (!a && symbolOf(y))
    return requireEqual(y, x);
  if (!a)
    return y.known() ? solve(x, *y.known()) : x.known() && solve(y, *x.known());
  if (auto number = y.known()) {
    if (*number < a.getLeast() || *number > a.getMost())
      return false;
    takeAs({{a, y}});
    return true;
  }
  // `x` can be replaced by `y` only if `y` can be evaluated at the start of a
  // run, so `y` must not contain a data-dependent size.
  auto isOfRun = [&](kernel::SymbolAttr symbol) { return isMade(symbol); };
  SmallVector<kernel::SymbolAttr> given = y.given();
  if (llvm::any_of(given, isOfRun))
    return false;
  if (llvm::is_contained(given, a))
    return y == x.floorDiv(y.divisor()) * y.divisor() &&
           requireMultiple(x, y.divisor());
  if (y.least() >= a.getLeast() && y.most() <= a.getMost()) {
    takeAs({{a, y}});
    return true;
  }
  // The bounds of `y` exceed those of `x`. If `y` is computed from a single
  // symbol, the bounds of this symbol are narrowed.
  if (given.size() != 1)
    return false;
  kernel::SymbolAttr b = given.front();
  std::optional<Dim> fitting = boundedBy(b, y, a.getLeast(), a.getMost());
  if (!fitting)
    return false;
  takeAs({{a, y.with([&](kernel::SymbolAttr) { return *fitting; })},
          {b, *fitting}});
  return true;
}

bool GraphImporter::solve(const Dim &size, int64_t number) {
  // The largest number of possible values of the symbol. Each value is tried,
  // so a symbol with more values is not solved for.
  constexpr int64_t mostValues = int64_t(1) << 20;
  SmallVector<kernel::SymbolAttr> given = size.given();
  if (given.size() != 1 ||
      given.front().getMost() - given.front().getLeast() > mostValues)
    return false;
  kernel::SymbolAttr a = given.front();
  Dim own = sizeInProgram(a);
  std::optional<int64_t> found;
  for (int64_t value = a.getLeast(); value <= a.getMost(); ++value) {
    auto valueOf = [&](kernel::SymbolAttr) { return value; };
    bool isPossible = own.symbols().size() != 1 || own.at(valueOf) == value;
    if (!isPossible || size.at(valueOf) != number)
      continue;
    if (found)
      return false;
    found = value;
  }
  if (found)
    takeAs({{a, *found}});
  return found.has_value();
}

bool GraphImporter::requireMultiple(const Dim &x, int64_t divisor) {
  if (divisor <= 0 || x.divisor() % divisor == 0)
    return divisor > 0;
  kernel::SymbolAttr a = symbolOf(x);
  if (!a || isMade(a) || branchDepth > 0)
    return false;
  std::optional<Dim> fitting = narrowed(a, llvm::alignTo(a.getLeast(), divisor),
                                        a.getMost() - a.getMost() % divisor);
  // If 0 is the only multiple of `divisor` within the bounds, the size is not
  // assumed to be 0.
  if (!fitting || (fitting->most() == 0 && a.getMost() > 0))
    return false;
  takeAs({{a, fitting->floorDiv(divisor) * divisor}});
  return true;
}

bool GraphImporter::requireAtLeast(const Dim &x, int64_t least) {
  if (x.least() >= least)
    return true;
  // The bound is assumed by narrowing the bounds of a symbol, so the size must
  // depend on a single symbol.
  SmallVector<kernel::SymbolAttr> given = x.given();
  if (given.size() != 1 || branchDepth > 0)
    return false;
  auto within = boundedBy(given.front(), x, least, /*most=*/INT64_MAX);
  if (within)
    takeAs({{given.front(), *within}});
  return within.has_value();
}

bool GraphImporter::requireAtMost(const Dim &x, int64_t most) {
  if (x.most() <= most)
    return true;
  kernel::SymbolAttr a = symbolOf(x);
  if (!a || isMade(a) || branchDepth > 0)
    return false;
  std::optional<Dim> within = narrowed(a, a.getLeast(), most);
  if (within)
    takeAs({{a, *within}});
  return within.has_value();
}

void GraphImporter::takeAs(ArrayRef<std::pair<kernel::SymbolAttr, Dim>> sizes) {
  auto sizeOf = [&](kernel::SymbolAttr symbol) {
    for (const auto &[from, to] : sizes)
      if (symbol == from)
        return to;
    return Dim(symbol);
  };
  for (auto &[other, size] : assumed)
    size = size.with(sizeOf);
  for (const auto &[from, to] : sizes)
    assumed[from.getName().str()] = to;
  for (Whole &whole : wholes)
    for (Dim *size : {&whole.size, &whole.x, &whole.y})
      *size = size->with(sizeOf);

  AttrTypeReplacer replacer;
  // A symbol may be defined by other sizes, as in min(x, y) (see SizeChoice);
  // Dim::with replaces these sizes as well.
  auto replaced = [&](Dims sizes) {
    for (Dim &size : sizes)
      size = size.with(sizeOf);
    return sizes;
  };
  using Replaced = AttrTypeReplacer::ReplaceFnResult<Type>;
  replacer.addReplacement([&](RankedTensorType type) -> Replaced {
    if (!hasDynamicSizes(type))
      return std::nullopt;
    return std::pair<Type, WalkResult>(
        tensorOf(replaced(dimsOf(type)), type.getElementType()),
        WalkResult::skip());
  });
  replacer.addReplacement([&](kernel::SizesAttr attr)
                              -> AttrTypeReplacer::ReplaceFnResult<Attribute> {
    return std::pair<Attribute, WalkResult>(
        kernel::sizesAttr(replaced(dimsOf(attr)), &context),
        WalkResult::skip());
  });
  replacer.recursivelyReplaceElementsIn(main->getParentOp(),
                                        /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  // If one of two broadcast sizes has become a number, the size of the
  // broadcast is known, and replaces the symbol that wholeOf created for it.
  for (const Whole &whole : wholes)
    if (kernel::SymbolAttr symbol = symbolOf(whole.size))
      for (auto [part, other] :
           {std::pair(whole.x, whole.y), std::pair(whole.y, whole.x)})
        if (Dim size = part == 1 ? other : part;
            part.known() && !(size == whole.size))
          return takeAs({{symbol, size}});
  foldSizes();
}

/// Assumes that dynamic sizes of the operands are equal where the operator's
/// rule for operand shapes in OperandShapes.def requires it.
void GraphImporter::assumeFitting(NodePlace &at) {
  for (const auto &[x, y] : neededSizes(at.node, *at.schema, at.inputs))
    if (!requireEqual(inProgram(x), inProgram(y)) &&
        !restate(at, inProgram(x), inProgram(y)))
      return;
}

bool GraphImporter::restate(NodePlace &at, Dim x, Dim y) {
  if (x.known())
    std::swap(x, y);
  if (x.known() || surelyDiffer(x, y))
    return false;
  ProtoNode node(*this, at);
  bool isFound = false;
  for (auto [input, binding] : llvm::zip_equal(at.inputs, at.bindings)) {
    if (!input)
      continue;
    for (size_t axis = 0; axis < shapeOf(input).size(); ++axis)
      if (dimsOf(input)[axis] == x) {
        input = binding.value = resizedAlong(node, input, axis, y);
        isFound = true;
      }
  }
  if (isFound)
    checkEqual(at, x, y);
  return isFound;
}

void GraphImporter::assumeAlike(ArrayRef<Value> tensors,
                                std::optional<int64_t> otherAxis) {
  for (Value tensor : tensors)
    for (size_t i = 0; tensor && tensors[0] &&
                       shapeOf(tensor).size() == shapeOf(tensors[0]).size() &&
                       i < shapeOf(tensor).size();
         ++i)
      if (int64_t(i) != otherAxis &&
          !(dimsOf(tensor)[i] == dimsOf(tensors[0])[i]))
        (void)assumeEqual(dimsOf(tensor)[i], dimsOf(tensors[0])[i]);
}

void GraphImporter::foldSizes() {
  SmallVector<SizesOp> all;
  main->getParentOp()->walk([&](SizesOp op) { all.push_back(op); });
  for (SizesOp op : all) {
    if (hasDynamicSizes(op))
      continue;
    SmallVector<int64_t> numbers;
    for (const Dim &size : dimsOf(op.getSizes()))
      numbers.push_back(*size.known());
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(op);
    Value known = constant(
        DenseElementsAttr::get(op.getType(), ArrayRef(numbers)), op.getLoc());
    op.getResult().replaceAllUsesWith(known);
    replaced[op] = known;
  }
}

Dim GraphImporter::sizeInProgram(kernel::SymbolAttr symbol) const {
  auto it = assumed.find(symbol.getName().str());
  return it == assumed.end() ? Dim(symbol) : it->second;
}

Dim GraphImporter::inProgram(const Dim &size) const {
  return size.with(
      [&](kernel::SymbolAttr symbol) { return sizeInProgram(symbol); });
}

void GraphImporter::describeInputSizes() {
  // For each symbol that the program replaces by another size, by name: the
  // symbol, with the bounds of the size that replaces it, and that size.
  std::map<std::string, std::pair<Dim, Dim>> equal;
  auto own = [&](kernel::SymbolAttr symbol) -> Dim {
    Dim size = sizeInProgram(symbol);
    kernel::SymbolAttr other = symbolOf(size);
    if (size.known() || (other && other.getName() == symbol.getName()))
      return size;
    Dim field(kernel::SymbolAttr::get(&context, symbol.getName(), size.least(),
                                      size.most()));
    equal[symbol.getName().str()] = {field, size};
    return field;
  };
  for (auto [i, given] : llvm::enumerate(givenSizes)) {
    Dims sizes = given;
    for (Dim &size : sizes)
      size = size.with(own);
    auto type = cast<RankedTensorType>(main.getArgument(i).getType());
    if (sizes != dimsOf(type))
      main.setArgAttr(i, kernel::kSizesAttr,
                      kernel::sizesAttr(sizes, &context));
  }
  Dims pairs;
  for (const auto &[name, pair] : equal)
    pairs.append({pair.first, pair.second});
  if (!pairs.empty())
    main->setAttr(kernel::kEqualSizesAttr, kernel::sizesAttr(pairs, &context));
}

} // namespace ingot
