// The loops of a convolution whose vector lanes are output positions
// (PositionTiles.h).
//
// For each block of `lines` result rows, the input rows that they need are
// copied. A tile's sums stay in registers while its windows are read. In the
// epilogue and the pool, lanes are positions, too. Finally the results are
// transposed to channels-last and stored.

#ifndef INGOT_PASSES_SCHEDULE_TILES_POSITIONLOOPS_H
#define INGOT_PASSES_SCHEDULE_TILES_POSITIONLOOPS_H

#include "passes/schedule/Anchors.h"
#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Builds the loops of a convolution by `b.plan`: {channels, lines, parts,
/// vectors}.
void emitPositionConvolution(KernelBuilder &b, ConvolutionAnchor anchor);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_POSITIONLOOPS_H
