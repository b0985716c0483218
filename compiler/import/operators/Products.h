// Products that other imports build on.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_PRODUCTS_H
#define INGOT_COMPILER_IMPORT_OPERATORS_PRODUCTS_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

/// The product of `a` and `b` by ONNX's (NumPy's) rule for any ranks, summed in
/// their type.
mlir::FailureOr<mlir::Value> importMatMul(OnnxNode &node, mlir::Value a,
                                          mlir::Value b);

/// The same of narrow integers, summed in si32. `zeros` are the zero points of a
/// and b, or none.
mlir::FailureOr<mlir::Value> importIntegerMatMul(OnnxNode &node, mlir::Value a,
                                                 mlir::Value b,
                                                 mlir::ValueRange zeros);

/// The same of integers without the zero points of rows of `a` and of columns of `b`:
/// each null, or of one element, or of one for each row or column, or a shape that
/// broadcasts.
mlir::FailureOr<mlir::Value> importIntegerProduct(OnnxNode &node, mlir::Value a,
                                                  mlir::Value aZero,
                                                  mlir::Value b,
                                                  mlir::Value bZero);

/// `parameter`, a scale or zero point (or null), so that it broadcasts to `operand`: it
/// has one element, or one for each place on `axis` (-1: none), or a
/// shape that broadcasts as it is.
mlir::FailureOr<mlir::Value> alignParameter(OnnxNode &node,
                                            mlir::Value parameter, int64_t axis,
                                            mlir::Value operand);

/// A matrix of bytes with its scale and its zero point (which may be null).
struct ScaledMatrix {
  mlir::Value bytes, scale, zero;
};

/// The product of two such matrices as floats. `a` has one scale, `b` one or one for
/// each column.
mlir::FailureOr<mlir::Value> importScaledProduct(OnnxNode &node,
                                                 const ScaledMatrix &a,
                                                 const ScaledMatrix &b);

/// Sums of products of integers times the scales of both operands (floats, aligned),
/// quantized by the scale and the zero point of the result.
mlir::FailureOr<mlir::Value> requantize(OnnxNode &node, mlir::Value sums,
                                        mlir::Value aScale, mlir::Value bScale,
                                        mlir::Value yScale, mlir::Value yZero);

/// A convolution with the attributes of `node`; `bias` may be null.
mlir::FailureOr<mlir::Value> importConv(OnnxNode &node, mlir::Value x,
                                        mlir::Value w, mlir::Value bias);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_PRODUCTS_H
