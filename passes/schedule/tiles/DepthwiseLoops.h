// The loops of a convolution with one filter per channel.
//
// Channels-last, vectors along the channels. For one row of outputs, tiles of
// neighbouring positions; per tile and vector of channels the sums stay in
// registers over all kernel positions, and each input vector is loaded once per
// kernel row.

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
