// Which operators need the full precision of float operands.

#ifndef INGOT_PASSES_DECIDE_NEEDEDDIGITS_H
#define INGOT_PASSES_DECIDE_NEEDEDDIGITS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

namespace ingot::decide {

/// Whether `op` only moves or selects elements, without computing new ones.
bool movesElements(mlir::Operation *op);

/// Whether the operator needs the full precision of float operands: it converts
/// to integers, or is a function of an angle.
bool needsDigits(mlir::Operation *op);

/// Returns the values in `root` from which elementwise operators and moves
/// compute operands of operators that need full precision (needsDigits), these
/// operands included. Quantization does not count: it rounds more than a
/// contraction in a narrow type does.
llvm::SetVector<mlir::Value> valuesWithDigits(mlir::Operation *root);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_NEEDEDDIGITS_H
