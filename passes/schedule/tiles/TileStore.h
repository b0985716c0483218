// Stores of register tiles.
//
// The vectors of a row pass through the epilogue of the group and are stored.
// In two cases, several vectors are stored as one register: if wide vectors of
// sums become a vector of narrow results (NarrowedResults.h), and if stores of
// partial registers are slow (JoinedRows.h).

#ifndef INGOT_PASSES_SCHEDULE_TILES_TILESTORE_H
#define INGOT_PASSES_SCHEDULE_TILES_TILESTORE_H

#include "passes/schedule/tiles/PanelKernel.h"

namespace ingot::schedule {

/// Applies the epilogue, the group's operators after `anchor`, to the sums of a
/// tile and stores the results. `index` returns the index in the result for a
/// row of the tile and a column. `beforeEpilogue`, if given, is applied to each
/// sum before the epilogue.
void storeTile(
    KernelBuilder &b, Tile &tile, mlir::Value anchor,
    llvm::function_ref<graph::Exprs(int64_t row, graph::Expr column)> index,
    graph::Expr firstColumn,
    llvm::function_ref<graph::Expr(graph::Expr sum, graph::Expr column)>
        beforeEpilogue = {});

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_TILESTORE_H
