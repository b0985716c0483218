// The functions that math operations become.

#ifndef INGOT_PASSES_LEGALIZE_MATH_OUTLINEMATH_H
#define INGOT_PASSES_LEGALIZE_MATH_OUTLINEMATH_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

namespace ingot::legalize {

/// A row of MathFunctions.def.
struct MathFunction {
  llvm::StringRef op, name, text;
  /// The most units in the last place that a result is off, whatever the operands.
  double ulps32, ulps64;
};

/// Returns the row of an operation, by its name; null if it has none.
const MathFunction *lookupMathFunction(llvm::StringRef op);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_MATH_OUTLINEMATH_H
