// Attributes of calls of ONNX functions.
//
// Nodes in the body of a function may refer to attributes of the call. Before
// such a node is imported, the references are replaced by the values.

#ifndef INGOT_COMPILER_IMPORT_FUNCTIONBODY_H
#define INGOT_COMPILER_IMPORT_FUNCTIONBODY_H

#include "onnx/defs/schema.h"
#include "llvm/ADT/StringMap.h"

namespace ingot {

using AttributeValues = llvm::StringMap<onnx::AttributeProto>;

/// Returns the call's attributes, with the function's defaults for those that
/// the call omits. `schema` is null for model-local functions.
AttributeValues callAttributes(const onnx::NodeProto &call,
                               const onnx::FunctionProto &function,
                               const onnx::OpSchema *schema);
/// Whether `node`, or a node in one of its subgraphs, has an attribute that
/// refers to an attribute of a function call (ref_attr_name). Only nodes in the
/// bodies of functions may have such attributes.
bool hasReferences(const onnx::NodeProto &node);
/// Returns `node` with its references to attributes of the call replaced by
/// `values`; omits an attribute whose reference has no value.
onnx::NodeProto substitute(const onnx::NodeProto &node,
                           const AttributeValues &values);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_FUNCTIONBODY_H
