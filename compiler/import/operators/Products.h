// Functions that build matrix multiplications and convolutions, for several
// import functions.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_PRODUCTS_H
#define INGOT_COMPILER_IMPORT_OPERATORS_PRODUCTS_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

/// Returns the matrix multiplication of `a` and `b` by NumPy's rules for any
/// ranks. The result has the element type of the operands.
mlir::Value importMatMul(OnnxNode &node, mlir::Value a, mlir::Value b);

/// Returns the matrix multiplication of `a` and `b`, 8-bit integers or
/// narrower, by NumPy's rules, accumulated in si32. `zeros` contains the zero
/// points of `a` and `b`, or is empty.
mlir::Value importIntegerMatMul(OnnxNode &node, mlir::Value a, mlir::Value b,
                                mlir::ValueRange zeros);

/// Returns the matrix multiplication of `a` and `b`, 8-bit integers or
/// narrower, accumulated in si32, with zero points for the rows of `a` and the
/// columns of `b`. A zero point is null, has one element, has one element per
/// row or column, or has a shape that broadcasts.
mlir::Value importIntegerProduct(OnnxNode &node, mlir::Value a,
                                 mlir::Value aZero, mlir::Value b,
                                 mlir::Value bZero);

/// Reshapes `parameter`, a scale or zero point (or null), so that it broadcasts
/// to `operand`. `parameter` has one element, or one element per position along
/// `axis` of `operand` (-1 if there is no such axis), or a shape that already
/// broadcasts. Fails, with a diagnostic, if its shape does not match `operand`.
mlir::FailureOr<mlir::Value> alignParameter(OnnxNode &node,
                                            mlir::Value parameter, int64_t axis,
                                            mlir::Value operand);

/// A quantized 8-bit matrix with its scale and zero point (which may be null).
struct ScaledMatrix {
  mlir::Value bytes, scale, zero;
};

/// Returns the matrix multiplication of two quantized matrices as floats. `a`
/// has one scale; `b` has one scale, or one per column.
mlir::Value importScaledProduct(OnnxNode &node, const ScaledMatrix &a,
                                const ScaledMatrix &b);

/// Requantizes the si32 accumulators `sums` of a matrix multiplication or
/// convolution: multiplies them by the scales of both operands and quantizes
/// the result with the scale `yScale` and the zero point `yZero`. The scales of
/// the operands are floats whose shapes broadcast to `sums`.
mlir::Value requantize(OnnxNode &node, mlir::Value sums, mlir::Value aScale,
                       mlir::Value bScale, mlir::Value yScale,
                       mlir::Value yZero);

/// Returns the convolution of `x` and `w` with the attributes of `node`; `bias`
/// may be null.
mlir::Value importConv(OnnxNode &node, mlir::Value x, mlir::Value w,
                       mlir::Value bias);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_PRODUCTS_H
