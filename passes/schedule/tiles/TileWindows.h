// Convolutions in registers that hold matrix tiles (RegisterTiles.h).
//
// Pointwise convolutions are matrix products. Other convolutions read their
// windows from a copy of some input rows with padding. In the copy, the
// positions of the corresponding result rows are rows of a matrix for each
// kernel position; positions between the end of a row and the start of the next
// one are computed as well, but not stored.
//
//   3 x 3 kernel, rows of 4 positions: the copy has rows of 6, and kernel
//   position (1, 2) reads from index 8 on
//     0 0 0 0 0 0 | 0 a b c d 0 | 0 e f g h 0      results: y y y y - - y y y y
//
// With strides there is a copy for each remainder of the index modulo the
// stride, so that adjacent results read adjacent positions.

#ifndef INGOT_PASSES_SCHEDULE_TILES_TILEWINDOWS_H
#define INGOT_PASSES_SCHEDULE_TILES_TILEWINDOWS_H

#include "passes/schedule/Anchors.h"
#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Builds the loops by `b.plan`: {columns, lines, order, parts, rows}.
void emitTileConvolution(KernelBuilder &b, ConvolutionAnchor anchor);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_TILEWINDOWS_H
