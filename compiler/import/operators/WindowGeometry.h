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
  llvm::SmallVector<int64_t> strides, dilations, low, high;
  Dims kernel, output;

  /// What is padded, and cropped behind, before windows are placed without pads: of
  /// axes where auto_pad depends on a size that only the run says.
  struct Padded {
    size_t axis;
    Dim size;
    bool isUpper;
  };
  llvm::SmallVector<Padded> padded;

  /// Reads strides, dilations, pads, auto_pad, ceil_mode for the input `x`, channels
  /// first. Of an input whose sizes are known only at run time a kernel fits into it.
  /// Unless the caller pads (`pads`), it gets no axes that have to be `padded`.
  static mlir::FailureOr<WindowGeometry> read(OnnxNode &node, mlir::Value x,
                                              llvm::ArrayRef<Dim> kernel,
                                              bool pads = false);
  /// The same with a kernel of numbers.
  static mlir::FailureOr<WindowGeometry> read(OnnxNode &node, mlir::Value x,
                                              llvm::ArrayRef<int64_t> kernel,
                                              bool pads = false) {
    return read(node, x,
                llvm::ArrayRef<Dim>(Dims(kernel.begin(), kernel.end())), pads);
  }
  /// `x`, channels first, with the elements `fill` around it that only the run counts.
  mlir::Value pad(OnnxNode &node, mlir::Value x, double fill) const;
  /// The kernel, where it is of numbers.
  llvm::SmallVector<int64_t> knownKernel() const {
    return llvm::map_to_vector(kernel, [](const Dim &n) { return *n.known(); });
  }
  /// The type of the operator's result, channels last.
  mlir::RankedTensorType resultType(mlir::Value x, const Dim &channels) const {
    return tensorOf(windowShape(dimsOf(x), output, channels), elementOf(x));
  }

private:
  mlir::LogicalResult readAxis(OnnxNode &node, mlir::Value x, size_t axis,
                               AutoPad autoPad, int64_t low, int64_t high,
                               bool pads);
};

/// transpose [N, C, spatial...] -> [N, spatial..., C] and back, of a value.
mlir::Value toChannelsLast(OnnxNode &node, mlir::Value x);
mlir::Value toChannelsFirst(OnnxNode &node, mlir::Value x);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_WINDOWGEOMETRY_H
