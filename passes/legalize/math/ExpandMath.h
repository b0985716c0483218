// No math library.
//
// Rewrites the operations of the math dialect, and remainders of floats, to
// plain arithmetic.

#ifndef INGOT_PASSES_LEGALIZE_MATH_EXPANDMATH_H
#define INGOT_PASSES_LEGALIZE_MATH_EXPANDMATH_H

#include "mlir/IR/Operation.h"
#include "targets/TargetDescription.h"

namespace ingot::legalize {

/// Expands within `root`. Afterwards the only operations left of the math dialect
/// are math.sqrt and those that `target` has an instruction for. Works on scalars and vectors; narrower floats are computed
/// in f32. Fails, with an error, on an operation that it does not know.
mlir::LogicalResult expandMath(mlir::Operation *root,
                               const TargetDescription &target);

/// Whether it is computed by the target's own 2^x (kernel.exp2): by a thread, an exponential
/// that may be 0 or an error function beside 1, where the order of floats is free.
bool isByExp2(mlir::Operation *op, const TargetDescription &target);

/// Whether it is an exponential that may be 0 where it is next to nothing beside 1: one
/// with fastmath<afn>.
bool isExpOrZero(mlir::Operation *op);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_MATH_EXPANDMATH_H
