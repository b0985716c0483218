// Finds the first node of a model with a wrong result, and why it is wrong.
//
// All tensors inside of the model become outputs, and are compared in
// topological order: the first one out of tolerance names the node. The
// additional outputs may change the kernels so much that no tensor is wrong any
// more; then a binary search makes only one tensor an output at a time. Finally
// the model is compiled with single decisions of the compiler disabled, until
// the node is right.

#ifndef INGOT_COMPILER_VERIFY_NODEERRORS_H
#define INGOT_COMPILER_VERIFY_NODEERRORS_H

#include "compiler/verify/Against.h"
#include "compiler/verify/Reference.h"
#include "compiler/verify/Tolerances.h"

namespace ingot::verify {

/// The error of a tensor compared with its expected value.
struct TensorError {
  std::string name;
  std::string type;
  /// The largest error: as an absolute number, in units of the range of the
  /// expected numbers, and in units in the last place of the expected number.
  double error = 0, relative = 0, ulp = 0;
  double range = 0, tolerance = 0;
  /// The signal-to-noise ratio: the power of the expected numbers over the
  /// power of the error.
  double decibels = 0;
  /// The index of the element with the largest error, and the actual and the
  /// expected value of this element. If the types differ: the actual type.
  /// Empty if the tensor is right.
  std::string worst;
  bool isRight = true;
};

/// Compares the tensor `got` with `want`; `tolerance` is in units of the range
/// of `want`. Strings and integers must be equal; but if `isQuantized`,
/// integers of at most 16 bits may differ by one, or by the tolerance if that
/// is more.
TensorError measure(llvm::StringRef name, const Tensor &got, const Tensor &want,
                    double tolerance, bool isQuantized);

/// Returns the largest difference between the tensors `value` and `moved`, in
/// units of the range of `value`; 0 if they are not float tensors of the same
/// type.
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
  /// The kernel that computes the node: its strategy (the way its loops are
  /// built), and all nodes that it computes.
  std::string strategy;
  std::vector<std::string> nodesOfKernel;
  /// Options with which the node becomes right, options with which it stays
  /// wrong, and the conclusion.
  std::vector<std::string> rightWith, wrongWith;
  std::string cause;
};

/// Compares all tensors for `data` with those of `against` or, without such a
/// model, with those that the engine in `reference` computes. `isWrong` tells
/// whether an output is wrong; `tolerance` replaces the derived tolerances.
/// Returns nullopt with diagnostics on failure.
std::optional<NodeErrors>
findNodeErrors(const CompileOptions &compile, const InputData &data,
               const Against &against, const ReferenceOptions &reference,
               bool isWrong, std::optional<double> tolerance,
               mlir::MLIRContext &context, Diagnostics &diagnostics);

/// Compares all tensors for `data` with the tensors of the same names in the
/// model `against`, and outputs with outputs in order. Returns the errors in
/// topological order; nullopt with diagnostics on failure.
std::optional<std::vector<TensorError>>
compareTensors(const CompileOptions &compile, const InputData &data,
               const Against &against, mlir::MLIRContext &context,
               Diagnostics &diagnostics);

} // namespace ingot::verify

#endif // INGOT_COMPILER_VERIFY_NODEERRORS_H
