// Strides, pads, dilations.
//
// What convolutions and pools share: ONNX's attributes read into one struct,
// and the range of kernel positions that lie inside the input.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_WINDOWGEOMETRY_H
#define INGOT_COMPILER_IMPORT_OPERATORS_WINDOWGEOMETRY_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

/// ONNX's attribute auto_pad.
enum class AutoPad { No, Valid, SameUpper, SameLower };
mlir::FailureOr<AutoPad> readAutoPad(OnnxNode &node);

struct WindowGeometry {
  llvm::SmallVector<int64_t> kernel, strides, dilations, low, high, output;

  /// Reads strides, dilations, pads, auto_pad, ceil_mode for an input of
  /// `spatial` sizes.
  static mlir::FailureOr<WindowGeometry> read(OnnxNode &node,
                                              llvm::ArrayRef<int64_t> spatial,
                                              llvm::ArrayRef<int64_t> kernel);
  /// The type of the operator's result, channels last.
  mlir::RankedTensorType resultType(mlir::Value x, int64_t channels) const {
    return tensorOf(
        windowShape(dimsOf(x), Dims(output.begin(), output.end()), channels),
        elementOf(x));
  }
};

/// transpose [N, C, spatial...] -> [N, spatial..., C] and back, of a value.
mlir::Value toChannelsLast(OnnxNode &node, mlir::Value x);
mlir::Value toChannelsFirst(OnnxNode &node, mlir::Value x);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_WINDOWGEOMETRY_H
