// Accepts common deviations from the ONNX specification whose meaning is
// unambiguous.

#ifndef INGOT_COMPILER_IMPORT_ACCEPTEDFORMS_H
#define INGOT_COMPILER_IMPORT_ACCEPTEDFORMS_H

#include "compiler/report/Diagnostics.h"
#include "onnx/onnx_pb.h"

namespace ingot {

/// Makes a parsed model acceptable where it deviates from the ONNX
/// specification. Warns of the first two of these deviations:
///
///   - nodes of com.microsoft without an opset import: version 1, the only
///     version of this domain, is imported
///   - LayerNormalization of the default domain before opset 17, which ONNX
///     Runtime's optimizer writes: the node is not changed, since
///     FurtherOperators.def defines the operator for these opsets
///   - names with control characters, which PyTorch derives from source lines:
///     the characters are escaped, so that the names can be printed anywhere
void acceptForms(onnx::ModelProto &model, Diagnostics &diagnostics);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_ACCEPTEDFORMS_H
