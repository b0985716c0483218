// The K tiles of both operands that a block multiplies on tensor cores.

#ifndef INGOT_PASSES_SCHEDULE_GPU_TENSORKTILES_H
#define INGOT_PASSES_SCHEDULE_GPU_TENSORKTILES_H

#include "passes/schedule/gpu/ResultVectors.h"
#include "passes/schedule/gpu/TensorTile.h"

namespace ingot::schedule {

/// The shared memory of a tensor-core kernel, and the position of the current
/// thread in the product, which the kernel sets before it fills K tiles or
/// loads from them.
class TensorKTiles {
protected:
  TensorKTiles(KernelBuilder &b, const BlockOperands &operands,
               const TensorTile &tile);

  /// Allocates the shared memory of all K tiles.
  void declareTiles();
  /// Loads the K tiles from `firstStep` on, one for each slice of the block,
  /// into the buffers of a pipeline stage.
  void fill(graph::Expr firstStep, graph::Expr stage);
  /// Load the K tiles of the left or of the right operand, like `fill`.
  void fillLeft(graph::Expr firstStep, graph::Expr stage);
  void fillRight(graph::Expr firstStep, graph::Expr stage);
  /// Load the MMA operands of a warp for one half of a K tile. loadLeft returns
  /// the operands of all the warp's rows, loadRight those of two adjacent MMAs
  /// along the columns: MMAs 2 * `pair` and 2 * `pair` + 1.
  llvm::SmallVector<llvm::SmallVector<mlir::Value, 4>>
  loadLeft(graph::Expr stage, int64_t half);
  llvm::SmallVector<mlir::Value, 4> loadRight(graph::Expr stage, int64_t half,
                                              int64_t pair);

  /// Steps (K) of a K tile, and steps that all slices of the block multiply
  /// together per iteration.
  int64_t kTile() const { return kTileRowVectors * vectorElements; }
  int64_t round() const { return kTile() * tile.slices; }
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
  /// Return the condition that a row, a column or a step (K) is inside of the
  /// product; nothing if it always is. `steps` is the number of steps of the
  /// product.
  std::optional<graph::Expr> insideRows(graph::Expr row);
  std::optional<graph::Expr> insideColumns(graph::Expr column);
  std::optional<graph::Expr> insideSteps(graph::Expr step, int64_t steps);
  static std::optional<graph::Expr> both(std::optional<graph::Expr> x,
                                         std::optional<graph::Expr> y);
  /// Returns the swizzled position of 16-byte unit `at` of a row with `vectors`
  /// units. With fewer than 8 units, `alike` adjacent rows have the same
  /// swizzle.
  graph::Expr swizzled(graph::Expr row, graph::Expr at, int64_t vectors,
                       int64_t alike = 2);
  /// Returns the swizzled position of 16-byte unit `at` in a column of the
  /// right tile, for a tile in which the steps (K) of each column are
  /// contiguous.
  graph::Expr swizzledColumn(graph::Expr column, graph::Expr at);
  /// Emit `body` for this thread's share of `count` items, in unrolled code
  /// (`share`) or in a loop (`shareLoop`).
  void share(int64_t count, llvm::function_ref<void(graph::Expr)> body);
  void shareLoop(int64_t count, llvm::function_ref<void(graph::Expr)> body);
  /// Divides items among the K tiles that the slices of the block fill, `count`
  /// items for each K tile. Returns the index of item number `mine` within its
  /// K tile, and advances `firstStep` and `stage` from the K tile of the first
  /// slice to the K tile of this item.
  graph::Expr inSlice(graph::Expr mine, int64_t count, graph::Expr &firstStep,
                      graph::Expr &stage);
  void fillLeftVectors(graph::Expr firstRound, graph::Expr firstStage);
  void fillPackedVectors(graph::Expr firstRound, graph::Expr firstStage);
  void fillRightVectors(graph::Expr firstRound, graph::Expr firstStage);
  void fillLeftElements(graph::Expr firstRound, graph::Expr firstStage);
  void fillRightElements(graph::Expr firstRound, graph::Expr firstStage);
  /// Stores `load()`, or zero if the condition `inside` is present and false.
  void storeGuarded(mlir::Value to, const graph::Exprs &place,
                    std::optional<graph::Expr> inside, mlir::Type type,
                    llvm::function_ref<graph::Expr()> load);
  llvm::SmallVector<mlir::Value, 4> loadMatrices(mlir::Value from,
                                                 const graph::Exprs &at,
                                                 bool transposed,
                                                 const llvm::Twine &name);

  /// Elements of a 16-byte vector.
  int64_t vectorElements;
  /// The operator that unpacks a constant right operand whose columns have
  /// contiguous steps (K); null if the right operand is not packed.
  graph::UnpackPanelsOp packed;
  /// Whether adjacent columns, instead of adjacent steps (K), are contiguous in
  /// the right tile.
  bool columnsLie;
  /// Whether operands are copied to shared memory in 16-byte vectors, or else
  /// element by element.
  bool copiesLeftVectors, copiesRightVectors;
  mlir::Value leftTile, rightTile;

protected:
  /// The assignment of columns to the thread.
  ResultVectors vectors;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_TENSORKTILES_H
