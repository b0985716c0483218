// Tiles whose sums are f16, for matrix products and convolutions that may
// accumulate in f16 and have so few K steps that no sum has to be widened
// before the end.
//
// If the epilogue needs no more precision than f16 has, results are computed
// and stored in f16, with twice as many lanes as in f32 (FormHalves.cpp).
// Otherwise, the sums are widened to f32 first.

#ifndef INGOT_PASSES_SCHEDULE_TILES_HALFTILE_H
#define INGOT_PASSES_SCHEDULE_TILES_HALFTILE_H

#include "passes/schedule/tiles/DotForm.h"
#include "passes/schedule/tiles/PanelKernel.h"

namespace ingot::schedule {

/// Whether the target has multiply-adds of f16 vectors that take a lane of
/// another vector as factor.
bool halvesByLane(const TargetDescription &target);
/// Whether the products of an f16 matrix product or convolution may be
/// accumulated in f16.
bool sumsHalves(mlir::Operation *contraction);

/// Returns `element` in its stored type, without the conversion of bf16 and f16
/// to f32 for computation.
mlir::Value asStored(KernelBuilder &b, graph::Expr element);

/// Whether the group applies at most clamps and one addition, subtraction,
/// multiplication, sigmoid or swish to `anchor` and then rounds the result to
/// f16. `anchor` is an f32 value that has only the precision of f16. If it is
/// null, whether the group does so, except for a sigmoid or swish, with operands
/// of f16.
bool roundsToHalves(KernelBuilder &b, mlir::Value anchor);

/// Returns the f16 vectors for the columns that the f32 vectors `columns`
/// cover: two full f32 vectors become one f16 vector.
ColumnVectors inHalves(const ColumnVectors &columns,
                       const TargetDescription &target);
/// Returns a tile of f16 sums that are zero. A bias must not be their first
/// term: beside a bias of 1,000, f16 drops products below 0.25, however many.
Tile halvesTile(KernelBuilder &b, int64_t rows, const ColumnVectors &columns);
/// Whether a convolution adds the f16 sums of its stages in f16, not in f32. A
/// pointwise convolution does not: its stages are longer.
bool addsStagesInHalves(graph::ConvOp conv, const DotForm &form);
/// Returns `form` for a tile of f16 sums to which `steps` K steps are added:
/// without stages if a stage has that many.
DotForm stagesOf(DotForm form, int64_t steps);
/// Adds the sums of a tile of f16 sums to those of another, in f16.
void addInHalves(KernelBuilder &b, Tile &tile, const Tile &more);
/// Adds the elements of `bias` from `firstColumn` on to each row of a tile of
/// f16 sums, in f16. The sums must be complete.
void addBiasInHalves(KernelBuilder &b, Tile &tile, mlir::Value bias,
                     graph::Expr firstColumn);
/// Returns the tile's sums as f32.
Tile widened(KernelBuilder &b, const Tile &tile);
/// Returns the tile's sums as f32, in the vectors `columns`, of which up to two
/// share a vector of the tile.
Tile widened(KernelBuilder &b, const Tile &tile, const ColumnVectors &columns);

/// Returns an f16 vector of zeros.
graph::Expr zeroHalves(KernelBuilder &b, int64_t lanes);
/// Returns an f16 vector whose elements are -infinity.
graph::Expr lowestHalves(KernelBuilder &b, int64_t lanes);
/// Returns the maximum of the f16 vector `x`, whose lanes are never NaN, and the
/// loaded f16 elements `y`; x where y is NaN.
graph::Expr largerOfHalves(KernelBuilder &b, graph::Expr x, graph::Expr y);
/// Returns `lanes` elements of `bias` from `first` on as f16.
graph::Expr biasHalves(KernelBuilder &b, mlir::Value bias, graph::Expr first,
                       int64_t lanes);
/// Returns x + y for two f16 vectors, computed in f16.
graph::Expr sumOfHalves(KernelBuilder &b, graph::Expr x, graph::Expr y);
/// Returns the f16 vector `halves` as f32.
graph::Expr widened(KernelBuilder &b, graph::Expr halves);
/// Returns x * y + sum, computed in f16. `x` and `y` are loaded f16 elements.
graph::Expr fmaOfHalves(KernelBuilder &b, graph::Expr x, graph::Expr y,
                        graph::Expr sum);

/// Returns `sum` plus the partial sum `halves` of an f16 stage
/// (DotForm::stage). Each lane of `sum` gets `group` adjacent lanes of
/// `halves`.
mlir::Value addHalves(KernelBuilder &b, mlir::Value sum, mlir::Value halves,
                      int64_t group);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_HALFTILE_H
