// Kernels for small cores that process all panels of packed weights in one
// loop.
//
// These are the common functions of convolutions and matrix products: the loop
// over panels of output channels, sums that start with the bias, cursors
// (pointers that advance with each load) into the weights, and the product of
// whole matrices.

#ifndef INGOT_PASSES_SCHEDULE_TILES_COMPACTPANELS_H
#define INGOT_PASSES_SCHEDULE_TILES_COMPACTPANELS_H

#include "passes/schedule/Anchors.h"
#include "passes/schedule/tiles/CursorTile.h"

namespace ingot::schedule {

class CompactPanels {
public:
  /// A panel of packed weights: its number, its vectors and its first column.
  /// The tail, which has the columns after the last full panel, has no number.
  struct Panel {
    std::optional<graph::Expr> number;
    ColumnVectors vectors;
    graph::Expr firstColumn;
  };

  /// `bias` may be null.
  CompactPanels(KernelBuilder &b, const PackedPanels &panels,
                const CursorTerms &terms, mlir::Value bias)
      : b(b), panels(panels), terms(terms), bias(bias) {}

  void forEach(llvm::function_ref<void(const Panel &)> body);
  /// Returns the initial sums of a tile with `rows` rows: the bias if it has an
  /// element for each lane of the panel of weights, else zeros.
  Tile firstSums(int64_t rows, const Panel &panel);
  /// Returns the bias if it must still be added to the sums for a panel of
  /// weights; null if firstSums includes it, or if there is none.
  mlir::Value laterBias(const Panel &panel) const;
  graph::Expr withBias(graph::Expr sum, graph::Expr column, const Panel &panel);
  /// Returns the number of K steps of a sum, padded to a multiple of those that
  /// a dot product takes.
  int64_t steps() const { return panels.steps * panels.group; }
  /// Returns a cursor (a pointer that advances with each load) to the weights
  /// of a panel, from K step `step` on.
  mlir::Value weightsFrom(const Panel &panel, graph::Expr step);

  KernelBuilder &b;
  PackedPanels panels;
  CursorTerms terms;
  mlir::Value bias;

private:
  Panel panelOf(std::optional<graph::Expr> number) const;
};

/// The entries of the plans of kernels for small cores: {columns, groups, rows,
/// together}, the fields of CursorTileChoice.
llvm::ArrayRef<PlanKey> compactPlanKeys();
llvm::SmallVector<Plan> compactPlans(const TileWork &work, mlir::Value weights,
                                     const CursorTerms &terms,
                                     const TargetDescription &target);
CursorTileChoice compactTile(const Plan &plan);
std::string refuseCompactTile(const Plan &plan, const TileWork &work,
                              mlir::Value weights, const CursorTerms &terms,
                              const TargetDescription &target);
/// Packs `weights`, an operand of the group's convolution or matrix product,
/// into panels by `plan`.
void packCompactPanels(graph::GroupOp group, mlir::OpOperand &weights,
                       const Plan &plan, const CursorTerms &terms,
                       const TargetDescription &target);

/// Returns the work of a matrix product with `positions` rows, `columns`
/// columns and `steps` K steps.
TileWork matrixWork(GroupView group, int64_t positions, int64_t columns,
                    int64_t steps);

/// Emits the matrix product of `anchor`'s first operand, an argument of the
/// group that is read as [positions, K], and the weights in `panels`, with its
/// epilogue, which must be flat (hasFlatEpilogue).
void emitCompactMatrix(KernelBuilder &b, mlir::Operation *anchor,
                       CompactPanels &panels);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_COMPACTPANELS_H
