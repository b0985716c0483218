// Activations that ONNX Runtime's optimizer fuses into other operators.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_FUSEDACTIVATION_H
#define INGOT_COMPILER_IMPORT_OPERATORS_FUSEDACTIVATION_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

/// The parameters of an activation; nullopt stands for ONNX's default.
struct ActivationNumbers {
  std::optional<double> alpha, beta, gamma;
};

/// Applies to `x` the activation that the attribute `activation` names; returns
/// `x` if the node does not have the attribute. Returns null if `x` is null, or
/// with a diagnostic if the activation is unknown or does not support integers.
mlir::Value activate(OnnxNode &node, mlir::Value x,
                     const ActivationNumbers &numbers);

/// Returns Gelu of `x`, computed with erf or, if `approximately` is set, with
/// the tanh approximation of Gelu.
mlir::Value gelu(OnnxNode &node, mlir::Value x, bool approximately);

/// Returns the sum of those `terms` that are not null; null if all are null.
mlir::Value sumOf(OnnxNode &node, llvm::ArrayRef<mlir::Value> terms);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_FUSEDACTIVATION_H
