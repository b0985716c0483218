// Sums of products of 8-bit integers that fit into 16 bits.
//
// A target without int8 dot products may have an instruction that adds pairs of
// products in 16 bits and saturates. For constant weights, the compiler knows
// whether such a sum can exceed 16 bits.

#ifndef INGOT_GRAPH_SHORTSUMS_H
#define INGOT_GRAPH_SHORTSUMS_H

#include "mlir/IR/BuiltinAttributes.h"

#include <vector>

namespace ingot::graph {

/// Says, on a convolution or matmul of ui8 by si8, that the sums of so many
/// pairs of products fit into 16 bits, whatever the left operand is. Each pair
/// is two adjacent K steps of one column; the first begins at an even step. The
/// pairs of a sum have the same place in adjacent groups of four K steps; the
/// groups of K steps 0, 1, ... are combined from the first one on.
inline constexpr llvm::StringLiteral kShortSumsAttr = "graph.short_sums";

/// Says, on a contraction with graph.short_sums, for which share of its weights
/// this holds: of the groups of four K steps of each panel of columns, which is
/// all that is divided into pairs. A byte for each group of a panel, which
/// follows the packed weights, says whether it does not hold. 1 if absent.
inline constexpr llvm::StringLiteral kShortShareAttr = "graph.short_share";

/// Which weights permit sums of products in 16 bits.
struct ShortSums {
  /// The number of pairs of products whose sums fit (graph.short_sums); 0: none.
  int64_t pairs = 0;
  /// The share of groups of weights for which it holds (graph.short_share).
  double share = 1;
};

/// The number of K steps in a group.
inline constexpr int64_t kShortGroup = 4;

/// Returns a byte for each panel of `panel` columns of the weights, and each of
/// its groups of K steps: 1 if the sum of a pair of products may not fit into 16
/// bits. `weights` and `axes` are those of pairsInShortSums.
std::vector<char> wideGroups(mlir::ElementsAttr weights, int64_t axes,
                             int64_t panel);

/// Returns how many pairs of products of the weights by ui8 always fit into 16
/// bits when they are added up (graph.short_sums); 0 if not even all single
/// pairs do. The last axis of `weights`, of type si8, has the columns. The K
/// steps are the other axes, of which the last `axes` ones are divided into
/// pairs.
int64_t pairsInShortSums(mlir::ElementsAttr weights, int64_t axes);

} // namespace ingot::graph

#endif // INGOT_GRAPH_SHORTSUMS_H
