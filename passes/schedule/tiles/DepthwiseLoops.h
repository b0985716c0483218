// The loops of depthwise convolutions and of convolutions with small groups of
// channels.
//
// Tensors are channels-last, and vectors run along the output channels. A row
// of outputs is divided into tiles of adjacent positions. For each tile and
// vector of channels, the sums stay in registers over all kernel positions, and
// each input vector is loaded once per kernel row.
//
// If a vector has the outputs of several groups of channels, the inputs of
// these groups are loaded at once and shuffled to the lanes of their group. For
// groups a, b with 2 inputs and 4 outputs each:
//
//   loaded                 a0 a1 b0 b1
//   for the first input    a0 a0 a0 a0 b0 b0 b0 b0
//   for the second input   a1 a1 a1 a1 b1 b1 b1 b1

#ifndef INGOT_PASSES_SCHEDULE_TILES_DEPTHWISELOOPS_H
#define INGOT_PASSES_SCHEDULE_TILES_DEPTHWISELOOPS_H

#include "passes/schedule/tiles/ColumnTiles.h"

namespace ingot::schedule {

/// Returns the maximum number of output positions of a tile whose sums fit the
/// registers.
int64_t mostDepthwiseColumns(const WindowAxis &axis,
                             const TargetDescription &target);

/// Estimates the cycles for one result row, one kernel row and one vector of
/// channels, in tiles of `width` positions.
double depthwiseRowCycles(const WindowAxis &axis, int64_t width,
                          const TargetDescription &target);

/// A row of a convolution's result.
struct DepthwiseRow {
  /// The batch and spatial indices of the row, without the last spatial index:
  /// `position` in the whole result, `stored` in the result's buffer.
  llvm::ArrayRef<graph::Expr> position, stored;
  /// Maps the indices of an input row to those in the input's buffer; null for
  /// identity.
  llvm::function_ref<graph::Exprs(llvm::ArrayRef<graph::Expr>)> placeOfInput;
};

/// Emits the code that computes, of a result row, those channels that belong to
/// `part` (the share of one thread). The entry `columns` of `b.plan` is the
/// number of positions of a tile.
void emitDepthwiseRow(KernelBuilder &b, graph::ConvOp conv,
                      const DepthwiseRow &row, const KernelBuilder::Part &part);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_DEPTHWISELOOPS_H
