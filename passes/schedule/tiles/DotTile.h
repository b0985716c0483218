// Register tiles of matrix products of narrow types: integers, bf16 or f16.
//
// As in PanelKernel.h, a tile of rows x (vectors of) columns stays in registers
// during the reduction. But each iteration multiplies a *group* of adjacent K
// steps, usually 2 or 4: the row's elements in the group, broadcast to all
// columns, times the elements of each column, which are contiguous in packed
// weights. For a group of four K steps 1 2 3 4:
//
//   a, one row      1 2 3 4 | 5 6 7 8 |      1 2 3 4 is broadcast to all lanes
//   b, packed       column 0: 1 2 3 4, column 1: 1 2 3 4, ...   (kernel.dot)
//
// If the target has dot products of whole registers, the lanes of a vector of
// sums take different K steps:
//
//   a, one row      1 2 3 4 ... 16           as in memory
//   b, packed       column 0: 1 2 3 4 ... 16, column 1: ... (kAcrossLanesAttr)
//   sums            a vector for each column, reduced at the end
//
// If an instruction multiplies two rows by two columns, a vector of sums has
// the sums of two columns for one row, followed by those for the next:
//
//   a, two rows     row 0: 1 2 3 4, row 1: 1 2 3 4     (kOfPairsAttr)
//   b, packed       column 0: 1 2 3 4, column 1: 1 2 3 4
//
// If the target adds pairs of int8 products in 16 bits, and the weights are such
// that these sums cannot overflow, the sums of one or two groups are widened at
// once, by a product with ones (DotForm::shortGroups). If they are such in most
// groups of K steps, a branch selects this form or the widened one for each
// group (DotForm::isMixed).
//
// Products of f16 are accumulated in f16, with separate lanes for the two K
// steps of a group. After a *stage* (a number of K steps), these partial sums
// are widened and added to the tile's f32 sums.

#ifndef INGOT_PASSES_SCHEDULE_TILES_DOTTILE_H
#define INGOT_PASSES_SCHEDULE_TILES_DOTTILE_H

#include "passes/schedule/tiles/DotForm.h"
#include "passes/schedule/tiles/PanelKernel.h"

namespace ingot::schedule {

/// The cost model of register tiles for a matrix product of `rows` x `columns`
/// with `steps` K steps. Tiles have whole vectors. The K steps are divided into
/// `runs` loops of equal length.
class DotModel {
public:
  DotModel(int64_t rows, int64_t columns, int64_t steps, const DotForm &form,
           const TargetDescription &target, int64_t runs = 1);
  /// The model of a convolution with `positions` output positions.
  DotModel(graph::ConvOp conv, int64_t positions, const DotForm &form,
           const TargetDescription &target);
  /// Estimates the cycles of the product.
  double cycles(const TileChoice &tile) const;
  /// Returns the tiles that fit the registers, best first.
  std::vector<TileChoice> ranked() const;

private:
  int64_t rows, vectorsNeeded, groups, stages;
  /// Whether the sums of f16 stages are added in f16.
  bool addsHalves = false;
  DotForm form;
  const TargetDescription &target;
};

/// Returns the vectors for `columns` columns, like ColumnVectors::cover. If the
/// columns are not `padded` to whole vectors, a vector may be narrower than
/// those of the target's dot products.
ColumnVectors coverWithDots(int64_t columns, const DotForm &form,
                            const TargetDescription &target, bool padded);

/// The operands of accumulateDots. The parameter `count` of `b` is the number
/// of K steps in the group: DotForm::group, or less if the last group is
/// incomplete.
struct DotOperands {
  /// Returns element (row, step) of the left operand; if the builder has lanes,
  /// a vector of the row's elements from `step` on.
  llvm::function_ref<graph::Expr(int64_t row, graph::Expr step)> a;
  /// Returns the elements of group number `group` of K steps, in `lanes`
  /// columns of the tile from `column` on.
  llvm::function_ref<graph::Expr(graph::Expr group, int64_t count,
                                 int64_t column, int64_t lanes)>
      b;
  mlir::Type aType, bType;
  /// Divides the loop over groups of K steps into chunks.
  StepChunks chunks;
  /// Returns whether products of group number `group` of the weights need more
  /// than 16 bits, for a DotForm that is mixed.
  llvm::function_ref<graph::Expr(graph::Expr group)> isWide = nullptr;
  /// Used instead of `a` if the rows are packed (PackedRows.h), which is
  /// possible for f16 whose products take one lane: returns the elements at one
  /// K step of rows [group * lanes, (group + 1) * lanes), for
  /// DotForm::rowGroups lanes.
  llvm::function_ref<graph::Expr(int64_t group, graph::Expr step)> packed =
      nullptr;
};

/// Loads the first `count` of the elements that a row has in one group of K
/// steps, padded with zeros to a whole group.
mlir::Value loadGroup(KernelBuilder &b, const DotForm &form,
                      const DotOperands &operands, int64_t row,
                      graph::Expr step, int64_t count);

/// Adds the product of the operands over `steps` K steps to rows [firstRow,
/// lastRow) of the tile; `lastRow` defaults to the number of rows. If the last
/// group of K steps is incomplete, missing elements of `a` count as zero.
void accumulateDots(KernelBuilder &b, Tile &tile, const DotForm &form,
                    int64_t steps, const DotOperands &operands,
                    int64_t firstRow = 0,
                    std::optional<int64_t> lastRow = std::nullopt);

/// Returns a tile of zeros for a DotForm with acrossLanes (lanes take different
/// K steps): a vector for each row and column.
Tile tileAcrossLanes(KernelBuilder &b, int64_t rows,
                     const ColumnVectors &columns, const DotForm &form,
                     mlir::Type sum);
/// Sums the lanes of each vector of a tile from tileAcrossLanes. Returns a tile
/// with one lane per column.
Tile addLanes(KernelBuilder &b, Tile &tile, const ColumnVectors &columns);

/// Interleaves `rows`, each a vector of the columns of one row of a matrix,
/// into groups of `group` elements. For four rows: r0[0] r1[0] r2[0] r3[0]
/// r0[1] ... Rows that are missing in a group must be multiplied by zeros; they
/// are zeros, or repeat the first row if the elements are integers.
graph::Expr interleaveRows(KernelBuilder &b, llvm::ArrayRef<graph::Expr> rows,
                           int64_t group);
/// Like interleaveRows, but returns the result in vectors of `lanes` lanes.
/// Uses the target's instruction for interleaving if there is one for that
/// width.
graph::Exprs interleaveInParts(KernelBuilder &b,
                               llvm::ArrayRef<graph::Expr> rows, int64_t group,
                               int64_t lanes);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_DOTTILE_H
