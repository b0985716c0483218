// No math library.
//
// Rewrites the operations of the math dialect, and those of arith that C++ has
// no operator for (remf, maximumf, ...), to plain arithmetic.

#ifndef INGOT_PASSES_LEGALIZE_MATH_EXPANDMATH_H
#define INGOT_PASSES_LEGALIZE_MATH_EXPANDMATH_H

#include "mlir/IR/Operation.h"

namespace ingot::legalize {

/// Expands within `root`. Afterwards math.sqrt is the only operation left of
/// the math dialect. Works on scalars and vectors; narrower floats are computed
/// in f32. Fails, with an error, on an operation that it does not know.
mlir::LogicalResult expandMath(mlir::Operation *root);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_MATH_EXPANDMATH_H
