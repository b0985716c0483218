// Tiles whose sums are f16, for contractions that may accumulate in f16 and
// have so few steps that no sum has to be widened before the end.
//
// If the epilogue needs no more digits than f16 has, results are computed and
// stored in f16, with twice as many lanes as in f32 (FormHalves.cpp); otherwise
// sums are widened first.

#ifndef INGOT_PASSES_SCHEDULE_TILES_HALFTILE_H
#define INGOT_PASSES_SCHEDULE_TILES_HALFTILE_H

#include "passes/schedule/tiles/PanelKernel.h"

namespace ingot::schedule {

/// Whether the target multiplies f16 vectors by a lane of another vector, and
/// computes with vectors of f16.
bool halvesByLane(const TargetDescription &target);
/// Whether the products of an f16 contraction may be accumulated in f16.
bool sumsHalves(mlir::Operation *contraction);

/// Returns the element in its stored type: bf16 and f16 elements are widened to
/// f32 for computation.
mlir::Value asStored(KernelBuilder &b, graph::Expr element);

/// Whether the group's result is `anchor`, an f32 value of f16 precision, after
/// clamps and at most one sum, difference or product, rounded to f16.
bool roundsToHalves(KernelBuilder &b, mlir::Value anchor);

/// Returns the same columns in vectors of f16.
ColumnVectors inHalves(const ColumnVectors &columns,
                       const TargetDescription &target);
/// Returns a tile of f16 sums that are zeros, or the bias from `firstColumn`
/// on; the bias may be null.
Tile halvesTile(KernelBuilder &b, int64_t rows, const ColumnVectors &columns,
                mlir::Value bias, graph::Expr firstColumn);
/// Returns the tile's sums as f32.
Tile widened(KernelBuilder &b, const Tile &tile);

/// Returns `lanes` zeros of f16, or elements of `bias` from `first` on if it is
/// not null.
graph::Expr firstHalves(KernelBuilder &b, mlir::Value bias, graph::Expr first,
                        int64_t lanes);
/// Returns a vector of f16 as f32.
graph::Expr widened(KernelBuilder &b, graph::Expr halves);
/// Returns x * y + sum in f16; x and y are loaded elements of f16.
graph::Expr fmaOfHalves(KernelBuilder &b, graph::Expr x, graph::Expr y,
                        graph::Expr sum);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_HALFTILE_H
