#include "passes/schedule/tiles/FlatStore.h"

#include "passes/schedule/tiles/TileStore.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

Value asMatrix(KernelBuilder &b, Value buffer, int64_t columns) {
  int64_t elements = cast<MemRefType>(buffer.getType()).getNumElements();
  return b.view(buffer, {elements / columns, columns});
}

namespace {

/// Tells the operators of a group that only compute operands of its anchor from
/// those of its epilogue.
class Epilogue {
public:
  explicit Epilogue(Operation *anchor) {
    beforeOrAnchor.insert(anchor);
    // In reverse order, the users of an operator are visited before it.
    for (Operation &op : llvm::reverse(llvm::make_range(
             anchor->getBlock()->begin(), anchor->getIterator())))
      if (!op.use_empty() && llvm::all_of(op.getUsers(), [&](Operation *user) {
            return beforeOrAnchor.contains(user);
          }))
        beforeOrAnchor.insert(&op);
  }

  bool contains(Operation *op) const { return !beforeOrAnchor.contains(op); }
  bool reads(Value input) const {
    return llvm::any_of(input.getUsers(),
                        [&](Operation *user) { return contains(user); });
  }

private:
  llvm::SmallPtrSet<Operation *, 8> beforeOrAnchor;
};

} // namespace

/// Whether the epilogue is elementwise and each of its operands has the
/// result's shape, is a scalar, or is a vector along the channels.
static bool allSameShape(KernelBuilder &b, const Epilogue &epilogue) {
  for (Operation &op : b.group.block->without_terminator())
    if (!isa<ElementwiseOpInterface, ConstantOp>(op) && epilogue.contains(&op))
      return false;
  return llvm::all_of(b.group.block->getArguments(), [&](Value input) {
    return !epilogue.reads(input) || shapeOf(input) == shapeOf(b.result()) ||
           (shapeOf(input).empty() ||
            tensorType(input).getNumElements() == shapeOf(input).back());
  });
}

bool storeFlat(KernelBuilder &b, Tile &tile, Operation *anchor, Expr first,
               Expr firstColumn,
               llvm::function_ref<Expr(Expr, Expr)> beforeEpilogue,
               StringRef rowName) {
  Value result = anchor->getResult(0);
  Epilogue epilogue(anchor);
  Value out = allSameShape(b, epilogue)
                  ? asMatrix(b, b.outputs[0], shapeOf(result).back())
                  : Value();
  if (!out)
    return false;
  auto rowOfTile = [&](int64_t row) {
    return named(first + double(row), rowName + "_" + Twine(row));
  };
  // Bind the epilogue's operands to elements of their views as matrices, so
  // that they are not loaded by indices into all axes.
  SmallVector<std::pair<Value, Value>> flats;
  for (Value input : b.group.block->getArguments()) {
    if (!epilogue.reads(input) || tensorType(input).getNumElements() == 1)
      continue;
    bool whole = shapeOf(input) == shapeOf(b.result());
    int64_t columns = shapeOf(input).back();
    flats.push_back(
        {input,
         b.view(b.bufferOf(input),
                whole ? ArrayRef<int64_t>{tensorType(input).getNumElements() /
                                              columns,
                                          columns}
                      : ArrayRef<int64_t>{columns})});
  }
  Value saved = std::exchange(b.outputs[0], out);
  storeTile(
      b, tile, result,
      [&](int64_t row, Expr column) {
        for (auto [input, flat] : flats) {
          Exprs at{rowOfTile(row), column};
          if (cast<MemRefType>(flat.getType()).getRank() == 1)
            at = {column};
          b.bindElement(input, b.loadFrom(flat, elementOf(input), at));
        }
        return Exprs{rowOfTile(row), column};
      },
      firstColumn, beforeEpilogue);
  for (auto [input, flat] : flats)
    b.unbindElement(input);
  b.outputs[0] = saved;
  return true;
}

void fetchForEpilogue(KernelBuilder &b, const Tile &tile, Operation *anchor,
                      Expr first, Expr firstColumn, StringRef rowName) {
  // The most cache lines that are prefetched per tile and operand. More lines
  // do not help (14 x 2 vectors of 64 bytes, Zen 4, November 2026).
  constexpr int64_t mostLines = 16;
  int64_t line = b.target.prefetchLine;
  if (line == 0)
    return;
  Epilogue epilogue(anchor);
  if (!allSameShape(b, epilogue))
    return;
  for (Value input : b.group.block->getArguments()) {
    if (!epilogue.reads(input) || shapeOf(input) != shapeOf(b.result()))
      continue;
    int64_t bytes = kernel::elementBytes(storageType(elementOf(input))),
            elements = tensorType(input).getNumElements(),
            columns = shapeOf(input).back();
    int64_t rowBytes = tile.columns.columns * bytes;
    if (elements * bytes <= b.target.residentBytes() ||
        tile.rows * int64_t(llvm::divideCeil(rowBytes, line)) > mostLines)
      continue;
    Value flat = b.view(b.bufferOf(input), {elements / columns, columns});
    if (!flat)
      continue;
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t byte = 0; byte < rowBytes; byte += line)
        kernel::PrefetchOp::create(
            b.builder, b.loc, flat,
            {named(first + double(row), rowName + "_" + Twine(row)).value,
             (firstColumn + double(byte / bytes)).value},
            line);
  }
}

} // namespace ingot::schedule
