// Stores for convolutions and matrix products whose result can be viewed as a
// matrix with a row for each position.

#ifndef INGOT_PASSES_SCHEDULE_TILES_FLATSTORE_H
#define INGOT_PASSES_SCHEDULE_TILES_FLATSTORE_H

#include "passes/schedule/tiles/PanelKernel.h"

namespace ingot::schedule {

/// Returns a view of a buffer as [positions, columns]; null if its strides do
/// not allow it.
mlir::Value asMatrix(KernelBuilder &b, mlir::Value buffer, int64_t columns);

/// Like storeTile, for a tile whose rows are positions of the anchor's result,
/// from `first` on. Views the result as a matrix, so that no index must be
/// delinearized. Stores nothing and returns false if there is no such view, or
/// if an operand of the epilogue neither has the result's shape nor is a scalar
/// or a vector along the channels. `row` is the name of a position in the
/// generated code.
bool storeFlat(
    KernelBuilder &b, Tile &tile, mlir::Operation *anchor, graph::Expr first,
    graph::Expr firstColumn,
    llvm::function_ref<graph::Expr(graph::Expr sum, graph::Expr column)>
        beforeEpilogue = {},
    llvm::StringRef row = "position");

/// Prefetches the epilogue's operands that have the result's shape, on targets
/// that prefetch single cache lines. To be called before the K steps of a tile.
/// Without the prefetch, the tile would wait for data beyond the L2 cache while
/// its sums occupy the registers that later loads need. Does nothing for
/// operands that stay in the L2 cache and for tiles with many cache lines.
void fetchForEpilogue(KernelBuilder &b, const Tile &tile,
                      mlir::Operation *anchor, graph::Expr first,
                      graph::Expr firstColumn,
                      llvm::StringRef row = "position");

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_FLATSTORE_H
