// The loops of a convolution with positions in vector lanes (PositionTiles.h).
//
// For each block of `lines` result rows, the required input rows are copied. A
// tile's sums stay in registers while its windows are read; the epilogue and
// the pool are computed with positions in lanes, too. Finally the results are
// transposed to channels-last and stored.

#ifndef INGOT_PASSES_SCHEDULE_TILES_POSITIONLOOPS_H
#define INGOT_PASSES_SCHEDULE_TILES_POSITIONLOOPS_H

#include "passes/schedule/Anchors.h"
#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Builds the loops by `b.plan`: {channels, lines, parts, vectors}.
void emitPositionConvolution(KernelBuilder &b, ConvolutionAnchor anchor);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_POSITIONLOOPS_H
