// Which ONNX nodes a piece of code is for.

#ifndef INGOT_CODEGEN_FILES_NODENAMES_H
#define INGOT_CODEGEN_FILES_NODENAMES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/SetVector.h"

#include <string>

namespace ingot {

/// Returns the ONNX nodes that a location names, each once.
llvm::SetVector<llvm::StringRef> nodesOf(mlir::Location location);

/// Returns these nodes with commas between them, those that do not fit in 200
/// characters left out.
std::string nodesText(mlir::Location location);

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_NODENAMES_H
