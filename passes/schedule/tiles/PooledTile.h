// A pool with disjoint windows, fused with the convolution before it: the rows
// of a window are computed one after the other and combined in registers, so
// that the convolution's result is never stored.

#ifndef INGOT_PASSES_SCHEDULE_TILES_POOLEDTILE_H
#define INGOT_PASSES_SCHEDULE_TILES_POOLEDTILE_H

#include "passes/schedule/tiles/PanelKernel.h"

namespace ingot::schedule {

/// Emits the pool's results for the convolution's columns from `first` on: for
/// `count` columns, if `count` is a multiple of the window's width, else for
/// one window in parts of `count` columns. `position` is the batch and spatial
/// index of the pool's result, without the last axis. `sums` computes `count`
/// columns of the convolution from `first` on, at the batch and spatial index
/// `outer`; `bias` is added to these sums.
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
