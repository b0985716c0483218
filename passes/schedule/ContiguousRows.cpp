#include "passes/schedule/ContiguousRows.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace ingot::schedule {

bool hasContiguousRows(Value buffer) {
  if (!buffer)
    return false;
  auto type = cast<MemRefType>(buffer.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  return type.getShape().back() == 1 || strides.back() == 1;
}

} // namespace ingot::schedule
