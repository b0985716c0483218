// Products that other imports build on.

#ifndef INGOT_GRAPH_OPS_CONTRACTION_H
#define INGOT_GRAPH_OPS_CONTRACTION_H

#include "dialects/graph/OnnxImport.h"

namespace ingot::graph {

/// The product of `a` and `b` by ONNX's (NumPy's) rule for any ranks.
mlir::FailureOr<mlir::Value> importMatMul(OnnxNode &node, mlir::Value a,
                                          mlir::Value b);

/// A convolution with the attributes of `node`; `bias` may be null.
mlir::FailureOr<mlir::Value> importConv(OnnxNode &node, mlir::Value x,
                                        mlir::Value w, mlir::Value bias);

} // namespace ingot::graph

#endif // INGOT_GRAPH_OPS_CONTRACTION_H
