// Register tiles of products of narrow numbers: integers, bf16 or f16.
//
// As in PanelKernel.h a tile of rows x (vectors of) columns stays in registers
// while the reduction runs, but a step multiplies a *group* of 2 or 4 neighbouring
// steps: the row's elements of the group, repeated for all columns, by those of
// each column, which the weights have side by side.
//
//   a, one row      1 2 3 4 | 5 6 7 8 |          the group 1 2 3 4 in all lanes
//   b, packed       column 0: 1 2 3 4, column 1: 1 2 3 4, ...     (kernel.dot)
//
// Where the target sums products of whole registers, the steps stay in the lanes of sums:
//
//   a, one row      1 2 3 4 ... 16                as in memory
//   b, packed       column 0: 1 2 3 4 ... 16, column 1: 1 2 3 ...    (kAcrossLanesAttr)
//   sums            one vector for each column, whose lanes are added up in the end
//
// Products of f16 are summed in f16, the two steps of a group in lanes of their own. After
// a *stage* of steps these sums are widened and added to those of the tile, in f32.

#ifndef INGOT_PASSES_SCHEDULE_TILES_DOTTILE_H
#define INGOT_PASSES_SCHEDULE_TILES_DOTTILE_H

#include "passes/schedule/tiles/DotForm.h"
#include "passes/schedule/tiles/PanelKernel.h"

namespace ingot::schedule {

/// Tiles of whole vectors for a product of `rows` x `columns`, whose steps come in `runs`
/// loops.
class DotModel {
public:
  DotModel(int64_t rows, int64_t columns, int64_t steps, const DotForm &form,
           const TargetDescription &target, int64_t runs = 1);
  /// That of a convolution of so many positions.
  DotModel(graph::ConvOp conv, int64_t positions, const DotForm &form,
           const TargetDescription &target);
  /// Estimates the cycles of the product.
  double cycles(const TileChoice &tile) const;
  /// The tiles that fit into the registers, the best first.
  std::vector<TileChoice> ranked() const;

private:
  int64_t rows, vectorsNeeded, groups, stages;
  DotForm form;
  const TargetDescription &target;
};

/// The vectors for `columns` columns, as ColumnVectors::cover. Exact ones may be
/// narrower than what the target has products for.
ColumnVectors coverWithDots(int64_t columns, const DotForm &form,
                            const TargetDescription &target, bool padded);

/// What a dot tile reads: both are called for a group of steps, of which the
/// first `count` exist.
struct DotOperands {
  /// An element of a row, or in lane mode the elements from `step` on.
  llvm::function_ref<graph::Expr(int64_t row, graph::Expr step)> a;
  /// The groups of `lanes` columns of the tile from `column` on.
  llvm::function_ref<graph::Expr(graph::Expr group, int64_t count,
                                 int64_t column, int64_t lanes)>
      b;
  mlir::Type aType, bType;
  /// Of groups.
  StepStrips strips;
};

/// tile += a * b over `steps` steps, for the rows from `firstRow` up to `lastRow`
/// (without it: all of them). Behind the last step of a whole group, `a`
/// counts as zeros.
void accumulateDots(KernelBuilder &b, Tile &tile, const DotForm &form,
                    int64_t steps, const DotOperands &operands,
                    int64_t firstRow = 0,
                    std::optional<int64_t> lastRow = std::nullopt);

/// A tile of zeros for a form whose steps are in the lanes of sums: a vector for each column.
Tile tileAcrossLanes(KernelBuilder &b, int64_t rows,
                     const ColumnVectors &columns, const DotForm &form,
                     mlir::Type sum);
/// The tile with the sums of the lanes of each vector of such a tile.
Tile addLanes(KernelBuilder &b, Tile &tile, const ColumnVectors &columns);

/// Rows of a matrix (vectors of one row's columns each) as the groups of the
/// columns: r0[0] r1[0] r2[0] r3[0] r0[1] ...; a missing row is of zeros.
graph::Expr interleaveRows(KernelBuilder &b, llvm::ArrayRef<graph::Expr> rows,
                           int64_t group);
/// The same in parts of `lanes` lanes each, by the target's own instruction where it has
/// one for rows of that width.
graph::Exprs interleaveInParts(KernelBuilder &b,
                               llvm::ArrayRef<graph::Expr> rows, int64_t group,
                               int64_t lanes);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_DOTTILE_H
