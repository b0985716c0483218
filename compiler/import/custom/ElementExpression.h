// Functions of ONNX operators from element expressions.

#ifndef INGOT_COMPILER_IMPORT_CUSTOM_ELEMENTEXPRESSION_H
#define INGOT_COMPILER_IMPORT_CUSTOM_ELEMENTEXPRESSION_H

#include "compiler/import/custom/Formula.h"
#include "onnx/defs/schema.h"

namespace ingot {

/// Appends the nodes that compute `formula`, in tensors broadcast by NumPy's
/// rule, to a function that has its inputs, attributes and one output. Names are
/// those of inputs and of attributes (numbers), operators those of C; functions
/// are the operators of ONNX, in lower case: exp, max, where. Constants have
/// the type of the first input. Fails for unknown names.
llvm::Error appendNodes(const Formula &formula, onnx::FunctionProto &function);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_CUSTOM_ELEMENTEXPRESSION_H
