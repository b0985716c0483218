// Compiles models in memory and runs them on this machine.

#ifndef INGOT_COMPILER_QUANTIZE_HOSTRUN_H
#define INGOT_COMPILER_QUANTIZE_HOSTRUN_H

#include "compiler/quantize/Scratch.h"
#include "compiler/run/DataSets.h"
#include "compiler/run/HostModel.h"

namespace ingot::quantize {

/// The inputs of one run, in the order in which a caller passes them.
using Sample = std::vector<Tensor>;

/// The options, diagnostics and temporary storage that all runs of a
/// quantization share.
struct Host {
  Host(const CompileOptions &options, mlir::MLIRContext &context,
       Diagnostics &diagnostics);

  /// The options of the command line, with the model's path and sizes.
  CompileOptions options;
  mlir::MLIRContext &context;
  Diagnostics &diagnostics;
  /// The file for tensors that are moved out of memory; null, with a
  /// diagnostic, if it cannot be created.
  std::shared_ptr<Scratch> scratch;

  /// Compiles a model in memory for this machine and loads it. The shapes of
  /// inputs are taken from `sample`; inputs without data have the shape that
  /// the model states. Null with diagnostics on failure.
  std::unique_ptr<HostModel> build(onnx::ModelProto &&model,
                                   const Sample &sample) const;
};

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_HOSTRUN_H
