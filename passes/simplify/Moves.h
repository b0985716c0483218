// Finds the value from which a chain of transposes and reshapes computes
// another value.

#ifndef INGOT_PASSES_SIMPLIFY_MOVES_H
#define INGOT_PASSES_SIMPLIFY_MOVES_H

#include "mlir/IR/Value.h"

namespace ingot::simplify {

/// The chain of transposes and reshapes (and, if wanted, slices of the last
/// axis) that computes a value from the value `from`. It may be empty.
struct Moves {
  mlir::Value from;
  llvm::SmallVector<mlir::Operation *> path; // The last one first.

  static Moves behind(mlir::Value read, bool withSlices = false);
  /// Applies the operations of `path` to another value of the shape of `from`
  /// and any element type.
  mlir::Value repeat(mlir::Value value) const;
};

} // namespace ingot::simplify

#endif // INGOT_PASSES_SIMPLIFY_MOVES_H
