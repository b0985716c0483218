// Plans chosen by timing.

#ifndef INGOT_COMPILER_MEASURE_TUNEPLANS_H
#define INGOT_COMPILER_MEASURE_TUNEPLANS_H

#include "compiler/Compile.h"

namespace ingot {

/// Gives each group of a decided module the plan that the file `options.tune` has
/// for it. Groups that it has no plan for are built and timed by the best few plans
/// of their strategy, on this machine, and the fastest goes into the file. False
/// with diagnostics.
bool tunePlans(mlir::ModuleOp module, const CompileOptions &options,
               Diagnostics &diagnostics);

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_TUNEPLANS_H
