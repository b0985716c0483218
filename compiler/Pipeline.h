// The way from graph to planned kernels.

#ifndef INGOT_COMPILER_PIPELINE_H
#define INGOT_COMPILER_PIPELINE_H

#include "compiler/Stages.h"
#include "mlir/IR/BuiltinOps.h"
#include "targets/TargetDescription.h"

namespace ingot {

struct PipelineOptions {
  const TargetDescription *target = nullptr;
  /// Keep the order of floating-point operations.
  bool strict = false;
  /// Contract floats as "bf16", "f16" or "tf32", which the target has products for.
  std::string fast = {};
  /// What the arena may take: with less memory some work is done twice.
  std::optional<int64_t> maxArena;
  /// Kernels have no memory of their own that others do without, though these take longer.
  bool savesMemory = false;
  /// Memory that vectors read fastest, as far as the caller lends it.
  std::optional<int64_t> nearBytes;
  /// A value that lives from run to run takes one place where a run has read it before
  /// it writes the next one. Versions of a model that share a state take two.
  bool stateInOnePlace = true;
  /// For the values of a constant subgraph: no search for better code.
  bool evaluating = false;
  /// Called once groups have their first plans; may give them others, and fails
  /// with a diagnostic of its own.
  using PlanChooser = std::function<mlir::LogicalResult(mlir::ModuleOp)>;
  PlanChooser choosePlans;
  /// Print the time of each pass on standard error.
  bool timePasses = false;
  /// Check the IR after each stage; after each pass, too, costs some percent.
  bool verify = true, verifyEach = false;
};

/// Runs the stages behind `done` up to `last` on a module that `done` left. One
/// that was imported has one function @main of graph operators; after Legalize
/// it is in the form that the printer takes. Failure is a fault of ours,
/// reported through the context's diagnostics.
mlir::LogicalResult runPipeline(mlir::ModuleOp module,
                                const PipelineOptions &options,
                                Stage last = Stage::Legalize,
                                Stage done = Stage::Import);

/// Runs what Simplify begins with, on a module that was imported: then it is known
/// which quantized weights stay narrow, and not yet what becomes of the others.
mlir::LogicalResult widenContractions(mlir::ModuleOp module,
                                      const PipelineOptions &options);

/// Loads the dialects that the stages produce.
void loadPipelineDialects(mlir::MLIRContext &context);

} // namespace ingot

#endif // INGOT_COMPILER_PIPELINE_H
