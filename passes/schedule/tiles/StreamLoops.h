// The loops of integer depthwise convolutions in whole registers.
//
// A row of results is a stream of registers (ChannelStream.h). For each
// register of a row, a loop runs over the rows; the register's weights stay in
// registers during that loop. If there are too many weights for that, two
// result rows are computed together and share interleaved input rows. With a
// 3x3 window and stride 1, result rows 0 and 1 read these input rows:
//
//   input row 0     for result row 0
//   input row 1, 2  for result rows 0 and 1
//   input row 3     for result row 1

#ifndef INGOT_PASSES_SCHEDULE_TILES_STREAMLOOPS_H
#define INGOT_PASSES_SCHEDULE_TILES_STREAMLOOPS_H

#include "passes/schedule/tiles/ChannelStream.h"

namespace ingot::schedule {

/// Whether the weights for a register of results stay in registers from row to
/// row, beside the sums and the interleaved input.
bool keepsWeights(graph::ConvOp conv, const ChannelStream &stream,
                  const TargetDescription &target);

/// Whether the window can be unrolled: it is two-dimensional and has few
/// vectors of weights.
bool isUnrolled(graph::ConvOp conv, const ChannelStream &stream,
                const TargetDescription &target);

/// Builds the kernel of a group around `conv`. The plan's `rows` is the number
/// of result rows that are computed together.
void emitStream(KernelBuilder &b, graph::ConvOp conv);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_STREAMLOOPS_H
