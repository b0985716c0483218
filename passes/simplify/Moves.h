// Values behind transposes and reshapes.

#ifndef INGOT_PASSES_SIMPLIFY_MOVES_H
#define INGOT_PASSES_SIMPLIFY_MOVES_H

#include "mlir/IR/Value.h"

namespace ingot::simplify {

/// The transposes and reshapes, if there are any, and perhaps slices of the last axis, between
/// a reader and the value whose elements it reads.
struct Moves {
  mlir::Value from;
  llvm::SmallVector<mlir::Operation *> path; // From the reader to `from`.

  static Moves behind(mlir::Value read, bool withSlices = false);
  /// Moves another value as `from` is moved, elements of whatever type.
  mlir::Value repeat(mlir::Value value) const;
};

} // namespace ingot::simplify

#endif // INGOT_PASSES_SIMPLIFY_MOVES_H
