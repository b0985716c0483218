// Comments on inputs and outputs, for the header of the generated code.

#ifndef INGOT_COMPILER_IMPORT_TENSORNOTES_H
#define INGOT_COMPILER_IMPORT_TENSORNOTES_H

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringMap.h"

#include <string>

namespace onnx {
class GraphProto;
}

namespace ingot {

/// Returns for each input and output of the graph what the model says about it:
/// its description and, if it is a quantized tensor, its scale and zero point.
/// Tensors without either have no entry.
llvm::StringMap<std::string> tensorNotes(const onnx::GraphProto &graph,
                                         mlir::MLIRContext *context);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_TENSORNOTES_H
