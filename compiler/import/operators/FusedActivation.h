// Activations that other operators carry along.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_FUSEDACTIVATION_H
#define INGOT_COMPILER_IMPORT_OPERATORS_FUSEDACTIVATION_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

/// The numbers of an activation; those that a node leaves out have ONNX's defaults.
struct ActivationNumbers {
  std::optional<double> alpha, beta, gamma;
};

/// The activation that the attribute `activation` names, on `x`; `x` itself where the
/// node has none. Null with a diagnostic if it is unknown, or if `x` is null.
mlir::Value activate(OnnxNode &node, mlir::Value x,
                     const ActivationNumbers &numbers);

/// Gelu by the error function, or by its approximation with tanh.
mlir::Value gelu(OnnxNode &node, mlir::Value x, bool approximately);

/// The sum of tensors, those of them that are not null.
mlir::Value sumOf(OnnxNode &node, llvm::ArrayRef<mlir::Value> terms);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_FUSEDACTIVATION_H
