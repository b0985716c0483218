// Floats of 8 bits, as passes ask of them.

#ifndef INGOT_DIALECTS_KERNEL_SMALLFLOATS_H
#define INGOT_DIALECTS_KERNEL_SMALLFLOATS_H

#include "mlir/IR/BuiltinTypes.h"

namespace ingot {

/// A float of 8 bits of which matrix units make products: f8E4M3FN or f8E5M2. All of
/// them are numbers of f16, too.
inline bool isByteOfFloat(mlir::Type type) {
  return mlir::isa<mlir::Float8E4M3FNType, mlir::Float8E5M2Type>(type);
}

} // namespace ingot

#endif // INGOT_DIALECTS_KERNEL_SMALLFLOATS_H
