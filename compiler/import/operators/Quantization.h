// Floats from bytes and back.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_QUANTIZATION_H
#define INGOT_COMPILER_IMPORT_OPERATORS_QUANTIZATION_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

/// (x - zero) * scale in the type of the scale. Scale and zero point broadcast to
/// `x`; without a zero point it is 0.
mlir::Value dequantize(OnnxNode &node, mlir::Value x, mlir::Value scale,
                       mlir::Value zero);

/// round(y / scale) + zero in the type of the zero point; without one it is a 0 of
/// `type`.
mlir::Value quantize(OnnxNode &node, mlir::Value y, mlir::Value scale,
                     mlir::Value zero, mlir::Type type);

/// A tensor with the scale and the zero point that its least and its largest element
/// ask for, as DynamicQuantizeLinear chooses them.
struct DynamicallyQuantized {
  mlir::Value bytes, scale, zero;
};
DynamicallyQuantized quantizeDynamically(OnnxNode &node, mlir::Value x);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_QUANTIZATION_H
