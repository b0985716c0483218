// Loops of one filter of integers per channel, in whole registers.
//
// A row of results is a stream of registers (ChannelStream.h), each of which keeps its
// weights while the loop goes down the rows. Where there are too many weights for that, two
// rows of results are computed together, which share what is interleaved:
//
//   result rows 0, 1:   input row 0 for 0,  1 for 0 and 1,  2 for 0 and 1,  3 for 1

#ifndef INGOT_PASSES_SCHEDULE_TILES_STREAMLOOPS_H
#define INGOT_PASSES_SCHEDULE_TILES_STREAMLOOPS_H

#include "passes/schedule/tiles/ChannelStream.h"

namespace ingot::schedule {

/// Whether the weights of a register stay in registers from one row to the next, beside
/// the sums and what is interleaved.
bool keepsWeights(graph::ConvOp conv, const ChannelStream &stream,
                  const TargetDescription &target);

/// Whether windows are of two axes, and few enough vectors of weights to be unrolled.
bool isUnrolled(graph::ConvOp conv, const ChannelStream &stream,
                const TargetDescription &target);

/// Builds the kernel of a group around `conv`, by the plan's `rows`.
void emitStream(KernelBuilder &b, graph::ConvOp conv);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_STREAMLOOPS_H
