// Rows that are stored together.
//
// Where parts of a register are slow to store (wholeRegisters), rows that have fewer
// columns than a register of results has lanes are put side by side, as they are in
// memory, and what follows the anchor is computed for several rows at once:
//
//   row 0:  c0 c1 .. c15 | row 1: c0 .. c15 | ... | row 7: c0 .. c15      128 bytes
//
// What the epilogue reads for each column is repeated, what it reads for each row is
// spread over the columns of that row. Rows whose columns are no power of two have lanes
// between them, which nothing reads; in memory there are none, so that they are loaded
// and stored in two parts that overlap:
//
//   row 0: c0 .. c47, 16 lanes | row 1: c0 .. c47, 16 lanes    96 bytes: 0 to 63, 32 to 95

#ifndef INGOT_PASSES_SCHEDULE_TILES_JOINEDROWS_H
#define INGOT_PASSES_SCHEDULE_TILES_JOINEDROWS_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Vectors of one width, or single elements, a power of two of them, one behind the other.
graph::Expr joined(KernelBuilder &b, graph::Exprs vectors);

/// Whether everything behind the anchor is of types that vectors hold.
bool epilogueIsInVectors(KernelBuilder &b);

class JoinedRows {
public:
  /// Looks at what follows `anchor`, whose rows have all columns of the result.
  JoinedRows(KernelBuilder &b, mlir::Value anchor);

  /// How many of `left` rows are stored at once: a power of two, 0 if there is no more to
  /// that than to the vectors of one row.
  int64_t most(int64_t left) const;
  int64_t columns() const { return width; }
  /// Lanes from one row to the next.
  int64_t pitch() const { return llvm::bit_ceil(uint64_t(width)); }
  bool hasGaps() const { return pitch() != width; }

  /// Binds what has the shape of the result where rows have gaps, from `first` on in all
  /// elements of the result.
  void bindWhole(int64_t rows, graph::Expr first);
  /// Stores results of rows with gaps.
  void store(int64_t rows, graph::Expr results, graph::Expr first);

  /// Binds what the epilogue reads for each column to `rows` times all columns.
  void bindColumns(int64_t rows);
  /// Binds what it reads for each row; `index` is called for each of them.
  void bindRows(int64_t rows,
                llvm::function_ref<graph::Exprs(int64_t row)> index);
  void unbind();

private:
  bool classify(mlir::Value anchor);
  /// Lanes of each part of rows with gaps, and where the second one begins.
  int64_t part(int64_t rows) const {
    return llvm::bit_floor(uint64_t(rows * width));
  }
  int64_t secondPart(int64_t rows) const { return rows * width - part(rows); }

  KernelBuilder &b;
  int64_t width = 0;
  bool isPossible = false;
  llvm::SmallVector<mlir::Value> perColumn, perRow, whole;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_JOINEDROWS_H
