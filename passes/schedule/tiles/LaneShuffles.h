// Permutations of the lanes of several vectors.

#ifndef INGOT_PASSES_SCHEDULE_TILES_LANESHUFFLES_H
#define INGOT_PASSES_SCHEDULE_TILES_LANESHUFFLES_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Transposes a matrix of row vectors. Returns lane 0 of all `rows`, then lane
/// 1 of all rows, and so on, divided into vectors of the same width as the
/// rows. It does so by interleaving the first half of the rows with the second
/// half, log2(rows) times. The number of rows must be a power of two.
///
///   a0 a1 a2 a3      a0 c0 a1 c1      a0 b0 c0 d0
///   b0 b1 b2 b3  ->  a2 c2 a3 c3  ->  a1 b1 c1 d1
///   c0 c1 c2 c3      b0 d0 b1 d1      a2 b2 c2 d2
///   d0 d1 d2 d3      b2 d2 b3 d3      a3 b3 c3 d3
llvm::SmallVector<mlir::Value> turned(KernelBuilder &b,
                                      llvm::SmallVector<mlir::Value> rows);

/// Returns a vector whose lane i is lane `place(i)` of the concatenated vectors
/// `from`. If `place(i)` is -1, lane i may have any value.
mlir::Value gathered(KernelBuilder &b, llvm::ArrayRef<mlir::Value> from,
                     llvm::function_ref<int64_t(int64_t)> place);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_LANESHUFFLES_H
