// Convolutions in registers that hold two-dimensional tiles of a matrix
// (RegisterTiles.h).
//
// Pointwise convolutions are matrix products. Other convolutions read their
// windows from a copy of some input rows with padding. For each kernel
// position, the elements of the copy that adjacent result positions read are
// adjacent rows of a matrix. This includes positions between the end of a
// result row and the start of the next one, which are computed but not stored.
//
// For a 3 x 3 kernel and rows of 4 positions (a to d, e to h), the copy has
// rows of 6 positions, and kernel position (1, 2) reads from index 8 of the
// copy on:
//
//   copy     0 0 0 0 0 0 | 0 a b c d 0 | 0 e f g h 0
//   results  y y y y - - y y y y            (- is computed, but not stored)
//
// With a stride, there is a copy for each remainder of the index modulo the
// stride, so that adjacent results read adjacent positions.

#ifndef INGOT_PASSES_SCHEDULE_TILES_TILEWINDOWS_H
#define INGOT_PASSES_SCHEDULE_TILES_TILEWINDOWS_H

#include "passes/schedule/Anchors.h"
#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Builds the loops of a convolution by `b.plan`: {columns, lines, order,
/// parts, rows}.
void emitTileConvolution(KernelBuilder &b, ConvolutionAnchor anchor);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_TILEWINDOWS_H
