// What passes ask of convolutions and matrix products alike.

#ifndef INGOT_GRAPH_OPS_CONTRACTION_H
#define INGOT_GRAPH_OPS_CONTRACTION_H

#include "mlir/IR/Operation.h"

namespace ingot::graph {

/// Whether it is known when compiling how many products each element of the result is the
/// sum of: the sizes of a convolution's weights, or the last of a matrix product's left
/// operand.
bool hasKnownSteps(mlir::Operation *op);

} // namespace ingot::graph

#endif // INGOT_GRAPH_OPS_CONTRACTION_H
