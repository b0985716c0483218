// The loops of a convolution around its register tiles.
//
// Channels-last, weights packed into panels, each of them of one group of channels. A tile is some
// neighbouring output columns (or, for 1x1 kernels, any neighbouring positions)
// by one panel of output channels; its reduction runs over kernel rows, kernel
// columns and input channels, reading the input in place: nothing is unrolled
// into a matrix first. Kernel rows in the padding are cut off by loop bounds,
// kernel columns by building border tiles for just their positions.
//
// Bytes are multiplied in groups of neighbouring input channels (kernel.dot), which
// their weights have side by side, and summed in 32 bits; few channels in groups of
// neighbouring kernel columns.

#ifndef INGOT_PASSES_SCHEDULE_TILES_CONVOLUTIONLOOPS_H
#define INGOT_PASSES_SCHEDULE_TILES_CONVOLUTIONLOOPS_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Builds the loops of a convolution, and of the pool behind it unless that is null,
/// by `b.plan`: {columns, order, rows, splits}.
void emitConvolution(KernelBuilder &b, graph::ConvOp conv,
                     mlir::Operation *pool);

/// Builds one row of a convolution by `b.plan`: {columns, rows, splits}. `position` is
/// the batch and the row of the result, `stored` where the result's buffer has that
/// row; of a pointwise convolution, `read` is where the input's buffer has it. What
/// follows the convolution reads nothing of the result's shape but at `stored`.
void emitConvolutionRow(KernelBuilder &b, graph::ConvOp conv,
                        llvm::ArrayRef<graph::Expr> position,
                        llvm::ArrayRef<graph::Expr> read,
                        llvm::ArrayRef<graph::Expr> stored);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_CONVOLUTIONLOOPS_H
