// Looks through transposes and reshapes.

#ifndef INGOT_PASSES_SIMPLIFY_MOVES_H
#define INGOT_PASSES_SIMPLIFY_MOVES_H

#include "mlir/IR/Value.h"

namespace ingot::simplify {

/// The transposes and reshapes, and optionally slices of the last axis, between
/// a use and the value whose elements it reads. May be empty.
struct Moves {
  mlir::Value from;
  llvm::SmallVector<mlir::Operation *> path; // From the use to `from`.

  static Moves behind(mlir::Value read, bool withSlices = false);
  /// Applies the same moves to another value, of any element type.
  mlir::Value repeat(mlir::Value value) const;
};

} // namespace ingot::simplify

#endif // INGOT_PASSES_SIMPLIFY_MOVES_H
