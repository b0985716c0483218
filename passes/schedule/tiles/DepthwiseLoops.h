// The loops of a convolution with one filter per channel, or with groups of few channels.
//
// Channels-last, vectors along the output channels. For one row of outputs, tiles of
// neighbouring positions; per tile and vector of channels the sums stay in
// registers over all kernel positions, and each input vector is loaded once per
// kernel row.
//
// Where a vector has the outputs of several groups, the inputs of these are loaded at
// once, and each goes to the lanes of its group:
//
//   groups of 2 inputs and 4 outputs   loaded  a0 a1 b0 b1
//                                      for the first input   a0 a0 a0 a0 b0 b0 b0 b0
//                                      for the second input  a1 a1 a1 a1 b1 b1 b1 b1

#ifndef INGOT_PASSES_SCHEDULE_TILES_DEPTHWISELOOPS_H
#define INGOT_PASSES_SCHEDULE_TILES_DEPTHWISELOOPS_H

#include "passes/schedule/tiles/ColumnTiles.h"

namespace ingot::schedule {

/// As many positions as a tile can have.
int64_t mostDepthwiseColumns(const WindowAxis &axis,
                             const TargetDescription &target);

/// Estimates the cycles for a vector of channels of one row and one kernel row, in
/// tiles of `width` positions.
double depthwiseRowCycles(const WindowAxis &axis, int64_t width,
                          const TargetDescription &target);

/// One row of a result.
struct DepthwiseRow {
  /// The batch and the position on the spatial axes but the last, of the result as a
  /// whole; and where the result's buffer has them.
  llvm::ArrayRef<graph::Expr> position, stored;
  /// Where the input's buffer has a row of the input; null: at the same place.
  llvm::function_ref<graph::Exprs(llvm::ArrayRef<graph::Expr>)> placeOfInput;
};

/// Builds one piece of the channels of a row by `b.plan`: {columns}.
void emitDepthwiseRow(KernelBuilder &b, graph::ConvOp conv,
                      const DepthwiseRow &row,
                      const KernelBuilder::Piece &piece);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_DEPTHWISELOOPS_H
