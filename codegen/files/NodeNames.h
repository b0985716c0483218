// Finds the ONNX nodes that code was generated for.

#ifndef INGOT_CODEGEN_FILES_NODENAMES_H
#define INGOT_CODEGEN_FILES_NODENAMES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/SetVector.h"

#include <string>

namespace ingot {

/// Returns the ONNX nodes that a location names, each once.
llvm::SetVector<llvm::StringRef> nodesOf(mlir::Location location);

/// Returns the ONNX nodes that a location names, separated by commas. If the
/// names together have more than 200 characters, the rest of them is replaced
/// by "...".
std::string nodesText(mlir::Location location);

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_NODENAMES_H
