#include "dialects/kernel/NumberTypes.h"

#include "dialects/kernel/KernelDialect.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ingot {

bool isBitsFloat(Type type) {
  return isa<FloatType>(type) && !type.isF32() && !type.isF64();
}

bool isPartOfByte(Type type) {
  auto integer = dyn_cast<IntegerType>(elementOf(type));
  return integer && integer.getWidth() > 1 && integer.getWidth() < 8;
}

unsigned storageBits(Type element) {
  if (element.isIndex() || isa<kernel::StringType>(element))
    return 64;
  return std::max<unsigned>(
      8, llvm::PowerOf2Ceil(element.getIntOrFloatBitWidth()));
}

int64_t laneCount(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.getNumElements();
  return 1;
}

Type elementOf(Type type) { return getElementTypeOrSelf(type); }

bool isVector(Type type) { return laneCount(type) > 1; }

bool isMask(Type type) {
  return isVector(type) && elementOf(type).isInteger(1);
}

} // namespace ingot
