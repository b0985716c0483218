// Loops of integer depthwise convolutions in whole registers.
//
// A row of results is a stream of registers (ChannelStream.h), each of which
// keeps its weights while the loop runs over the rows. If there are too many
// weights for that, two result rows are computed together and share interleaved
// input rows:
//
//   result rows 0, 1:
//     input row 0 for 0,  1 for 0 and 1,  2 for 0 and 1,  3 for 1

#ifndef INGOT_PASSES_SCHEDULE_TILES_STREAMLOOPS_H
#define INGOT_PASSES_SCHEDULE_TILES_STREAMLOOPS_H

#include "passes/schedule/tiles/ChannelStream.h"

namespace ingot::schedule {

/// Whether the weights of a register of results stay in registers between rows,
/// beside the sums and the interleaved input.
bool keepsWeights(graph::ConvOp conv, const ChannelStream &stream,
                  const TargetDescription &target);

/// Whether the window is two-dimensional and its vectors of weights are few
/// enough to unroll it.
bool isUnrolled(graph::ConvOp conv, const ChannelStream &stream,
                const TargetDescription &target);

/// Builds the kernel of a group around `conv`, by the plan's `rows`.
void emitStream(KernelBuilder &b, graph::ConvOp conv);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_STREAMLOOPS_H
