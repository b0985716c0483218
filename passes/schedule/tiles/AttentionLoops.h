// Attention on CPUs without storing the matrix of scores.
//
//   softmax(f(Q x K)) x V, f elementwise
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
//     y = sums / total
//
// The queries of a block are copied once, after the elementwise operators that
// precede the product; keys and values are read in place along their last axes.
//
// With a dynamic number of keys, the last vector of scores in a block overlaps
// the previous one. Fewer keys than lanes are scored one by one.
//
// With few queries, memory bandwidth for keys and values is the limit. Then a
// block has all queries of a head, and keys are read in the layout of a KV
// cache, along their own elements: a score is a horizontal sum of products.

#ifndef INGOT_PASSES_SCHEDULE_TILES_ATTENTIONLOOPS_H
#define INGOT_PASSES_SCHEDULE_TILES_ATTENTIONLOOPS_H

#include "passes/schedule/AttentionAnchor.h"
#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Builds the kernel of the group around `anchor` by the builder's plan:
/// {queries, keys} of a block, and {columns, rows} of the tiles of both
/// products.
void buildAttention(KernelBuilder &b, AttentionAnchor anchor);
/// Builds the kernel for few queries and contiguous keys
/// (AttentionAnchor::keyRows). The plan has {queries, keys} of a block and
/// {columns, rows} of the tiles of values.
void buildDecodeAttention(KernelBuilder &b, AttentionAnchor anchor);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_ATTENTIONLOOPS_H
