// What depends on constants alone.

#ifndef INGOT_PASSES_SIMPLIFY_FOLDABLEVALUES_H
#define INGOT_PASSES_SIMPLIFY_FOLDABLEVALUES_H

#include "dialects/graph/GraphDialect.h"
#include "llvm/ADT/SetVector.h"

namespace ingot::simplify {

struct FoldableValues {
  /// Constants, and the operators that depend on nothing else, in order.
  llvm::SetVector<mlir::Operation *> operations;
  /// Those of their results that other operators read, constants excepted: the
  /// values that become constants.
  llvm::SmallVector<mlir::Value> frontier;
};

/// Finds what can be computed at compile time; results that would be much
/// larger than what they are made of are left to be computed at run time.
FoldableValues findFoldableValues(mlir::Block &body);

/// The weights that a model has in a narrow type and the compiled code in a
/// wider one.
struct WidenedWeights {
  int64_t bytes = 0;       ///< in the model
  int64_t storedBytes = 0; ///< in the code
  /// The element types in the code.
  llvm::SmallSetVector<mlir::Type, 2> storedTypes;
};

/// Finds, in the graph as it was imported, constants of integers of at most 16
/// bits or floats of at most 8 of which the code has only what is computed from
/// them: each element times its scale, for example.
WidenedWeights findWidenedWeights(mlir::Block &body);

} // namespace ingot::simplify

#endif // INGOT_PASSES_SIMPLIFY_FOLDABLEVALUES_H
