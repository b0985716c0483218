// The pass pipeline from the graph to printable kernels.

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
  /// The type in which floats are multiplied in contractions (--fast): "bf16",
  /// "f16" or "tf32", which the target must support; empty: their own type.
  std::string fast = {};
  /// The limit of the arena, the memory of intermediate tensors, in bytes. To
  /// meet it, chains of operators are computed a few rows at a time (row
  /// bands), and some elements twice.
  std::optional<int64_t> maxArena;
  /// Whether kernels use no optional scratch memory, without which they are
  /// slower.
  bool savesMemory = false;
  /// Bytes of fast local memory (VTCM) that the caller provides.
  std::optional<int64_t> vtcmBytes;
  /// Whether a state, a value kept from one run to the next, has a single
  /// buffer if a run reads the state before it writes the new value. If
  /// variants for several targets share the state, each state has two buffers.
  bool stateInOnePlace = true;
  /// Whether the module is a constant subgraph that is evaluated at compile
  /// time: passes that only improve code are skipped.
  bool evaluating = false;
  /// Called with the module after groups have initial plans, the parameters of
  /// their loops. It may replace plans; it reports its own diagnostics on
  /// failure.
  using PlanChooser = std::function<mlir::LogicalResult(mlir::ModuleOp)>;
  PlanChooser choosePlans;
  /// Print the time of each pass on standard error.
  bool timePasses = false;
  /// Verify the IR after each stage, and with `verifyEach` after each pass,
  /// which costs a few percent.
  bool verify = true, verifyEach = false;
};

/// Runs the stages after `done` up to `last` on a module that `done` has
/// produced. An imported module has functions of graph operators: @main or, for
/// several entry points, one for each. After Legalize the module can be
/// printed. Failure is an internal error, reported through the context's
/// diagnostics.
mlir::LogicalResult runPipeline(mlir::ModuleOp module,
                                const PipelineOptions &options,
                                Stage last = Stage::Legalize,
                                Stage done = Stage::Import);

/// Runs only the first passes of stage Simplify on an imported module: after
/// them, the quantized weights that stay narrow are known, and the others have
/// not been converted to floats yet.
mlir::LogicalResult widenContractions(mlir::ModuleOp module,
                                      const PipelineOptions &options);

/// Loads the dialects that the stages use.
void loadPipelineDialects(mlir::MLIRContext &context);

} // namespace ingot

#endif // INGOT_COMPILER_PIPELINE_H
