// Attributes of function calls.
//
// Nodes in a function's body may refer to attributes of the call; these are put
// in before a node is imported.

#ifndef INGOT_COMPILER_IMPORT_FUNCTIONBODY_H
#define INGOT_COMPILER_IMPORT_FUNCTIONBODY_H

#include "onnx/defs/schema.h"
#include "llvm/ADT/StringMap.h"

namespace ingot {

using AttributeValues = llvm::StringMap<onnx::AttributeProto>;

/// The call's attributes and the defaults of those it leaves out; `schema` is
/// null for model-local functions.
AttributeValues callAttributes(const onnx::NodeProto &call,
                               const onnx::FunctionProto &function,
                               const onnx::OpSchema *schema);
/// Whether `node`, or a node of its graphs, refers to attributes of the call.
bool hasReferences(const onnx::NodeProto &node);
/// `node` with references replaced; an attribute that refers to nothing is left
/// out.
onnx::NodeProto substitute(const onnx::NodeProto &node,
                           const AttributeValues &values);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_FUNCTIONBODY_H
