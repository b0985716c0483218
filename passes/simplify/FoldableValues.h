// Finds the operations that depend on constants only.

#ifndef INGOT_PASSES_SIMPLIFY_FOLDABLEVALUES_H
#define INGOT_PASSES_SIMPLIFY_FOLDABLEVALUES_H

#include "dialects/graph/GraphDialect.h"
#include "llvm/ADT/SetVector.h"

namespace ingot::simplify {

struct FoldableValues {
  /// Constants, and the operators whose operands are all in this set, in
  /// program order.
  llvm::SetVector<mlir::Operation *> operations;
  /// The results in this set that other operators use, except constants: these
  /// values become constants.
  llvm::SmallVector<mlir::Value> frontier;
};

/// Finds what can be computed at compile time. Results that are much larger
/// than their operands are left to run time.
FoldableValues findFoldableValues(mlir::Block &body);

/// Weights that have a narrow type in the model and a wider one in the
/// generated code.
struct WidenedWeights {
  int64_t bytes = 0;       ///< in the model
  int64_t storedBytes = 0; ///< in the code
  /// Their element types in the generated code.
  llvm::SmallSetVector<mlir::Type, 2> storedTypes;
};

/// Finds such weights in the imported graph: constants of integers of at most
/// 16 bits, or floats of at most 8, of which the code contains only a value
/// computed from them, for example the dequantized weights.
WidenedWeights findWidenedWeights(mlir::Block &body);

} // namespace ingot::simplify

#endif // INGOT_PASSES_SIMPLIFY_FOLDABLEVALUES_H
