// Which columns of a product by matrix units a thread has sums of, and how it stores what
// becomes of these.
//
// Of each unit of 8 columns a thread has two side by side. So that it reads and writes up
// to 16 bytes at once, the columns of several units are dealt out in turn: of four units,
// columns 2t and 2t + 1 of unit u are columns 8t + 2u and 8t + 2u + 1 of these 32. That
// costs nothing, as the right operand is found in this order.

#ifndef INGOT_PASSES_SCHEDULE_GPU_RESULTPIECES_H
#define INGOT_PASSES_SCHEDULE_GPU_RESULTPIECES_H

#include "passes/schedule/gpu/BlockOperands.h"

namespace ingot::schedule {

/// The columns that a thread has beside each other, for blocks of so many rows and columns.
class ResultPieces {
public:
  /// A thread has sums of `across` units. They keep their columns unless these may be
  /// `dealt`; then units that begin within the columns have to end there if `areWhole`.
  ResultPieces(KernelBuilder &b, const BlockOperands &operands, int64_t rows,
               int64_t columns, int64_t across, bool mayDeal, bool areWhole);

  /// How many units are dealt out together: a group. A thread has 2 columns for each.
  int64_t units() const { return unitsOfGroup; }
  int64_t columnsOfGroup() const { return 2 * unitsOfGroup; }
  /// Columns of a piece: all that a thread has of a group, or one.
  int64_t columns() const { return columnsOfPiece; }

  /// The column with number `offset` of those that thread `lane` of a warp has of a group,
  /// if the warp's columns begin at `first`. It may be outside of the product.
  graph::Expr columnOf(graph::Expr first, graph::Expr lane, graph::Expr group,
                       int64_t offset) const;
  /// The row or column, or where it is outside of the product, one that is not: so no
  /// load has to wait for a condition.
  graph::Expr insideRow(graph::Expr row) const;
  graph::Expr insideColumn(graph::Expr column) const;

  /// Runs `body` where all of the row, or of the piece from that column on, is inside.
  void whenRow(graph::Expr row, llvm::function_ref<void()> body) const;
  void whenColumn(graph::Expr column, llvm::function_ref<void()> body) const;

  /// Elements of another operand, at the places of a piece.
  struct Loaded {
    mlir::Value tensor;
    graph::Exprs elements;
  };
  /// What becomes of the sums of a piece at a place that is inside, as it is stored. What has
  /// been loaded is not loaded again.
  graph::Exprs resultsOf(llvm::ArrayRef<graph::Expr> sums, graph::Expr batch,
                         graph::Expr row, graph::Expr column,
                         llvm::ArrayRef<Loaded> loaded = {}) const;
  void store(llvm::ArrayRef<graph::Expr> results, graph::Expr batch,
             graph::Expr row, graph::Expr column) const;

private:
  /// Whether pieces of so many columns begin at multiples of their size in the result.
  bool areAligned(int64_t count) const;
  /// Whether the target stores a piece by one instruction.
  bool isStoredAtOnce() const;

  KernelBuilder &b;
  const BlockOperands &operands;
  mlir::Value anchor;
  bool fitsRows, fitsColumns;
  int64_t unitsOfGroup = 1, columnsOfPiece = 1;
};

/// Stores numbers side by side, which are rounded as they are stored.
void storeRounded(KernelBuilder &b, llvm::ArrayRef<graph::Expr> numbers,
                  mlir::Value to, llvm::ArrayRef<graph::Expr> place);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_RESULTPIECES_H
