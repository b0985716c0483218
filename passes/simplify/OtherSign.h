// Converts quantized integers between signed and unsigned such that they still
// represent the same real numbers.
//
// The unsigned integer is the signed one plus half of the range, and the zero
// point moves by the same offset.

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

/// Returns the offset that is added to an integer when it is converted to type
/// `other` from the type of the opposite signedness.
inline int64_t moveOf(mlir::Type other) {
  int64_t half = int64_t(1) << (other.getIntOrFloatBitWidth() - 1);
  return other.isUnsignedInteger() ? half : -half;
}

} // namespace ingot::simplify

#endif // INGOT_PASSES_SIMPLIFY_OTHERSIGN_H
