// The assignment of the columns of a tensor-core product to threads, and the
// stores of the results.
//
// Each thread has two adjacent columns of every MMA of 8 columns ("unit"). So
// that a thread reads and writes up to 16 bytes at once, the columns of several
// MMAs are interleaved: with four MMAs, columns 2t and 2t + 1 of MMA u, which
// thread t of each four has, are columns 8t + 2u and 8t + 2u + 1 of these 32.
// This is free, since the right operand is read in the same order.

#ifndef INGOT_PASSES_SCHEDULE_GPU_RESULTVECTORS_H
#define INGOT_PASSES_SCHEDULE_GPU_RESULTVECTORS_H

#include "passes/schedule/gpu/BlockOperands.h"

namespace ingot::schedule {

/// Assigns adjacent columns to each thread of a block that computes a tile of
/// `rows` x `columns`.
class ResultVectors {
public:
  /// A thread has sums of `across` MMAs along the columns. Columns are
  /// interleaved only if `mayDeal` is set. If `areWhole` is set, the columns of
  /// a group of interleaved MMAs must also divide the product's columns evenly.
  ResultVectors(KernelBuilder &b, const BlockOperands &operands, int64_t rows,
                int64_t columns, int64_t across, bool mayDeal, bool areWhole);

  /// The number of interleaved MMAs ("group"); a thread has 2 columns of each.
  int64_t units() const { return unitsOfGroup; }
  int64_t columnsOfGroup() const { return 2 * unitsOfGroup; }
  /// Columns per store: all columns that a thread has in a group of interleaved
  /// MMAs, or one.
  int64_t columns() const { return columnsPerVector; }

  /// Returns a column of the product: the one that thread `lane` of a warp has
  /// at position `offset` (0 to columnsOfGroup() - 1) among its columns of a
  /// group of interleaved MMAs. `group` is the number of that group in the
  /// warp, whose columns begin at `first`. The returned column may be outside
  /// of the product.
  graph::Expr columnOf(graph::Expr first, graph::Expr lane, graph::Expr group,
                       int64_t offset) const;
  /// Return a row, or the first column of a store, clamped to the product, so
  /// that loads need no condition.
  graph::Expr insideRow(graph::Expr row) const;
  graph::Expr insideColumn(graph::Expr column) const;

  /// Emit `body`, under the condition that the row, or the columns of the store
  /// that begins at `column`, are inside of the product; without a condition if
  /// they always are.
  void whenRow(graph::Expr row, llvm::function_ref<void()> body) const;
  void whenColumn(graph::Expr column, llvm::function_ref<void()> body) const;

  /// Elements of an operand of the epilogue that are already loaded, for the
  /// columns of a store.
  struct Loaded {
    mlir::Value tensor;
    graph::Exprs elements;
  };
  /// Applies the epilogue to the sums of one store, which begins at (`row`,
  /// `column`) inside of the product. Operands in `loaded` are not loaded
  /// again.
  graph::Exprs resultsOf(llvm::ArrayRef<graph::Expr> sums, graph::Expr batch,
                         graph::Expr row, graph::Expr column,
                         llvm::ArrayRef<Loaded> loaded = {}) const;
  void store(llvm::ArrayRef<graph::Expr> results, graph::Expr batch,
             graph::Expr row, graph::Expr column) const;

private:
  /// Whether each store of `count` columns to the result is at an address that
  /// is a multiple of the size of the store.
  bool areAligned(int64_t count) const;
  /// Whether the target has one instruction for the store of a thread's
  /// adjacent columns.
  bool isStoredAtOnce() const;

  KernelBuilder &b;
  const BlockOperands &operands;
  mlir::Value anchor;
  bool fitsRows, fitsColumns;
  int64_t unitsOfGroup = 1, columnsPerVector = 1;
};

/// Rounds numbers to the element type of `to` and stores them contiguously from
/// index `place` on.
void storeRounded(KernelBuilder &b, llvm::ArrayRef<graph::Expr> numbers,
                  mlir::Value to, llvm::ArrayRef<graph::Expr> place);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_RESULTVECTORS_H
