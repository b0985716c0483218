// What models in the wild say beside ONNX's text, where it has one meaning only.

#ifndef INGOT_COMPILER_IMPORT_ACCEPTEDFORMS_H
#define INGOT_COMPILER_IMPORT_ACCEPTEDFORMS_H

#include "compiler/report/Diagnostics.h"
#include "onnx/onnx_pb.h"

namespace ingot {

/// Rewrites a model as it was read to the form that the text asks for, and warns of what
/// is assumed:
///   - nodes of com.microsoft without an opset import: version 1 is imported, the only one
///     there is
///   - LayerNormalization of the default domain before opset 17, as ONNX Runtime's
///     optimizer writes it: it stays, and has a schema (FurtherOperators.def)
///   - names with control characters, which PyTorch makes of source lines: the characters
///     are escaped, so that the names can be printed anywhere
void acceptForms(onnx::ModelProto &model, Diagnostics &diagnostics);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_ACCEPTEDFORMS_H
