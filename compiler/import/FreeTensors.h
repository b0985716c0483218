// Frees the tensors of models that are no longer needed.

#ifndef INGOT_COMPILER_IMPORT_FREETENSORS_H
#define INGOT_COMPILER_IMPORT_FREETENSORS_H

#include "mlir/IR/MLIRContext.h"

namespace ingot {

/// Frees the data of the large tensors (resources) of all modules in a context;
/// these modules must not be used afterwards. Without this call, the data would
/// be kept as long as the context exists. Also returns the freed memory to the
/// operating system.
void freeTensors(mlir::MLIRContext &context);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_FREETENSORS_H
