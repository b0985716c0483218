// Rows of a tile that are stored together.
//
// On some targets, stores of partial registers are slow (wholeRegisters). If a
// row of the result has fewer columns than a register has lanes, several rows
// are joined in one register, as they are in memory, and the epilogue is
// computed for them at once. For rows of 16 columns and registers of 128 bytes:
//
//   row 0: c0 c1 .. c15 | row 1: c0 .. c15 | ... | row 7: c0 .. c15
//
// The epilogue's per-column operands are repeated for each row, and its per-row
// operands are broadcast to the columns of their row. If the number of columns
// is not a power of two, unused lanes separate the rows in the register but not
// in memory. Such rows are loaded and stored in two overlapping accesses. For
// rows of 48 columns:
//
//   row 0: c0 .. c47, 16 unused lanes | row 1: c0 .. c47, 16 unused lanes
//   in memory 96 bytes: bytes 0 to 63 and bytes 32 to 95

#ifndef INGOT_PASSES_SCHEDULE_TILES_JOINEDROWS_H
#define INGOT_PASSES_SCHEDULE_TILES_JOINEDROWS_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Concatenates `vectors`, which are vectors or scalars of equal width. Their
/// number must be a power of two.
graph::Expr joined(KernelBuilder &b, graph::Exprs vectors);

/// Whether the target has vectors for all types of the epilogue.
bool epilogueIsInVectors(KernelBuilder &b);

class JoinedRows {
public:
  /// Examines the operators after `anchor`, the epilogue, to find out whether
  /// rows can be joined. The rows to be stored have all columns of the group's
  /// result.
  JoinedRows(KernelBuilder &b, mlir::Value anchor);

  /// Returns how many of the next `left` rows to store together: a power of
  /// two, or 0 if joining rows is not better than storing the vectors of each
  /// row separately.
  int64_t most(int64_t left) const;
  int64_t columns() const { return width; }
  /// Returns the number of lanes from one row to the next in a register of
  /// joined rows.
  int64_t pitch() const { return llvm::bit_ceil(uint64_t(width)); }
  bool hasGaps() const { return pitch() != width; }

  /// For `rows` joined rows with gaps (unused lanes between them): binds the
  /// epilogue's operands that have the result's shape to their elements from
  /// linear index `first` on.
  void bindWhole(int64_t rows, graph::Expr first);
  /// For `rows` joined rows with gaps (unused lanes between them): stores their
  /// results from linear index `first` on.
  void store(int64_t rows, graph::Expr results, graph::Expr first);

  /// Binds the epilogue's per-column operands, repeated for `rows` rows.
  void bindColumns(int64_t rows);
  /// Binds the epilogue's per-row operands for `rows` rows. `index(row)`
  /// returns the index in the result of any element of the row.
  void bindRows(int64_t rows,
                llvm::function_ref<graph::Exprs(int64_t row)> index);
  void unbind();

private:
  bool classify(mlir::Value anchor);
  /// Rows with gaps (unused lanes between joined rows) are loaded and stored in
  /// two overlapping accesses: part() returns the lanes of each access, and
  /// secondPart() the element at which the second one begins.
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
