#include "passes/schedule/gpu/ResultVectors.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

/// If `x` was rounded and widened again, returns the value before rounding,
/// since the store rounds it anyway; else `x`.
static Value unrounded(Expr x) {
  auto wide = x.value.getDefiningOp<arith::ExtFOp>();
  auto narrow = wide ? wide.getIn().getDefiningOp<arith::TruncFOp>() : nullptr;
  return narrow && narrow.getIn().getType() == wide.getType() ? narrow.getIn()
                                                              : x.value;
}

void storeRounded(KernelBuilder &b, ArrayRef<Expr> numbers, Value to,
                  ArrayRef<Expr> place) {
  kernel::StoreVectorOp::create(b.builder, b.loc,
                                llvm::map_to_vector(numbers, unrounded), to,
                                valuesOf(place));
}

static MemRefType typeOf(const KernelBuilder &b) {
  return cast<MemRefType>(b.outputs[0].getType());
}

ResultVectors::ResultVectors(KernelBuilder &b, const BlockOperands &operands,
                             int64_t rows, int64_t columns, int64_t across,
                             bool mayDeal, bool areWhole)
    : b(b), operands(operands), anchor(b.group.anchor()->getResult(0)),
      fitsRows(operands.rows.known() && *operands.rows.known() % rows == 0),
      fitsColumns(operands.columns % columns == 0) {
  constexpr int64_t unit = 8;
  // A thread has two columns of each MMA. Interleave the columns of as many
  // MMAs as fill 16 bytes of results per thread, but at most 8 columns.
  int64_t units = 1;
  if (mayDeal)
    units = bytesOf(typeOf(b).getElementType()) <= 2 ? 4 : 2;
  for (; units > 0; units /= 2) {
    bool fits =
        across % units == 0 && areAligned(2 * units) &&
        (!areWhole || units == 1 || operands.columns % (unit * units) == 0);
    if (!fits)
      continue;
    unitsOfGroup = units;
    columnsPerVector = 2 * units;
    return;
  }
}

bool ResultVectors::areAligned(int64_t count) const {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  return operands.columns % count == 0 &&
         succeeded(typeOf(b).getStridesAndOffset(strides, offset)) &&
         strides.back() == 1 && offset % count == 0 &&
         llvm::all_of(ArrayRef(strides).drop_back(),
                      [&](int64_t stride) { return stride % count == 0; });
}

bool ResultVectors::isStoredAtOnce() const {
  Type type = typeOf(b).getElementType();
  if (columnsPerVector == 1 ||
      !isa<Float32Type, Float16Type, BFloat16Type>(type))
    return false;
  std::string name;
  llvm::raw_string_ostream(name) << kernel::StoreVectorOp::getOperationName()
                                 << '[' << type << ",unaligned]";
  return b.target.intrinsic(name, Type(), Type());
}

Expr ResultVectors::columnOf(Expr first, Expr lane, Expr group,
                             int64_t offset) const {
  return first + lane % 4.0 * double(columnsOfGroup()) +
         group * double(8 * unitsOfGroup) + double(offset);
}

Expr ResultVectors::insideRow(Expr row) const {
  return fitsRows ? row : min(row, b.size(operands.rows) - 1.0);
}

Expr ResultVectors::insideColumn(Expr column) const {
  return fitsColumns ? column
                     : min(column, double(operands.columns - columnsPerVector));
}

void ResultVectors::whenRow(Expr row, llvm::function_ref<void()> body) const {
  fitsRows ? body() : b.when(row < b.size(operands.rows), body);
}

void ResultVectors::whenColumn(Expr column,
                               llvm::function_ref<void()> body) const {
  fitsColumns ? body() : b.when(column < double(operands.columns), body);
}

Exprs ResultVectors::resultsOf(ArrayRef<Expr> sums, Expr batch, Expr row,
                               Expr column, ArrayRef<Loaded> loaded) const {
  Exprs results;
  for (auto [k, sum] : llvm::enumerate(sums)) {
    b.bindElement(anchor, sum);
    for (const Loaded &operand : loaded)
      b.bindElement(operand.tensor, operand.elements[k]);
    Expr result =
        b.load(b.result(), operands.place(b, batch, row, column + double(k)));
    b.unbindElement(anchor);
    for (const Loaded &operand : loaded)
      b.unbindElement(operand.tensor);
    result.value = unrounded(result);
    results.push_back(result);
  }
  return results;
}

void ResultVectors::store(ArrayRef<Expr> results, Expr batch, Expr row,
                          Expr column) const {
  if (isStoredAtOnce())
    return storeRounded(b, results, b.outputs[0],
                        operands.place(b, batch, row, column));
  for (auto [k, result] : llvm::enumerate(results))
    b.store(0u, result, operands.place(b, batch, row, column + double(k)));
}

} // namespace ingot::schedule
