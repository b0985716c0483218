// Queries common to convolutions and matrix multiplications.

#ifndef INGOT_GRAPH_OPS_CONTRACTION_H
#define INGOT_GRAPH_OPS_CONTRACTION_H

#include "mlir/IR/Operation.h"

namespace ingot::graph {

/// Whether K, the number of products that each element of the result sums, is
/// known when compiling: the weights of a convolution have constant sizes, or
/// the last axis of a matmul's left operand does.
bool hasKnownSteps(mlir::Operation *op);

} // namespace ingot::graph

#endif // INGOT_GRAPH_OPS_CONTRACTION_H
