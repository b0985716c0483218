// Activations that ONNX Runtime's optimizer fuses into other operators.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_FUSEDACTIVATION_H
#define INGOT_COMPILER_IMPORT_OPERATORS_FUSEDACTIVATION_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

/// The parameters of an activation; those that are nullopt have ONNX's
/// defaults.
struct ActivationNumbers {
  std::optional<double> alpha, beta, gamma;
};

/// Applies the activation named by the attribute `activation` to `x`; returns
/// `x` if there is no such attribute. Returns null, with a diagnostic, if the
/// activation is unknown; also if `x` is null.
mlir::Value activate(OnnxNode &node, mlir::Value x,
                     const ActivationNumbers &numbers);

/// Returns Gelu of `x`, computed with erf or, if `approximately` is set, with
/// the tanh approximation of Gelu.
mlir::Value gelu(OnnxNode &node, mlir::Value x, bool approximately);

/// Returns the sum of those `terms` that are not null.
mlir::Value sumOf(OnnxNode &node, llvm::ArrayRef<mlir::Value> terms);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_FUSEDACTIVATION_H
