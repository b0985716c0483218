// The loops of a convolution around its register tiles.
//
// Tensors are channels-last. Weights are packed into panels; each panel belongs
// to one group of channels. A tile computes some adjacent output columns (or
// any adjacent output positions, for 1x1 kernels) of the output channels of one
// panel. Its reduction runs over kernel rows, kernel columns and input
// channels, and reads the input in place, without im2col. Loop bounds skip
// kernel rows in the padding; border tiles are specialized for kernel columns
// in the padding.
//
// Int8 elements are multiplied by dot products with 32-bit sums (kernel.dot). A
// dot product takes a group of adjacent input channels, which are contiguous in
// the packed weights; if there are few channels, it takes a group of adjacent
// kernel columns.

#ifndef INGOT_PASSES_SCHEDULE_TILES_CONVOLUTIONLOOPS_H
#define INGOT_PASSES_SCHEDULE_TILES_CONVOLUTIONLOOPS_H

#include "passes/schedule/tiles/PackedRows.h"

namespace ingot::schedule {

/// Builds the loops of a convolution, and of the pool that follows it if `pool`
/// is not null, by `b.plan`: {columns, order, rows, splits}, and {packed, parts}
/// if it packs the input.
void emitConvolution(KernelBuilder &b, graph::ConvOp conv,
                     mlir::Operation *pool);

/// Builds one row of a convolution by `b.plan`: {columns, rows, splits}.
/// `position` is the batch and row of the result, and `stored` the index of
/// that row in the result's buffer. `read` is the index of the input row in the
/// input's buffer; it is used for pointwise convolutions only. Operators after
/// the convolution must read operands of the result's shape at `stored` only.
/// If the plan packs the input, each tile packs its rows in `packed`.
void emitConvolutionRow(KernelBuilder &b, graph::ConvOp conv,
                        llvm::ArrayRef<graph::Expr> position,
                        llvm::ArrayRef<graph::Expr> read,
                        llvm::ArrayRef<graph::Expr> stored,
                        const PackedMemory &packed);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_CONVOLUTIONLOOPS_H
