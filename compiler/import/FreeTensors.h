// Frees the tensors of models that are no longer needed.

#ifndef INGOT_COMPILER_IMPORT_FREETENSORS_H
#define INGOT_COMPILER_IMPORT_FREETENSORS_H

#include "mlir/IR/MLIRContext.h"

namespace ingot {

/// Frees the data of the large tensors (MLIR resources) of all modules in a
/// context; these modules must not be used afterwards. Without this call, the
/// data would live as long as the context. With glibc, also returns the freed
/// memory to the operating system.
void freeTensors(mlir::MLIRContext &context);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_FREETENSORS_H
