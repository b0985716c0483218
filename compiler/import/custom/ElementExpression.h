// Builds functions of ONNX operators from the element expressions of custom
// operators.

#ifndef INGOT_COMPILER_IMPORT_CUSTOM_ELEMENTEXPRESSION_H
#define INGOT_COMPILER_IMPORT_CUSTOM_ELEMENTEXPRESSION_H

#include "compiler/import/custom/Formula.h"
#include "onnx/defs/schema.h"

namespace ingot {

/// Appends nodes that compute `formula` elementwise, with NumPy's broadcasting,
/// to `function`, which already has inputs, attributes and one output. Names in
/// the formula are inputs or attributes (numbers). Operators are those of C;
/// functions are operators of ONNX in lower case: exp, max, where. Constants
/// have the type of the first input. Fails for unknown names.
llvm::Error appendNodes(const Formula &formula, onnx::FunctionProto &function);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_CUSTOM_ELEMENTEXPRESSION_H
