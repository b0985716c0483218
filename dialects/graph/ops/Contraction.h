// Queries common to convolutions and matrix multiplications.

#ifndef INGOT_GRAPH_OPS_CONTRACTION_H
#define INGOT_GRAPH_OPS_CONTRACTION_H

#include "mlir/IR/Operation.h"

namespace ingot::graph {

/// Whether K, the number of products that are summed to each element of the
/// result, is a compile-time constant: the weights of a convolution have
/// constant sizes, or the last axis of a matmul's left operand has a constant
/// size.
bool hasKnownSteps(mlir::Operation *op);

/// Returns the multiply-adds of a contraction (convolution or matrix product):
/// for each element of the result, one for each weight that contributes to it.
/// For a group, the sum of its operators. 0 for other operators.
int64_t multiplyAddsOf(mlir::Operation *op);

} // namespace ingot::graph

#endif // INGOT_GRAPH_OPS_CONTRACTION_H
