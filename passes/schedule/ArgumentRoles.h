// Names the arguments of kernels by what the operators do with them, for
// example "weights".

#ifndef INGOT_PASSES_SCHEDULE_ARGUMENTROLES_H
#define INGOT_PASSES_SCHEDULE_ARGUMENTROLES_H

#include "mlir/IR/Value.h"

namespace ingot::schedule {

/// Returns the role of an input of a kernel, for example "weights", "scale" or
/// "indices"; "x" for the data that the kernel transforms.
llvm::StringRef roleOf(mlir::BlockArgument input);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_ARGUMENTROLES_H
