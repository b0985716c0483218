// Frees the tensors of models that are no longer needed.

#ifndef INGOT_COMPILER_IMPORT_FREETENSORS_H
#define INGOT_COMPILER_IMPORT_FREETENSORS_H

#include "mlir/IR/MLIRContext.h"

namespace ingot {

/// Frees the data of the large tensors of all modules of a context, none of
/// which may be used any more: otherwise the context would keep the data, and
/// the allocator would keep the memory.
void freeTensors(mlir::MLIRContext &context);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_FREETENSORS_H
