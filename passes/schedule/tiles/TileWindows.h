// Convolutions in registers that hold small matrices (RegisterTiles.h).
//
// Pointwise convolutions are products of matrices. Others read their windows from a copy of
// some rows of the input, with its padding, in which the positions of those rows of results
// are rows of a matrix for each kernel position: what lies between the end of a row and the
// beginning of the next one is computed as well, and not stored.
//
//   a kernel of 3 x 3, rows of 4 positions: the copy has rows of 6, kernel position (1, 2)
//   reads from the 8th on
//     0 0 0 0 0 0 | 0 a b c d 0 | 0 e f g h 0      results: y y y y - - y y y y
//
// With strides there is a copy for each remainder that kernel positions leave, so that
// neighbouring results read neighbouring positions.

#ifndef INGOT_PASSES_SCHEDULE_TILES_TILEWINDOWS_H
#define INGOT_PASSES_SCHEDULE_TILES_TILEWINDOWS_H

#include "passes/schedule/Anchors.h"
#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Builds the loops by `b.plan`: {columns, lines, order, parts, rows}.
void emitTileConvolution(KernelBuilder &b, ConvolutionAnchor anchor);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_TILEWINDOWS_H
