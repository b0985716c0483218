// Finds the first node of a model with a wrong result, and why it is wrong.
//
// All tensors inside of the model become outputs, and are compared in
// topological order: the first one out of tolerance names the node. If this
// changes so much that no tensor is wrong any more, a binary search adds one
// tensor at a time. Then the model is compiled with single decisions undone,
// until the node is right.

#ifndef INGOT_COMPILER_VERIFY_NODEERRORS_H
#define INGOT_COMPILER_VERIFY_NODEERRORS_H

#include "compiler/verify/Against.h"
#include "compiler/verify/Reference.h"
#include "compiler/verify/Tolerances.h"

namespace ingot::verify {

/// A tensor beside what was expected of it.
struct TensorError {
  std::string name;
  std::string type;
  /// The largest error, absolute, in units of the range of the expected
  /// numbers, and in units in the last place of the expected number.
  double error = 0, relative = 0, ulp = 0;
  double range = 0, tolerance = 0;
  /// The power of the expected numbers over the power of the error.
  double decibels = 0;
  /// The element with the largest error, with both values, if it is wrong.
  std::string worst;
  bool isRight = true;
};

/// Compares tensors; `tolerance` is in units of the range. Integers are equal,
/// or, if `isQuantized`, one step apart.
TensorError measure(llvm::StringRef name, const Tensor &got, const Tensor &want,
                    double tolerance, bool isQuantized);

/// Returns the largest difference of two values of a tensor in units of the
/// range of the first.
double changeOf(const std::optional<ModelValue> &value,
                const std::optional<ModelValue> &moved);

struct NodeErrors {
  /// All tensors that were compared, in topological order.
  std::vector<TensorError> tensors;
  /// The first node with a wrong result; -1: none.
  int node = -1;
  std::string nodeName, operatorName, tensor;
  /// The largest error of the node's inputs in units of their ranges.
  double errorOfInputs = 0;
  /// The kernel: its strategy, and the nodes that it computes.
  std::string strategy;
  std::vector<std::string> nodesOfKernel;
  /// Options with which the node is right, and the conclusion.
  std::vector<std::string> rightWith, wrongWith;
  std::string cause;
};

/// Compares all tensors for `data`. `isWrong` tells whether an output is wrong.
/// Nothing, with diagnostics, on failure.
std::optional<NodeErrors>
findNodeErrors(const CompileOptions &compile, const InputData &data,
               const Against &against, const ReferenceOptions &reference,
               bool isWrong, std::optional<double> tolerance,
               mlir::MLIRContext &context, Diagnostics &diagnostics);

/// Compares all tensors for `data` with the tensors of the same names in
/// another model; returns the errors in topological order. Nothing, with
/// diagnostics, on failure.
std::optional<std::vector<TensorError>>
compareTensors(const CompileOptions &compile, const InputData &data,
               const Against &against, mlir::MLIRContext &context,
               Diagnostics &diagnostics);

} // namespace ingot::verify

#endif // INGOT_COMPILER_VERIFY_NODEERRORS_H
