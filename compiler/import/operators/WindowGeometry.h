// The geometry of the windows of convolutions and pools: ONNX's attributes for
// strides, pads and dilations, in one struct.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_WINDOWGEOMETRY_H
#define INGOT_COMPILER_IMPORT_OPERATORS_WINDOWGEOMETRY_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

/// ONNX's attribute auto_pad.
enum class AutoPad { No, Valid, SameUpper, SameLower };
mlir::FailureOr<AutoPad> readAutoPad(OnnxNode &node);
/// Returns ONNX's attribute pads: the padding before each of `rank` spatial
/// axes, then that after each, all 0 by default. Fails if it has another length
/// or a negative entry.
mlir::FailureOr<llvm::SmallVector<int64_t>> readPads(OnnxNode &node,
                                                     size_t rank);

struct WindowGeometry {
  llvm::SmallVector<int64_t> strides, dilations, low, high;
  Dims kernel, output;

  /// An axis whose padding by auto_pad depends on a dynamic size. The axis is
  /// padded, or cropped at the end, to `size` elements; the convolution or pool
  /// is then applied to it without padding. If the number of added elements is
  /// odd, `isUpper` (SAME_UPPER) puts the additional one at the end.
  struct Padded {
    size_t axis;
    Dim size;
    bool isUpper;
  };
  llvm::SmallVector<Padded> padded;

  /// Reads strides, dilations, pads, auto_pad and ceil_mode for the
  /// channels-first input `x`. If sizes are dynamic, assumes that the kernel
  /// fits into the padded input. If `pads` is false, the caller does not
  /// support axes in `padded`, so a node that needs one fails.
  static mlir::FailureOr<WindowGeometry> read(OnnxNode &node, mlir::Value x,
                                              llvm::ArrayRef<Dim> kernel,
                                              bool pads = false);
  /// Reads the geometry of a node whose kernel has static sizes.
  static mlir::FailureOr<WindowGeometry> read(OnnxNode &node, mlir::Value x,
                                              llvm::ArrayRef<int64_t> kernel,
                                              bool pads = false) {
    return read(node, x,
                llvm::ArrayRef<Dim>(Dims(kernel.begin(), kernel.end())), pads);
  }
  /// Returns the number of padding elements before an axis of `x`, channels
  /// first, as a vector with one integer.
  mlir::Value before(OnnxNode &node, mlir::Value x, const Padded &each) const;
  /// Returns `x`, channels first, with the axes in `padded` padded at run time
  /// by `fill`.
  mlir::Value pad(OnnxNode &node, mlir::Value x, double fill) const;
  /// Returns the sizes of the kernel, which must be static.
  llvm::SmallVector<int64_t> knownKernel() const {
    return llvm::map_to_vector(kernel, [](const Dim &n) { return *n.known(); });
  }
  /// Returns the type of the result of a convolution or pool, channels last.
  mlir::RankedTensorType resultType(mlir::Value x, const Dim &channels) const {
    return tensorOf(windowShape(dimsOf(x), output, channels), elementOf(x));
  }

private:
  mlir::LogicalResult readAxis(OnnxNode &node, mlir::Value x, size_t axis,
                               AutoPad autoPad, int64_t low, int64_t high,
                               bool pads);
};

/// Transpose a value from [N, C, spatial...] to [N, spatial..., C] and back.
mlir::Value toChannelsLast(OnnxNode &node, mlir::Value x);
mlir::Value toChannelsFirst(OnnxNode &node, mlir::Value x);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_WINDOWGEOMETRY_H
