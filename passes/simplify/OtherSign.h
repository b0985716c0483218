// The same numbers as integers of the other sign.
//
// Unsigned integers are half of their range more than signed ones of the same numbers,
// and so is their zero point.

#ifndef INGOT_PASSES_SIMPLIFY_OTHERSIGN_H
#define INGOT_PASSES_SIMPLIFY_OTHERSIGN_H

#include "mlir/IR/BuiltinTypes.h"

namespace ingot::simplify {

inline mlir::IntegerType otherSign(mlir::Type type) {
  auto integer = llvm::cast<mlir::IntegerType>(type);
  return mlir::IntegerType::get(type.getContext(), integer.getWidth(),
                                integer.isUnsigned()
                                    ? mlir::IntegerType::Signed
                                    : mlir::IntegerType::Unsigned);
}

/// How much more the numbers are once they have this type instead of the one of the other
/// sign.
inline int64_t moveOf(mlir::Type other) {
  int64_t half = int64_t(1) << (other.getIntOrFloatBitWidth() - 1);
  return other.isUnsignedInteger() ? half : -half;
}

} // namespace ingot::simplify

#endif // INGOT_PASSES_SIMPLIFY_OTHERSIGN_H
