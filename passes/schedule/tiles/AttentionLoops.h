// Loops of attention on CPUs that never store the whole matrix of scores.
//
//   softmax(f(Q x K)) x V, with an elementwise function f
//
// A work item is a block of queries of one head. Its scores are computed for
// one block of keys at a time and stay in the inner caches for the softmax and
// the product with the values. With several blocks of keys, previous sums are
// rescaled when a larger score is found (online softmax). For each query:
//
//     largest = -inf, total = 0, sums = 0
//     for a block of keys:
//       scores = f(Q x K)
//       larger = max(largest, scores)
//       weights = e^(scores - larger), correction = e^(largest - larger)
//       total = total * correction + sum of the weights
//       sums = sums * correction + weights x V
//       largest = larger
//     y = sums / total
//
// The queries of a block are copied once, after the elementwise operators that
// precede the product. Keys and values are read in place along their last axes.
//
// With a dynamic number of keys, the last vector of scores in a block overlaps
// the previous one. If there are fewer keys than lanes, scores are computed one
// by one.
//
// With few queries, the limit is the memory bandwidth for keys and values. In
// this case, a block has all queries of a head, and keys are read as a KV cache
// stores them: the elements of a key are contiguous, and a score is the sum of
// the lanes of a vector of products.

#ifndef INGOT_PASSES_SCHEDULE_TILES_ATTENTIONLOOPS_H
#define INGOT_PASSES_SCHEDULE_TILES_ATTENTIONLOOPS_H

#include "passes/schedule/AttentionAnchor.h"
#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Builds the kernel of the group around `anchor`. The builder's plan has the
/// `queries` and `keys` of a block, and the sizes of the tiles of both matrix
/// products: `score_rows`, `score_columns`, `value_rows` and `value_columns`.
void buildAttention(KernelBuilder &b, AttentionAnchor anchor);
/// Builds the kernel for few queries and for keys whose elements are contiguous
/// (AttentionAnchor::keyRows). The builder's plan has the `queries` and `keys`
/// of a block, and the size of the tiles of weighted values, `value_rows` and
/// `value_columns`.
void buildDecodeAttention(KernelBuilder &b, AttentionAnchor anchor);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_ATTENTIONLOOPS_H
