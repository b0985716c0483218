// Sums of products of 8-bit integers that fit into 16 bits.
//
// A target without int8 dot products may have an instruction that adds pairs of
// products in 16 bits and saturates. For constant weights, the
// compiler knows whether such a sum can exceed 16 bits.

#ifndef INGOT_GRAPH_SHORTSUMS_H
#define INGOT_GRAPH_SHORTSUMS_H

#include "mlir/IR/BuiltinAttributes.h"

namespace ingot::graph {

/// Says, on a convolution or matmul of ui8 by si8, that the sums of so many
/// pairs of products fit into 16 bits, whatever the left operand is. Each pair
/// is two adjacent K steps of one column; the first begins at an even step.
inline constexpr llvm::StringLiteral kShortSumsAttr = "graph.short_sums";

/// Returns how many pairs of products of the weights by ui8 always fit into 16
/// bits when they are added up; 0 if not even all single pairs do. The last
/// axis of `weights`, of type si8, has the columns. The K steps are the other
/// axes, of which the last `axes` ones are divided into pairs.
int64_t pairsInShortSums(mlir::ElementsAttr weights, int64_t axes);

} // namespace ingot::graph

#endif // INGOT_GRAPH_SHORTSUMS_H
