// Models in memory, run on this machine.

#ifndef INGOT_COMPILER_QUANTIZE_HOSTRUN_H
#define INGOT_COMPILER_QUANTIZE_HOSTRUN_H

#include "compiler/quantize/Scratch.h"
#include "compiler/run/DataSets.h"
#include "compiler/run/HostModel.h"

namespace ingot::quantize {

/// The inputs of one run, in the order of the inputs that a caller feeds.
using Sample = std::vector<Tensor>;

/// What all runs of one quantization share.
struct Host {
  Host(const CompileOptions &options, mlir::MLIRContext &context,
       Diagnostics &diagnostics);

  /// The model's path, and what the command line says of its sizes.
  CompileOptions options;
  mlir::MLIRContext &context;
  Diagnostics &diagnostics;
  /// What is put out of memory; null with a diagnostic if that cannot be.
  std::shared_ptr<Scratch> scratch;

  /// Compiles a model that is in memory for this machine and loads it. The shapes
  /// of inputs are those of `sample`; others come from the model. Null with
  /// diagnostics if that fails.
  std::unique_ptr<HostModel> build(onnx::ModelProto &&model,
                                   const Sample &sample) const;
};

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_HOSTRUN_H
