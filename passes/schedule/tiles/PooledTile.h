// A pool behind a convolution.
//
// A pool over windows that do not overlap, computed with the convolution before
// it: the rows of a window one after the other, combined in registers, so that
// the convolution's result is never stored.

#ifndef INGOT_PASSES_SCHEDULE_TILES_POOLEDTILE_H
#define INGOT_PASSES_SCHEDULE_TILES_POOLEDTILE_H

#include "passes/schedule/tiles/PanelKernel.h"

namespace ingot::schedule {

/// The results for columns of the convolution from `first` on: `count` of them,
/// a multiple of the window's width, or a whole window in parts of `count`.
/// `position` is the batch and the result's position on the axes but the last.
/// `sums` computes `count` columns of the convolution from `first` on, at a
/// batch and a position on its axes but the last; `bias` is added to it.
void emitPooledTile(KernelBuilder &b, graph::ConvOp conv, mlir::Operation *pool,
                    llvm::ArrayRef<graph::Expr> position, graph::Expr first,
                    int64_t count, const ColumnVectors &columns,
                    graph::Expr firstColumn,
                    llvm::function_ref<Tile(llvm::ArrayRef<graph::Expr> outer,
                                            graph::Expr first)>
                        sums,
                    mlir::Value bias);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_POOLEDTILE_H
