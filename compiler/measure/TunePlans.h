// Chooses the plans (loop parameters) of fusion groups by timing them.

#ifndef INGOT_COMPILER_MEASURE_TUNEPLANS_H
#define INGOT_COMPILER_MEASURE_TUNEPLANS_H

#include "compiler/Compile.h"

namespace ingot {

/// Sets the plan (loop parameters) of each group of a module after stage Decide
/// from the file `options.tune`. For groups that are not in the file, the plans
/// with the lowest estimated costs are built and timed on this machine, and the
/// fastest is added to the file. False with diagnostics on failure.
bool tunePlans(mlir::ModuleOp module, const CompileOptions &options,
               Diagnostics &diagnostics);

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_TUNEPLANS_H
