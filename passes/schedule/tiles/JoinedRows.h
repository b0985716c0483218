// Rows that are stored together.
//
// If partial register stores are slow (wholeRegisters) and rows have fewer
// columns than a register of results has lanes, rows are joined as they are in
// memory, and the epilogue is computed for several rows at once:
//
//   row 0: c0 c1 .. c15 | row 1: c0 .. c15 | ... | row 7: c0 .. c15   128 bytes
//
// Per-column operands of the epilogue are repeated, per-row operands are
// broadcast to the columns of their row. If the number of columns is not a
// power of two, unused lanes separate the rows in the register but not in
// memory, so that rows are loaded and stored in two overlapping parts:
//
//   row 0: c0 .. c47, 16 lanes | row 1: c0 .. c47, 16 lanes
//                                         96 bytes: 0 to 63, 32 to 95

#ifndef INGOT_PASSES_SCHEDULE_TILES_JOINEDROWS_H
#define INGOT_PASSES_SCHEDULE_TILES_JOINEDROWS_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Concatenates a power of two of equally wide vectors or scalars.
graph::Expr joined(KernelBuilder &b, graph::Exprs vectors);

/// Whether all types of the epilogue can be held in vectors.
bool epilogueIsInVectors(KernelBuilder &b);

class JoinedRows {
public:
  /// Classifies the epilogue of `anchor`, whose rows have all columns of the
  /// result.
  JoinedRows(KernelBuilder &b, mlir::Value anchor);

  /// Returns how many of `left` rows to store at once: a power of two; 0 if the
  /// vectors of a single row are as good.
  int64_t most(int64_t left) const;
  int64_t columns() const { return width; }
  /// Lanes from one row to the next.
  int64_t pitch() const { return llvm::bit_ceil(uint64_t(width)); }
  bool hasGaps() const { return pitch() != width; }

  /// For `rows` rows with gaps: binds the epilogue's operands of the result's
  /// shape to their elements from linear index `first` on.
  void bindWhole(int64_t rows, graph::Expr first);
  /// For `rows` rows with gaps: stores their results from linear index `first`
  /// on.
  void store(int64_t rows, graph::Expr results, graph::Expr first);

  /// Binds per-column operands of the epilogue, repeated for `rows` rows.
  void bindColumns(int64_t rows);
  /// Binds per-row operands of the epilogue; `index` returns the index of each
  /// row.
  void bindRows(int64_t rows,
                llvm::function_ref<graph::Exprs(int64_t row)> index);
  void unbind();

private:
  bool classify(mlir::Value anchor);
  /// Lanes of each of the two parts of rows with gaps, and the start of the
  /// second one.
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
