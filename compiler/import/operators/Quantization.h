// Conversions between floats and quantized 8-bit integers.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_QUANTIZATION_H
#define INGOT_COMPILER_IMPORT_OPERATORS_QUANTIZATION_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

/// Returns (x - zero) * scale as floats of the scale's type. Scale and zero
/// point broadcast to `x`; a null zero point means 0.
mlir::Value dequantize(OnnxNode &node, mlir::Value x, mlir::Value scale,
                       mlir::Value zero);

/// Returns round(y / scale) + zero as integers of the zero point's type. A null
/// `zero` means a zero point of 0 of type `type`.
mlir::Value quantize(OnnxNode &node, mlir::Value y, mlir::Value scale,
                     mlir::Value zero, mlir::Type type);

/// Repeats each element of a scale or zero point `block` times along `axis`,
/// and cuts the axis of the result to `size` elements.
mlir::Value repeatedAlong(OnnxNode &node, mlir::Value parameter, int64_t axis,
                          int64_t block, int64_t size);

/// A tensor quantized to uint8. The scale and zero point are computed from the
/// minimum and maximum of the tensor at run time, as DynamicQuantizeLinear
/// does.
struct DynamicallyQuantized {
  mlir::Value bytes, scale, zero;
};
DynamicallyQuantized quantizeDynamically(OnnxNode &node, mlir::Value x);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_QUANTIZATION_H
