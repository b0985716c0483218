// The strips of both operands that a block multiplies by matrix units.

#ifndef INGOT_PASSES_SCHEDULE_GPU_TENSORSTRIPS_H
#define INGOT_PASSES_SCHEDULE_GPU_TENSORSTRIPS_H

#include "passes/schedule/gpu/ResultPieces.h"
#include "passes/schedule/gpu/TensorTile.h"

namespace ingot::schedule {

/// What a kernel of such a product has in shared memory, and where in the product its thread
/// is: the kernel says that before it fills strips or loads from them.
class TensorStrips {
protected:
  TensorStrips(KernelBuilder &b, const BlockOperands &operands,
               const TensorTile &tile);

  /// Declares the shared memory of all strips.
  void declareTiles();
  /// Brings a strip from `firstStep` on, one for each slice, to the buffer of a stage.
  void fill(graph::Expr firstStep, graph::Expr stage);
  /// Of one operand.
  void fillLeft(graph::Expr firstStep, graph::Expr stage);
  void fillRight(graph::Expr firstStep, graph::Expr stage);
  /// The matrices that the warp multiplies in the half of a strip: of each unit of rows, and of
  /// a pair of units of columns.
  llvm::SmallVector<llvm::SmallVector<mlir::Value, 4>>
  loadLeft(graph::Expr stage, int64_t half);
  llvm::SmallVector<mlir::Value, 4> loadRight(graph::Expr stage, int64_t half,
                                              int64_t pair);

  /// Steps of a strip, and those that the slices multiply together.
  int64_t strip() const { return stripPieces * piece; }
  int64_t round() const { return strip() * tile.slices; }
  int64_t unitsDown() const { return tile.warpRows / unitRows; }
  int64_t unitsAcross() const { return tile.warpColumns / unitColumns; }
  bool fitsRows() const {
    return operands.rows.known() && *operands.rows.known() % tile.rows == 0;
  }
  bool fitsColumns() const { return operands.columns % tile.columns == 0; }

  KernelBuilder &b;
  const BlockOperands &operands;
  TensorTile tile;
  graph::Expr thread, lane, slice, batch, firstRow, firstColumn, warpRow,
      warpColumn;

private:
  /// Whether a row or a column is one of the product; nothing where all are.
  std::optional<graph::Expr> insideRows(graph::Expr row);
  std::optional<graph::Expr> insideColumns(graph::Expr column);
  std::optional<graph::Expr> insideSteps(graph::Expr step, int64_t steps);
  static std::optional<graph::Expr> both(std::optional<graph::Expr> x,
                                         std::optional<graph::Expr> y);
  /// Where piece `at` of a row is in shared memory; rows have so many pieces, and `alike`
  /// neighbours of them, if these are few, the same places.
  graph::Expr swizzled(graph::Expr row, graph::Expr at, int64_t pieces,
                       int64_t alike = 2);
  /// The same for a column of the right tile that has its steps side by side.
  graph::Expr swizzledColumn(graph::Expr column, graph::Expr at);
  /// Divides `count` things among the threads; the second one in a loop.
  void share(int64_t count, llvm::function_ref<void(graph::Expr)> body);
  void shareLoop(int64_t count, llvm::function_ref<void(graph::Expr)> body);
  /// The number of something in the tile of its slice, of which each has `count`; moves
  /// `firstStep` and `stage` on to that slice.
  graph::Expr inSlice(graph::Expr mine, int64_t count, graph::Expr &firstStep,
                      graph::Expr &stage);
  void fillLeftPieces(graph::Expr firstRound, graph::Expr firstStage);
  void fillPackedPieces(graph::Expr firstRound, graph::Expr firstStage);
  void fillRightPieces(graph::Expr firstRound, graph::Expr firstStage);
  void fillLeftElements(graph::Expr firstRound, graph::Expr firstStage);
  void fillRightElements(graph::Expr firstRound, graph::Expr firstStage);
  /// Stores `load()` where the condition holds, else zero.
  void storeGuarded(mlir::Value to, const graph::Exprs &place,
                    std::optional<graph::Expr> inside, mlir::Type type,
                    llvm::function_ref<graph::Expr()> load);
  llvm::SmallVector<mlir::Value, 4> loadMatrices(mlir::Value from,
                                                 const graph::Exprs &at,
                                                 bool transposed,
                                                 const llvm::Twine &name);

  /// Elements of a piece.
  int64_t piece;
  /// A constant right operand, with the steps of each column side by side.
  graph::UnpackPanelsOp packed;
  /// Whether the right tile has columns side by side.
  bool columnsLie;
  /// Whether elements come into shared memory 16 bytes at a time, or one by one.
  bool bringsLeftPieces, bringsRightPieces;
  mlir::Value leftTile, rightTile;

protected:
  /// Where the thread's columns are.
  ResultPieces pieces;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_TENSORSTRIPS_H
