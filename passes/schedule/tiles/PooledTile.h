// The tile of a convolution that is fused with a pool after it, whose windows
// are disjoint. The convolution results of a window are computed one window row
// after the other and combined in registers, so that the convolution's result
// is never stored.

#ifndef INGOT_PASSES_SCHEDULE_TILES_POOLEDTILE_H
#define INGOT_PASSES_SCHEDULE_TILES_POOLEDTILE_H

#include "passes/schedule/tiles/PanelKernel.h"

namespace ingot::schedule {

/// Emits the pool's results that depend on `count` positions of the convolution
/// along its last spatial axis, from position `first` on, if `count` is a
/// multiple of the pool window's width. If `count` is less than that width,
/// emits the results of one window, whose positions are computed `count` at a
/// time.
///
/// `position` is the batch and spatial index of the pool's results, without the
/// last axis. `sums(outer, first)` computes `count` positions of the
/// convolution from `first` on; `outer` is their batch and spatial index,
/// without the last axis. `columns` are the vectors of a panel of weights, and
/// `firstColumn` is its first output channel. `bias` is added to the sums; it
/// may be null.
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
