// Functions that the classifiers and regressors of ai.onnx.ml share: the
// transforms of scores by the attribute post_transform, and labels.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_CLASSSCORES_H
#define INGOT_COMPILER_IMPORT_OPERATORS_CLASSSCORES_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

/// Applies a transform to scores [rows, classes]. `transform` is the value of
/// the attribute `post_transform`, or the name of the enumerator that
/// TreeEnsemble uses instead. Returns null with a diagnostic if the transform
/// is unknown.
mlir::Value transformScores(OnnxNode &node, mlir::Value scores,
                            llvm::StringRef transform);

/// Applies a transform (see transformScores) to the targets of a regressor
/// [rows, targets]. Like ONNX Runtime, leaves a single target unchanged unless
/// the transform is PROBIT.
mlir::Value transformTargets(OnnxNode &node, mlir::Value targets,
                             llvm::StringRef transform);

/// Returns the transformed scores [rows, 2] of a classifier with two classes,
/// given the score `second` [rows, 1] of the second class. The score of the
/// first class, before the transform, is -second if `negates` is set or the
/// transform is LOGISTIC, otherwise 1 - second. Like ONNX Runtime, does not
/// apply SOFTMAX and SOFTMAX_ZERO.
mlir::Value bothScores(OnnxNode &node, mlir::Value second,
                       llvm::StringRef transform, bool negates);

/// Returns the labels of a classifier from its attribute `integers`. If its
/// labels are strings, in attribute `strings`, returns the indices 0, 1, ...,
/// which `labelsAt` maps to the strings. Fails, with a diagnostic, if there are
/// too few labels.
mlir::FailureOr<llvm::SmallVector<int64_t>>
classLabels(OnnxNode &node, llvm::StringRef integers, llvm::StringRef strings);

/// Returns the labels at `indices` (one index per row) as a tensor [rows] of
/// int64 or strings.
mlir::Value labelsAt(OnnxNode &node, llvm::ArrayRef<int64_t> labels,
                     mlir::Value indices);

/// Returns input 0 as floats [rows, features]; a vector [features] becomes one
/// row. Returns null with a diagnostic if the input has more than two axes.
mlir::Value featureRows(OnnxNode &node);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_CLASSSCORES_H
