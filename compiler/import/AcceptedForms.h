// Accepts common deviations from the ONNX specification whose meaning is
// unambiguous.

#ifndef INGOT_COMPILER_IMPORT_ACCEPTEDFORMS_H
#define INGOT_COMPILER_IMPORT_ACCEPTEDFORMS_H

#include "compiler/report/Diagnostics.h"
#include "onnx/onnx_pb.h"

namespace ingot {

/// Rewrites a model, as parsed, to the form that the specification requires,
/// and warns about each assumption:
///
///   - nodes of com.microsoft without an opset import: version 1 is imported,
///     the only one that exists
///   - LayerNormalization of the default domain before opset 17, as ONNX
///     Runtime's optimizer writes it: the node stays; its schema is in
///     FurtherOperators.def
///   - names with control characters, which PyTorch derives from source lines:
///     the characters are escaped, so that the names can be printed anywhere
void acceptForms(onnx::ModelProto &model, Diagnostics &diagnostics);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_ACCEPTEDFORMS_H
