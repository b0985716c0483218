// The loops of a convolution whose vectors have positions in their lanes
// (PositionTiles.h).
//
// For each block of `lines` rows of the result, the rows of the input that they read are
// copied. A tile's sums stay in registers while its windows are read; what follows the
// convolution, and the pool, are computed of positions as well. Then lanes become those of
// channels, as results are stored.

#ifndef INGOT_PASSES_SCHEDULE_TILES_POSITIONLOOPS_H
#define INGOT_PASSES_SCHEDULE_TILES_POSITIONLOOPS_H

#include "passes/schedule/Anchors.h"
#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Builds the loops by `b.plan`: {channels, lines, parts, vectors}.
void emitPositionConvolution(KernelBuilder &b, ConvolutionAnchor anchor);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_POSITIONLOOPS_H
