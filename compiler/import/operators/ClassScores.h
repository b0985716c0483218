// What the classifiers and regressors of ai.onnx.ml have in common: transforms of their
// scores, and labels.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_CLASSSCORES_H
#define INGOT_COMPILER_IMPORT_OPERATORS_CLASSSCORES_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

/// Scores [rows, classes] under the transform that the attribute `post_transform`, or
/// the enumeration of TreeEnsemble, names; null with a diagnostic if it is unknown.
mlir::Value transformScores(OnnxNode &node, mlir::Value scores,
                            llvm::StringRef transform);

/// The same of a regressor: ONNX Runtime, and with it those who write models, leaves a
/// single target as it is, but for PROBIT.
mlir::Value transformTargets(OnnxNode &node, mlir::Value targets,
                             llvm::StringRef transform);

/// The scores of two classes, of which `second` [rows, 1] is that of the second: 1 -
/// second of the first, or -second with `negates`; both transformed.
mlir::Value bothScores(OnnxNode &node, mlir::Value second,
                       llvm::StringRef transform, bool negates);

/// The labels of a classifier: its attribute of integers, or 0, 1, ... where labels are
/// strings, which `labelsAt` looks up.
mlir::FailureOr<llvm::SmallVector<int64_t>>
classLabels(OnnxNode &node, llvm::StringRef integers, llvm::StringRef strings);

/// The labels at `indices`, one for each row: int64 [rows].
mlir::Value labelsAt(OnnxNode &node, llvm::ArrayRef<int64_t> labels,
                     mlir::Value indices);

/// The input as rows of floats [rows, features]: one axis is one row. Null with a
/// diagnostic if it has more than two axes.
mlir::Value featureRows(OnnxNode &node);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_CLASSSCORES_H
