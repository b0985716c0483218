// How a tile of sums becomes results in memory.
//
// A row's vectors pass through what follows the anchor in its group and are stored, each
// by itself or several as one register: where narrow results are made of several wide
// vectors (NarrowedResults.h), and where parts of a register are slow to store
// (JoinedRows.h).

#ifndef INGOT_PASSES_SCHEDULE_TILES_TILESTORE_H
#define INGOT_PASSES_SCHEDULE_TILES_TILESTORE_H

#include "passes/schedule/tiles/PanelKernel.h"

namespace ingot::schedule {

/// Applies what follows the anchor in its group, and stores: `index` gives the
/// result's index of a row and a column.
void storeTile(
    KernelBuilder &b, Tile &tile, mlir::Value anchor,
    llvm::function_ref<graph::Exprs(int64_t row, graph::Expr column)> index,
    graph::Expr firstColumn,
    llvm::function_ref<graph::Expr(graph::Expr sum, graph::Expr column)>
        beforeEpilogue = {});

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_TILESTORE_H
