#include "compiler/run/DynamicSizes.h"

using namespace mlir;

namespace ingot {

static RankedTensorType typeFor(Type inProgram, Attribute sizes) {
  auto type = cast<RankedTensorType>(inProgram);
  auto given = dyn_cast_or_null<kernel::SizesAttr>(sizes);
  return given ? kernel::tensorOf(kernel::dimsOf(given), type.getElementType())
               : type;
}

SmallVector<RankedTensorType> inputTypesOf(func::FuncOp main) {
  SmallVector<RankedTensorType> types;
  for (auto [i, type] : llvm::enumerate(main.getArgumentTypes()))
    types.push_back(typeFor(type, main.getArgAttr(i, kernel::kSizesAttr)));
  return types;
}

SmallVector<RankedTensorType> outputTypesOf(func::FuncOp main) {
  SmallVector<RankedTensorType> types;
  for (auto [i, type] : llvm::enumerate(main.getResultTypes()))
    types.push_back(typeFor(type, main.getResultAttr(i, kernel::kSizesAttr)));
  return types;
}

bool takes(RankedTensorType type, RankedTensorType data) {
  if (type.getElementType() != data.getElementType() ||
      type.getRank() != data.getRank())
    return false;
  for (auto [dim, size] : llvm::zip(kernel::dimsOf(type), data.getShape()))
    if (size < dim.least() || size > dim.most())
      return false;
  return true;
}

/// Returns the value of `size` when the dynamic sizes `sizes` have the values
/// `values`. All other symbols have their largest value.
static int64_t sizeAt(const kernel::Dim &size, ArrayRef<InterfaceSize> sizes,
                      ArrayRef<int64_t> values) {
  return size.at([&](kernel::SymbolAttr symbol) {
    for (auto [own, value] : llvm::zip(sizes, values))
      if (own.symbol == symbol)
        return value;
    return symbol.getMost();
  });
}

std::optional<std::vector<int64_t>> valuesOf(ArrayRef<InterfaceSize> sizes,
                                             ArrayRef<RankedTensorType> types,
                                             ArrayRef<RankedTensorType> data,
                                             std::string &why) {
  constexpr int64_t unknown = -1;
  std::vector<int64_t> values(sizes.size(), unknown);
  for (auto [type, given] : llvm::zip(types, data))
    for (auto [dim, size] : llvm::zip(kernel::dimsOf(type), given.getShape()))
      for (auto [own, value] : llvm::zip(sizes, values)) {
        if (own.isMade || !(dim == kernel::Dim(own.symbol)))
          continue;
        if (value != unknown && value != size) {
          why = "the inputs have the sizes " + std::to_string(value) + " and " +
                std::to_string(size) + " for the same dimension `" +
                own.symbol.getName().str() + "`";
          return std::nullopt;
        }
        value = size;
      }
  // A data-dependent size has its largest value until the run has computed it.
  for (auto [own, value] : llvm::zip(sizes, values))
    if (own.isMade)
      value = own.symbol.getMost();
  for (auto [own, value] : llvm::zip(sizes, values)) {
    if (!own.equalTo)
      continue;
    int64_t needed = sizeAt(*own.equalTo, sizes, values);
    if (value == needed)
      continue;
    why = "the size `" + own.symbol.getName().str() + "` is " +
          std::to_string(value) + ", but must be equal to `" +
          kernel::sizeText(*own.equalTo) + "`, which is " +
          std::to_string(needed);
    return std::nullopt;
  }
  return values;
}

std::vector<int64_t> largestValues(ArrayRef<InterfaceSize> sizes) {
  std::vector<int64_t> values;
  for (const InterfaceSize &size : sizes)
    values.push_back(size.symbol.getMost());
  for (auto [own, value] : llvm::zip(sizes, values))
    if (own.equalTo)
      value = sizeAt(*own.equalTo, sizes, values);
  return values;
}

std::vector<void *> fieldsOf(ArrayRef<InterfaceSize> sizes,
                             MutableArrayRef<int64_t> values) {
  static_assert(sizeof(ptrdiff_t) == sizeof(int64_t));
  std::vector<void *> fields;
  for (auto [own, value] : llvm::zip(sizes, values))
    fields.push_back(own.isMade ? static_cast<void *>(&value)
                                : reinterpret_cast<void *>(value));
  return fields;
}

RankedTensorType typeAt(RankedTensorType type, ArrayRef<InterfaceSize> sizes,
                        ArrayRef<int64_t> values) {
  SmallVector<int64_t> shape;
  for (const kernel::Dim &size : kernel::dimsOf(type))
    shape.push_back(sizeAt(size, sizes, values));
  return RankedTensorType::get(shape, type.getElementType());
}

} // namespace ingot
