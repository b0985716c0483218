// Classifies 8-bit floats.

#ifndef INGOT_DIALECTS_KERNEL_SMALLFLOATS_H
#define INGOT_DIALECTS_KERNEL_SMALLFLOATS_H

#include "mlir/IR/BuiltinTypes.h"

namespace ingot {

/// Whether the type is one of the 8-bit floats that matrix units multiply:
/// f8E4M3FN or f8E5M2. f16 represents all values of both types exactly.
inline bool isFloat8(mlir::Type type) {
  return mlir::isa<mlir::Float8E4M3FNType, mlir::Float8E5M2Type>(type);
}

} // namespace ingot

#endif // INGOT_DIALECTS_KERNEL_SMALLFLOATS_H
