// Finds the operations that depend on constants only.

#ifndef INGOT_PASSES_SIMPLIFY_FOLDABLEVALUES_H
#define INGOT_PASSES_SIMPLIFY_FOLDABLEVALUES_H

#include "dialects/graph/GraphDialect.h"
#include "llvm/ADT/SetVector.h"

namespace ingot::simplify {

struct FoldableValues {
  /// Constants, and operators whose operands are all computed by operations of
  /// this set; in program order.
  llvm::SetVector<mlir::Operation *> operations;
  /// The results of `operations` that operators outside of this set use.
  /// FoldConstants replaces these values by constants.
  llvm::SmallVector<mlir::Value> frontier;
};

/// Finds the operations of `body` that can be computed at compile time.
/// Excludes operations whose results are much larger than their operands, which
/// are computed at run time instead.
FoldableValues findFoldableValues(mlir::Block &body);

/// Weights that have a narrow type in the model and a wider one in the
/// generated code.
struct WidenedWeights {
  int64_t bytes = 0;       ///< bytes in the model
  int64_t storedBytes = 0; ///< bytes in the generated code
  /// The element types that the weights have in the generated code.
  llvm::SmallSetVector<mlir::Type, 2> storedTypes;
};

/// Finds the constants of the imported graph `body` that the generated code
/// contains only in a wider type, for example dequantized weights. The
/// constants are integers of at most 16 bits or floats of at most 8 bits.
WidenedWeights findWidenedWeights(mlir::Block &body);

} // namespace ingot::simplify

#endif // INGOT_PASSES_SIMPLIFY_FOLDABLEVALUES_H
