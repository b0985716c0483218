// Results of convolutions and products whose positions are the rows of a matrix.

#ifndef INGOT_PASSES_SCHEDULE_TILES_FLATSTORE_H
#define INGOT_PASSES_SCHEDULE_TILES_FLATSTORE_H

#include "passes/schedule/tiles/PanelKernel.h"

namespace ingot::schedule {

/// A buffer as [positions, columns]; null if its strides do not allow it.
mlir::Value asMatrix(KernelBuilder &b, mlir::Value buffer, int64_t columns);

/// As storeTile, for the positions of an anchor's result from `first` on, where all that
/// the epilogue reads has the result's shape or is along the channels: no index has to be
/// taken apart. Stores nothing and returns false where that does not hold. `row` is what a
/// position is called.
bool storeFlat(
    KernelBuilder &b, Tile &tile, mlir::Operation *anchor, graph::Expr first,
    graph::Expr firstColumn,
    llvm::function_ref<graph::Expr(graph::Expr sum, graph::Expr column)>
        beforeEpilogue = {},
    llvm::StringRef row = "position");

/// In front of the steps of such a tile, has what its epilogue will read with the result's
/// shape fetched, where caches are told lines: behind the second cache a tile would wait
/// for it, with its sums in the way of all later loads.
void fetchForEpilogue(KernelBuilder &b, const Tile &tile,
                      mlir::Operation *anchor, graph::Expr first,
                      graph::Expr firstColumn,
                      llvm::StringRef row = "position");

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_FLATSTORE_H
