// Sizes that a model needs to be equal.
//
// An exporter may name the batch of one input `batch` and that of another `N`, and add
// the two. The program is built as if there were one size; the interface keeps both,
// and a run in which they differ is refused before anything is written.
//
// A size is never assumed to be a number: the user can say so, and it might be one
// that was meant to broadcast.

#include "compiler/import/GraphImporter.h"

#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot {

/// The symbol that a size is; null if it is a number or computed from symbols.
static kernel::SymbolAttr symbolOf(const Dim &size) {
  bool isOne =
      size.symbols().size() == 1 && size == Dim(size.symbols().front());
  return isOne ? size.symbols().front() : kernel::SymbolAttr();
}

bool GraphImporter::assumeEqual(const Dim &x, const Dim &y) {
  kernel::SymbolAttr a = symbolOf(x), b = symbolOf(y);
  int64_t least = std::max(x.least(), y.least()),
          most = std::min(x.most(), y.most());
  if (!a || !b || least > most)
    return false;
  // Both are what comes first by name, within the bounds of both.
  Dim common(kernel::SymbolAttr::get(
      &context, std::min(a.getName(), b.getName()), least, most));
  auto sizeOf = [&](kernel::SymbolAttr symbol) {
    return symbol == a || symbol == b ? common : Dim(symbol);
  };
  for (auto &[other, size] : assumed)
    size = size.with(sizeOf);
  for (kernel::SymbolAttr symbol : {a, b})
    assumed[symbol.getName().str()] = common;

  AttrTypeReplacer replacer;
  replacer.addReplacement([&](RankedTensorType type) -> std::optional<Type> {
    if (!hasRunTimeSizes(type))
      return std::nullopt;
    Dims sizes = dimsOf(type);
    for (Dim &size : sizes)
      size = size.with(sizeOf);
    return tensorOf(sizes, type.getElementType());
  });
  replacer.addReplacement(
      [&](kernel::SizesAttr attr) -> std::optional<Attribute> {
        Dims sizes = dimsOf(attr);
        for (Dim &size : sizes)
          size = size.with(sizeOf);
        return kernel::sizesAttr(sizes, &context);
      });
  replacer.recursivelyReplaceElementsIn(main->getParentOp(),
                                        /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  foldSizes();
  return true;
}

void GraphImporter::assumeAlike(ArrayRef<Value> tensors,
                                std::optional<int64_t> otherAxis) {
  for (Value tensor : tensors)
    for (size_t i = 0; tensor && tensors[0] &&
                       shapeOf(tensor).size() == shapeOf(tensors[0]).size() &&
                       i < shapeOf(tensor).size();
         ++i)
      if (int64_t(i) != otherAxis && dimsOf(tensor)[i] != dimsOf(tensors[0])[i])
        (void)assumeEqual(dimsOf(tensor)[i], dimsOf(tensors[0])[i]);
}

void GraphImporter::foldSizes() {
  SmallVector<SizesOp> all;
  main->getParentOp()->walk([&](SizesOp op) { all.push_back(op); });
  for (SizesOp op : all) {
    if (hasRunTimeSizes(op))
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

void GraphImporter::describeInputSizes() {
  // The symbols that the program does not have, each within the bounds of its own.
  std::map<std::string, std::pair<Dim, Dim>> equal;
  auto own = [&](kernel::SymbolAttr symbol) -> Dim {
    Dim size = sizeInProgram(symbol);
    kernel::SymbolAttr other = symbolOf(size);
    if (!other || other.getName() == symbol.getName())
      return size;
    Dim narrowed(kernel::SymbolAttr::get(&context, symbol.getName(),
                                         other.getLeast(), other.getMost()));
    equal[symbol.getName().str()] = {narrowed, size};
    return narrowed;
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
