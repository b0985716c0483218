#include "dialects/graph/ElementsData.h"

#include "dialects/kernel/KernelDialect.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace ingot::graph {

static constexpr int64_t maxDenseBytes = 1024;

int64_t bytesPerElement(Type type) { return kernel::elementBytes(type); }

bool hasData(ElementsAttr value) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  return !resource || resource.getRawHandle().getBlob();
}

ArrayRef<char> elementBytes(ElementsAttr value, std::vector<char> &storage) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return resource.getRawHandle().getBlob()->getData();
  auto dense = cast<DenseElementsAttr>(value);
  Type type = dense.getElementType();
  int64_t size = bytesPerElement(type), count = dense.getNumElements();
  unsigned width = type.getIntOrFloatBitWidth();
  if (width % 8 == 0 && !dense.isSplat())
    return dense.getRawData();
  storage.resize(size * count);
  if (width % 8 == 0) {
    ArrayRef<char> one = dense.getRawData();
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(storage.data() + i * size, one.data(), size);
  } else if (isa<FloatType>(type)) {
    for (auto [i, v] : llvm::enumerate(dense.getValues<APFloat>()))
      storage[i] = static_cast<char>(v.bitcastToAPInt().getZExtValue());
  } else {
    for (auto [i, v] : llvm::enumerate(dense.getValues<APInt>()))
      storage[i] = static_cast<char>(
          type.isSignedInteger() ? v.getSExtValue()
                                 : static_cast<int64_t>(v.getZExtValue()));
  }
  return storage;
}

uint64_t hashOfSample(ElementsAttr value) {
  std::vector<char> storage;
  ArrayRef<char> bytes = elementBytes(value, storage);
  size_t part = std::min<size_t>(bytes.size(), 256);
  uint64_t hash = bytes.size();
  for (size_t from :
       {size_t(0), (bytes.size() - part) / 2, bytes.size() - part})
    hash = llvm::hash_combine(
        hash, llvm::xxh3_64bits(StringRef(bytes.data() + from, part)));
  return hash;
}

bool haveSameBytes(ElementsAttr a, ElementsAttr b) {
  std::vector<char> storageOfA, storageOfB;
  return a == b || elementBytes(a, storageOfA) == elementBytes(b, storageOfB);
}

ElementsAttr elementsFromBytes(RankedTensorType type, std::vector<char> &&data,
                               StringRef name) {
  Type element = type.getElementType();
  if (static_cast<int64_t>(data.size()) > maxDenseBytes) {
    auto *owned = new std::vector<char>(std::move(data));
    AsmResourceBlob blob(
        *owned, /*dataAlignment=*/bytesPerElement(element),
        [owned](void *, size_t, size_t) { delete owned; },
        /*dataIsMutable=*/false);
    return DenseResourceElementsAttr::get(type, name, std::move(blob));
  }
  unsigned width = element.getIntOrFloatBitWidth();
  if (width % 8 == 0)
    return DenseElementsAttr::getFromRawBuffer(type, data);
  if (auto floats = dyn_cast<FloatType>(element)) {
    SmallVector<APFloat> values;
    for (char c : data)
      values.emplace_back(
          floats.getFloatSemantics(),
          APInt(width, static_cast<unsigned char>(c), false, true));
    return DenseElementsAttr::get(type, values);
  }
  SmallVector<APInt> values;
  for (char c : data)
    values.emplace_back(width,
                        static_cast<uint64_t>(static_cast<unsigned char>(c)),
                        false, /*implicitTrunc=*/true);
  return DenseElementsAttr::get(type, values);
}

SmallVector<int64_t> elementsAsInts(ElementsAttr value) {
  std::vector<char> storage;
  ArrayRef<char> bytes = elementBytes(value, storage);
  Type type = value.getElementType();
  int64_t size = bytesPerElement(type);
  SmallVector<int64_t> values;
  for (size_t at = 0; at < bytes.size(); at += size) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + at, size);
    unsigned width = type.getIntOrFloatBitWidth();
    values.push_back(type.isUnsignedInteger() || type.isInteger(1)
                         ? static_cast<int64_t>(
                               bits & llvm::maskTrailingOnes<uint64_t>(width))
                         : llvm::SignExtend64(bits, width));
  }
  return values;
}

} // namespace ingot::graph
