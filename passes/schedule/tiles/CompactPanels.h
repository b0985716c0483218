// Panels of weights in one loop.
//
// What convolutions and matrix products of small cores share: the loop over
// panels of output channels, sums that start from the bias, cursors into the
// weights, and the product of matrices as a whole.

#ifndef INGOT_PASSES_SCHEDULE_TILES_COMPACTPANELS_H
#define INGOT_PASSES_SCHEDULE_TILES_COMPACTPANELS_H

#include "passes/schedule/Anchors.h"
#include "passes/schedule/tiles/CursorTile.h"

namespace ingot::schedule {

class CompactPanels {
public:
  /// A panel: its number, or none for the tail.
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
  /// Sums of so many rows: the bias where all lanes have one, else zeros.
  Tile firstSums(int64_t rows, const Panel &panel);
  /// The bias that these sums still need, or null.
  mlir::Value laterBias(const Panel &panel) const;
  graph::Expr withBias(graph::Expr sum, graph::Expr column, const Panel &panel);
  /// Steps of the whole sum.
  int64_t steps() const { return panels.steps * panels.group; }
  /// The weights of a panel from a step on.
  mlir::Value weightsFrom(const Panel &panel, graph::Expr step);

  KernelBuilder &b;
  PackedPanels panels;
  CursorTerms terms;
  mlir::Value bias;

private:
  Panel panelOf(std::optional<graph::Expr> number) const;
};

/// Plans of compact kernels: {columns, groups, rows, together}, the fields of
/// CursorTileChoice.
llvm::ArrayRef<PlanKey> compactPlanKeys();
llvm::SmallVector<Plan> compactPlans(const TileWork &work, mlir::Value weights,
                                     const CursorTerms &terms,
                                     const TargetDescription &target);
CursorTileChoice compactTile(const Plan &plan);
std::string refuseCompactTile(const Plan &plan, const TileWork &work,
                              mlir::Value weights, const CursorTerms &terms,
                              const TargetDescription &target);
/// Packs the weights of a group's anchor as the plan has them.
void packCompactPanels(graph::GroupOp group, mlir::OpOperand &weights,
                       const Plan &plan, const CursorTerms &terms,
                       const TargetDescription &target);

/// What the tiles of a product cover where it is one matrix.
TileWork matrixWork(GroupView group, int64_t positions, int64_t columns,
                    int64_t steps);

/// The anchor as a product of the matrix `x` = [positions, steps] and the
/// panels, with its epilogue, which has to be flat.
void emitCompactMatrix(KernelBuilder &b, mlir::Operation *anchor, mlir::Value x,
                       CompactPanels &panels);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_COMPACTPANELS_H
