// The functions into which math operations are outlined.

#ifndef INGOT_PASSES_LEGALIZE_MATH_OUTLINEMATH_H
#define INGOT_PASSES_LEGALIZE_MATH_OUTLINEMATH_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

namespace ingot::legalize {

/// An entry of MathFunctions.def.
struct MathFunction {
  llvm::StringRef op, name, text;
  /// The maximal error in units in the last place, for any operands.
  double ulps32, ulps64;
};

/// Returns the entry of an operation by name; null if there is none.
const MathFunction *lookupMathFunction(llvm::StringRef op);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_MATH_OUTLINEMATH_H
