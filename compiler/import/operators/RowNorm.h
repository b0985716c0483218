// Builds layer, RMS and group normalization for the import functions of
// operators that contain them.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_ROWNORM_H
#define INGOT_COMPILER_IMPORT_OPERATORS_ROWNORM_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

/// Parameters of a layer or RMS normalization. A row consists of all axes from
/// `axis` on. If `center` is set, the mean of the row is subtracted.
struct RowNorm {
  int64_t axis;
  double epsilon;
  bool center;
};

/// Returns `x` with its rows normalized to mean 0 and variance 1 (only to mean
/// square 1 if norm.center is false), times `scale`, plus `bias`. Scale and
/// bias may be null. Reports a diagnostic if one of them does not broadcast to
/// `x`.
mlir::Value normalizeRows(OnnxNode &node, mlir::Value x, mlir::Value scale,
                          mlir::Value bias, const RowNorm &norm);

/// The mean of each row (null unless rows are centered) and the factor by which
/// each row is multiplied, both of type `stash`.
struct RowStatistics {
  mlir::Value mean, inverse;
};
RowStatistics statisticsOfRows(OnnxNode &node, mlir::Value x,
                               const RowNorm &norm, mlir::Type stash);

/// The mean of `x` over `axes`, the deviation of `x` from the mean, and the
/// variance; the axes keep size 1. Computed in float32 if `x` has narrower
/// floats, in which squares overflow and sums lose precision.
struct Moments {
  mlir::Value mean, centered, variance;
};
Moments momentsOver(OnnxNode &node, mlir::Value x,
                    llvm::ArrayRef<int64_t> axes);

/// Returns sqrt(variance + epsilon) for each element of `variance`.
mlir::Value deviation(OnnxNode &node, mlir::Value variance, double epsilon);

/// Returns `x` with each group of channels (axis 1) normalized to mean 0 and
/// variance 1, times `scale`, plus `bias`. Scale and bias have one element per
/// group or per channel.
mlir::Value normalizeGroups(OnnxNode &node, mlir::Value x, int64_t groups,
                            mlir::Value scale, mlir::Value bias,
                            double epsilon);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_ROWNORM_H
