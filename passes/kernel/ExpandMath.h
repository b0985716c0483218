//===- ExpandMath.h - no math library -------------------------*- C++ -*-===//
//
// Rewrites the operations of the math dialect, and those of arith that C++ has
// no operator for (remf, maximumf, ...), to plain arithmetic.
//
//===----------------------------------------------------------------------===//

#ifndef INGOT_PASSES_KERNEL_EXPANDMATH_H
#define INGOT_PASSES_KERNEL_EXPANDMATH_H

#include "mlir/IR/Operation.h"

namespace ingot {

struct ExpandMathOptions {
  /// Leave floor, ceil, trunc, roundeven on f32 and f64 to the target.
  bool keepRounding = false;
};

/// Expands within `root`. Afterwards math.sqrt is the only operation left of
/// the math dialect (and those that the options keep). Works on scalars and
/// vectors; narrower floats are computed in f32. Fails, with an error, on an
/// operation that it does not know.
mlir::LogicalResult expandMath(mlir::Operation *root,
                               const ExpandMathOptions &options = {});

} // namespace ingot

#endif // INGOT_PASSES_KERNEL_EXPANDMATH_H
