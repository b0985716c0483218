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
// Products of f16 are summed in f16, the two steps of a group in lanes of their own. After
// a *stage* of steps these sums are widened and added to those of the tile, in f32.

#ifndef INGOT_PASSES_SCHEDULE_TILES_DOTTILE_H
#define INGOT_PASSES_SCHEDULE_TILES_DOTTILE_H

#include "passes/schedule/tiles/PanelKernel.h"

namespace ingot::schedule {

/// How a target multiplies narrow numbers of two types.
struct DotForm {
  /// Steps that are loaded together.
  int64_t group = 0;
  /// Bytes become integers of 16 bits before they are multiplied, the even steps
  /// apart from the odd ones: the target multiplies pairs of those. bf16 become f32.
  bool widened = false;
  /// A row's group is a word in a scalar register, not a vector.
  bool byWord = false;
  /// The groups of a row that one load brings, of which each product takes one by
  /// its lane; 1: a group is copied to all lanes.
  int64_t rowGroups = 1;
  /// Lanes of accumulators for which the target has the product, widest first.
  llvm::SmallVector<int64_t> lanes;
  /// Multiply-adds per cycle in the widest vectors.
  double perCycle = 0;
  /// Instructions in front that each operand takes for all its products.
  int64_t preparation = 0;
  /// Steps whose products are summed in numbers as narrow as the operands; 0: sums are
  /// wide at once.
  int64_t stage = 0;

  /// Whether products are of one lane, for tiles in core registers (CursorTile.h).
  bool isScalar() const { return lanes.front() == 1; }
};

/// The fastest form for elements of types `a` and `b`, in either order; nothing
/// where the target has no product for them. Products of one lane take groups that
/// divide `steps`, unless these are filled up to whole groups.
std::optional<DotForm> dotForm(mlir::Type a, mlir::Type b,
                               const TargetDescription &target, int64_t steps,
                               bool fillsUp = false);

/// Whether the target's products compute this one: narrow numbers without zero points.
std::optional<DotForm> dotForm(graph::MatMulOp product,
                               const TargetDescription &target);

/// Whether a kernel row can be read at once: the few channels of its columns follow each
/// other. Tiles of one lane read it from a copy (CompactConvolution.cpp), which with many
/// channels costs more than addresses for each kernel column; tiles of vectors read it in
/// place.
bool readsKernelRows(graph::ConvOp conv);

/// Whether tiles in core registers read the windows of a convolution of integers from a
/// copy, in which the steps of a window follow each other and fill whole groups. With a
/// pool behind it, the windows of all its positions would take too much memory.
bool copiesWindows(graph::ConvOp conv, const TargetDescription &target);
/// Whether tiles in core registers copy what they read of a convolution's input, so that
/// they can have any number in its padding.
bool fillsPadding(graph::ConvOp conv, const TargetDescription &target);

/// The same of a convolution without a zero point, in one group. Its channels are whole
/// groups of steps, or the kernel rows that are read at once.
std::optional<DotForm> dotForm(graph::ConvOp conv,
                               const TargetDescription &target);

/// Whether products in `form` take groups of neighbouring kernel columns: there are too
/// few channels for a group.
bool groupsKernelRows(graph::ConvOp conv, const DotForm &form);

/// How vectors of channels are multiplied that have a filter each, in groups of kernel
/// columns: with both operands in vectors. Nothing where the target has no such product.
std::optional<DotForm> depthwiseForm(graph::ConvOp conv,
                                     const TargetDescription &target);
/// Whether it is computed by a filter of bytes for each channel that is interleaved in
/// blocks (BlockDepthwise.cpp), once its zero point is 0.
bool filtersInBlocks(graph::ConvOp conv, const TargetDescription &target);

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
  /// The groups of the columns of a vector of the tile.
  llvm::function_ref<graph::Expr(graph::Expr group, int64_t count,
                                 size_t vector)>
      b;
  mlir::Type aType, bType;
};

/// tile += a * b over `steps` steps, for the rows from `firstRow` up to `lastRow`
/// (without it: all of them). Behind the last step of a whole group, `a`
/// counts as zeros.
void accumulateDots(KernelBuilder &b, Tile &tile, const DotForm &form,
                    int64_t steps, const DotOperands &operands,
                    int64_t firstRow = 0,
                    std::optional<int64_t> lastRow = std::nullopt);

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
