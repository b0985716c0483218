// Strides, pads, dilations.
//
// What convolutions and pools share: ONNX's attributes read into one struct,
// and the range of kernel positions that lie inside the input.

#ifndef INGOT_GRAPH_OPS_WINDOWGEOMETRY_H
#define INGOT_GRAPH_OPS_WINDOWGEOMETRY_H

#include "dialects/graph/OnnxImport.h"

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
};

/// The kernel positions [lo, hi) of one axis that lie inside an input of `size`
/// when the window starts at `start` (which may be negative).
std::pair<Expr, Expr> insideWindow(Expr start, int64_t kernel, int64_t dilation,
                                   int64_t size);

/// A loop over the inside positions of all axes at output position `idx`
/// (batch, spatial..., channel); `body` gets the kernel and input positions.
Expr overWindow(ElementBuilder &b, llvm::ArrayRef<Expr> idx,
                llvm::ArrayRef<int64_t> inputShape,
                llvm::ArrayRef<int64_t> kernel, llvm::ArrayRef<int64_t> strides,
                llvm::ArrayRef<int64_t> dilations, llvm::ArrayRef<int64_t> low,
                Expr init,
                llvm::function_ref<Expr(llvm::ArrayRef<Expr> k,
                                        llvm::ArrayRef<Expr> at, Expr acc)>
                    body);

/// transpose [N, C, spatial...] -> [N, spatial..., C] and back, of a value.
mlir::Value toChannelsLast(OnnxNode &node, mlir::Value x);
mlir::Value toChannelsFirst(OnnxNode &node, mlir::Value x);
mlir::Value buildTranspose(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value x, llvm::ArrayRef<int64_t> perm);
mlir::Value buildReshape(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value x, llvm::ArrayRef<int64_t> shape);

} // namespace ingot::graph

#endif // INGOT_GRAPH_OPS_WINDOWGEOMETRY_H
