// Checks that a model is well-formed.
//
// Checks the structure of a model before anything is built: names, opsets,
// operators, producers, and absence of cycles. Nested graphs and functions are
// included.

#ifndef INGOT_COMPILER_IMPORT_VALIDATE_H
#define INGOT_COMPILER_IMPORT_VALIDATE_H

#include "compiler/report/Diagnostics.h"
#include "mlir/Support/LLVM.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/StringMap.h"

namespace ingot {

using NodeList = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
/// Maps each imported domain, by its canonical name, to its opset version.
using OpsetImports = llvm::StringMap<int64_t>;

OpsetImports
opsetImports(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>
                 &imports);

/// Returns the key under which calls look up a model-local function.
std::string functionKey(llvm::StringRef domain, llvm::StringRef name,
                        llvm::StringRef overload);

/// Sets the node of a diagnostic: its name, operator and opset, and the text
/// "node #57 `/up/Resize` (`Resize`, opset 18)".
void setNode(Diagnostic &diagnostic, const onnx::NodeProto &node, int64_t index,
             int64_t opset);

/// Checks that a model is well-formed. Reports all errors; returns true if
/// there are none.
bool validate(const onnx::ModelProto &model, Diagnostics &diagnostics);

/// Returns the indices of the nodes in a stable topological order. Nodes on a
/// cycle, or that depend on one, are left out. Names that no node produces,
/// such as inputs, are available from the start.
llvm::SmallVector<int> topologicalOrder(const NodeList &nodes);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_VALIDATE_H
