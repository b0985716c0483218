// Expected values of a model, computed by another program.
//
// Runs python/ingot/_reference.py, whose text is part of `ingot`, in a Python
// with ONNX Runtime or the package onnx; without either, Ingot evaluates the
// imported model by the definitions of its operators.

#ifndef INGOT_COMPILER_VERIFY_REFERENCE_H
#define INGOT_COMPILER_VERIFY_REFERENCE_H

#include "compiler/run/DataSets.h"

namespace ingot::verify {

/// The text of the Python program.
extern const llvm::StringRef kReferenceScript;

/// The program that computes expected values; Any: the first one that is
/// installed.
enum class Engine { Any, OnnxRuntime, Onnx, Definition };

struct Expected {
  /// For example "onnxruntime 1.31.1" or "Ingot's definitions".
  std::string engine;
  /// The reason why a preferred engine was not used; empty if the most
  /// preferred one was used.
  std::string passedOver;
  /// The values of the model's outputs, then of the requested tensors inside of
  /// the model; nothing for a value that is not a tensor or sequence.
  std::vector<std::optional<ModelValue>> values;
  /// The same values for slightly changed float inputs; empty if the engine
  /// does not compute them.
  std::vector<std::optional<ModelValue>> moved;
};

struct ReferenceOptions {
  Engine engine = Engine::Any;
  /// The command that starts Python; empty: python3 or python.
  std::string python;
  /// The relative change of float inputs for Expected::moved; 0: none.
  double move = 0;
};

/// Computes the values of the outputs and of the tensors `others` of the model
/// of `compile` for `data`; nothing, with diagnostics, if no engine can.
std::optional<Expected> computeExpected(const CompileOptions &compile,
                                        const InputData &data,
                                        llvm::ArrayRef<std::string> others,
                                        const ReferenceOptions &options,
                                        mlir::MLIRContext &context,
                                        Diagnostics &diagnostics);

/// Returns options that compile the model with the tensors `others` as
/// additional outputs.
CompileOptions withOutputs(const CompileOptions &compile,
                           llvm::ArrayRef<std::string> others);

} // namespace ingot::verify

#endif // INGOT_COMPILER_VERIFY_REFERENCE_H
