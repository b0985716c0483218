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

/// A convolution with the attributes of `node`; `bias` may be null.
mlir::FailureOr<mlir::Value> importConv(OnnxNode &node, mlir::Value x,
                                        mlir::Value w, mlir::Value bias);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_PRODUCTS_H
