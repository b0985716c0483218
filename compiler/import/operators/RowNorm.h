// Layer and RMS normalization, for the operators that carry them.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_ROWNORM_H
#define INGOT_COMPILER_IMPORT_OPERATORS_ROWNORM_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

/// Rows of all axes from `axis` on. With `center` their mean is taken off.
struct RowNorm {
  int64_t axis;
  double epsilon;
  bool center;
};

/// `x` with its rows scaled to variance 1 (or mean square 1), times `scale`, plus
/// `bias`, which may be null. Null with a diagnostic if they do not broadcast.
mlir::Value normalizeRows(OnnxNode &node, mlir::Value x, mlir::Value scale,
                          mlir::Value bias, const RowNorm &norm);

/// The mean of each row, null if rows are not centered, and what rows are multiplied
/// by, computed in the type `stash`.
struct RowStatistics {
  mlir::Value mean, inverse;
};
RowStatistics statisticsOfRows(OnnxNode &node, mlir::Value x,
                               const RowNorm &norm, mlir::Type stash);

/// Mean, distance from it, and variance over `axes`, which keep size 1: in float32 where
/// `x` is of narrower floats, in which squares overflow and sums round.
struct Moments {
  mlir::Value mean, centered, variance;
};
Moments momentsOver(OnnxNode &node, mlir::Value x,
                    llvm::ArrayRef<int64_t> axes);

/// sqrt(variance + epsilon)
mlir::Value deviation(OnnxNode &node, mlir::Value variance, double epsilon);

/// Groups of channels (axis 1) scaled to variance 1, times `scale`, plus `bias`, which
/// have one element for each group or channel.
mlir::FailureOr<mlir::Value> normalizeGroups(OnnxNode &node, mlir::Value x,
                                             int64_t groups, mlir::Value scale,
                                             mlir::Value bias, double epsilon);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_ROWNORM_H
