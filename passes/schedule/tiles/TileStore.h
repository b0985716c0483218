// Stores of register tiles.
//
// The vectors of a row pass through the epilogue of the group and are stored,
// one at a time or several as one register: if several wide vectors make one of
// narrow results (NarrowedResults.h), and if partial register stores are slow
// (JoinedRows.h).

#ifndef INGOT_PASSES_SCHEDULE_TILES_TILESTORE_H
#define INGOT_PASSES_SCHEDULE_TILES_TILESTORE_H

#include "passes/schedule/tiles/PanelKernel.h"

namespace ingot::schedule {

/// Applies the group's epilogue after the anchor to a tile and stores it.
/// `index` returns the result's index for a row and a column.
void storeTile(
    KernelBuilder &b, Tile &tile, mlir::Value anchor,
    llvm::function_ref<graph::Exprs(int64_t row, graph::Expr column)> index,
    graph::Expr firstColumn,
    llvm::function_ref<graph::Expr(graph::Expr sum, graph::Expr column)>
        beforeEpilogue = {});

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_TILESTORE_H
