// Stores of convolutions and products whose positions are the rows of a matrix.

#ifndef INGOT_PASSES_SCHEDULE_TILES_FLATSTORE_H
#define INGOT_PASSES_SCHEDULE_TILES_FLATSTORE_H

#include "passes/schedule/tiles/PanelKernel.h"

namespace ingot::schedule {

/// Returns a view of a buffer as [positions, columns]; null if its strides do
/// not allow it.
mlir::Value asMatrix(KernelBuilder &b, mlir::Value buffer, int64_t columns);

/// Like storeTile, for the positions of an anchor's result from `first` on. If
/// all operands of the epilogue have the result's shape or are vectors along
/// the channels, no index needs to be delinearized. Otherwise stores nothing
/// and returns false. `row` is the name of a position in the generated code.
bool storeFlat(
    KernelBuilder &b, Tile &tile, mlir::Operation *anchor, graph::Expr first,
    graph::Expr firstColumn,
    llvm::function_ref<graph::Expr(graph::Expr sum, graph::Expr column)>
        beforeEpilogue = {},
    llvm::StringRef row = "position");

/// Prefetches the epilogue's operands of the result's shape, before the steps
/// of a tile, on targets that prefetch cache lines. Otherwise the tile would
/// wait for data beyond the L2 cache while its sums block the registers for
/// later loads.
void fetchForEpilogue(KernelBuilder &b, const Tile &tile,
                      mlir::Operation *anchor, graph::Expr first,
                      graph::Expr firstColumn,
                      llvm::StringRef row = "position");

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_FLATSTORE_H
