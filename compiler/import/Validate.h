// Is the model well-formed.
//
// The structure of a model, before anything is built: names, opsets, operators,
// who produces what, no cycles. Nested graphs and functions included.

#ifndef INGOT_COMPILER_IMPORT_VALIDATE_H
#define INGOT_COMPILER_IMPORT_VALIDATE_H

#include "compiler/report/Diagnostics.h"
#include "mlir/Support/LLVM.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/StringMap.h"

namespace ingot {

using NodeList = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
/// Domain (canonical) to version.
using OpsetImports = llvm::StringMap<int64_t>;

OpsetImports
opsetImports(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>
                 &imports);

/// The key that calls find a model-local function by.
std::string functionKey(llvm::StringRef domain, llvm::StringRef name,
                        llvm::StringRef overload);

/// "node #57 `/up/Resize` (`Resize`, opset 18)" and its parts.
void setNode(Diagnostic &diagnostic, const onnx::NodeProto &node, int64_t index,
             int64_t opset);

/// Reports all that is wrong; true if nothing is.
bool validate(const onnx::ModelProto &model, Diagnostics &diagnostics);

/// The order in which nodes can be computed, stable; nodes on or behind a cycle
/// are left out. Names that no node produces are available from the start.
llvm::SmallVector<int> topologicalOrder(const NodeList &nodes);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_VALIDATE_H
