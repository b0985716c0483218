// The code of recurrent layers with a given product of state and weights.

#ifndef INGOT_GRAPH_OPS_RECURRENT_H
#define INGOT_GRAPH_OPS_RECURRENT_H

#include "dialects/graph/GraphDialect.h"

#include <functional>

namespace ingot::graph {

/// How a kernel multiplies the state of a recurrent layer by packed weights
/// whose type is narrower than that of the sums.
struct NarrowProduct {
  /// The buffer [hidden] to which the layer rounds the state before each
  /// product.
  mlir::Value state;
  /// Adds the product of `state` and one panel of the weights to `sums`, a
  /// vector for each vector of columns, and returns the new sums.
  std::function<Exprs(Expr panel, llvm::ArrayRef<Expr> sums)> addPanel;
};

/// Emits the code of `layer`, an RNN, GRU or LSTM. Without `narrow`, weights
/// are widened when they are loaded.
void emitRecurrence(mlir::Operation *layer, BodyBuilder &b,
                    const NarrowProduct *narrow = nullptr);

} // namespace ingot::graph

#endif // INGOT_GRAPH_OPS_RECURRENT_H
