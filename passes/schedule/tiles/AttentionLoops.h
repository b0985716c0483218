// Attention without its matrix of scores.
//
//   softmax(f(Q x K)) x V, f elementwise
//
// A part is a block of queries of one head. Its scores are computed for one block of
// keys at a time, and are read again, by the softmax and by the product with the values,
// while they are in the first caches. Where there are several blocks of keys, the
// largest score so far may turn out too small: what was summed with it is scaled when a
// larger one is found (online softmax). For each query:
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
// The queries of a block are copied once, with what is elementwise in front of them;
// keys and values are read in place, along their last axes.
//
// Where the number of keys is known only at run time, the last vector of a block's
// scores is that of its last keys: it may compute some again that the vector before has
// computed. Fewer keys than a vector has lanes are scored one by one.

// With few queries all of this takes as long as keys and values come from memory. Then a
// block has all queries of a head, and keys are read where they lie, along their own elements,
// as a cache stores them: a score is the sum of the lanes of products.

#ifndef INGOT_PASSES_SCHEDULE_TILES_ATTENTIONLOOPS_H
#define INGOT_PASSES_SCHEDULE_TILES_ATTENTIONLOOPS_H

#include "passes/schedule/AttentionAnchor.h"
#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Builds the kernel of the group around `anchor`, by the builder's plan: {queries, keys}
/// of a block, and the {columns, rows} of the tiles of both products.
void buildAttention(KernelBuilder &b, AttentionAnchor anchor);
/// The same for few queries, with keys along their elements (AttentionAnchor::keyRows): the
/// plan has {queries, keys} of a block and the {columns, rows} of tiles of values.
void buildDecodeAttention(KernelBuilder &b, AttentionAnchor anchor);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_ATTENTIONLOOPS_H
