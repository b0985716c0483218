// Copies tiles of both operands to shared memory for a block of warpgroups, and
// starts the MMAs that read them.

#ifndef INGOT_PASSES_SCHEDULE_GPU_WARPGROUPCOPIES_H
#define INGOT_PASSES_SCHEDULE_GPU_WARPGROUPCOPIES_H

#include "passes/schedule/gpu/ResultVectors.h"
#include "passes/schedule/gpu/WarpgroupTile.h"

namespace ingot::schedule {

class WarpgroupCopies {
public:
  WarpgroupCopies(KernelBuilder &b, const BlockOperands &operands,
                  const WarpgroupTile &tile);

  /// Whether the columns of the right operand can be interleaved.
  bool mayDeal() const { return !isRightTurned() && !isBatched; }
  /// Whether TMA descriptors can describe both operands.
  bool areMapped();
  /// Allocates shared memory for the tiles of both operands in all pipeline
  /// stages.
  void declareTiles();
  /// Creates the TMA descriptors. The columns of `units` MMAs are interleaved;
  /// 1 means that they are not.
  void makeMaps(int64_t units);

  /// A tile of the result, the row and column of the block in its cluster, and
  /// the position of the convolution window of the first row that the block
  /// fetches.
  struct Place {
    graph::Expr batch, firstRow, firstColumn, below, beside;
    graph::Exprs window;
  };
  /// Sets `place.window` from the first row of the tile. Called once per tile,
  /// before its K tiles are copied.
  void findWindow(Place &place) const;
  /// Start the copy of a K tile of one operand to a pipeline stage. The
  /// arriving bytes are counted at the mbarrier with index `mbarrier` in
  /// `mbarriers`.
  void copyLeft(const Place &place, graph::Expr kTile, graph::Expr stage,
                mlir::Value mbarriers, graph::Expr mbarrier) const;
  void copyRight(const Place &place, graph::Expr kTile, graph::Expr stage,
                 mlir::Value mbarriers, graph::Expr mbarrier) const;
  /// Starts the MMA of 64 rows of the left tile in a pipeline stage, from `row`
  /// on, with all columns of the right tile, for 32 bytes of steps (K) from
  /// `firstStep` of the K tile on. Adds to `sums`.
  void multiply(graph::Expr stage, graph::Expr row, int64_t firstStep,
                mlir::Value sums) const;

private:
  bool isLeftTurned() const { return leftOrder == TileOrder::Turned; }
  bool isRightTurned() const { return rightOrder == TileOrder::Turned; }
  /// A tensor in memory: its buffer and strides.
  struct Stored {
    mlir::Value tensor, buffer;
    bool isTransposed = false;
    llvm::SmallVector<int64_t> strides;
  };
  bool findStored(mlir::Value tensor, Stored &stored) const;
  mlir::Value map(const Stored &stored, const graph::Dims &sizes,
                  llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> box,
                  const llvm::Twine &name) const;
  /// Creates the TMA descriptor of `stored`: of the whole tensor if each batch
  /// has a matrix of its own, otherwise of a single `rows` x `columns` matrix.
  mlir::Value mapOfMatrices(const Stored &stored, const graph::Dim &rows,
                            const graph::Dim &columns,
                            llvm::ArrayRef<int64_t> box,
                            const llvm::Twine &name) const;
  mlir::Value mapOfWindows() const;
  mlir::Value mapOfDealtColumns(int64_t columnStride) const;
  void copy(mlir::Value map, const graph::Exprs &at, const graph::Exprs &shift,
            mlir::Value to, llvm::ArrayRef<graph::Expr> place,
            mlir::Value mbarriers, graph::Expr mbarrier,
            mlir::Value blocks) const;
  /// Returns the first row or column that block `number` fetches, if `count`
  /// blocks fetch equal parts of a tile of `size` rows or columns.
  graph::Expr firstOf(graph::Expr number, int64_t size, int64_t count) const;
  /// Return the multicast mask, with a bit for each block of the cluster that
  /// receives the part of a tile that this block fetches; null if only this
  /// block receives it.
  mlir::Value blocksOfRow(const Place &place) const;
  mlir::Value blocksOfColumn(const Place &place) const;
  graph::Exprs placeIn(const Stored &stored, graph::Exprs inOperand,
                       graph::Expr first, graph::Expr second) const;
  mlir::Type multiplied(mlir::Type stored) const {
    return operands.multiplied ? operands.multiplied : stored;
  }

  KernelBuilder &b;
  const BlockOperands &operands;
  WarpgroupTile tile;
  TileOrder leftOrder, rightOrder;
  /// Whether each batch has a matrix of its own.
  bool isBatched;
  /// Steps (K) of a K tile.
  int64_t kTile;
  /// The convolution, if the rows of the left operand are its windows; null if
  /// they are rows of a matrix.
  mutable graph::ConvOp window;
  int64_t units = 1;
  Stored left, right;
  mlir::Value leftTile, rightTile, leftMap, rightMap;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_WARPGROUPCOPIES_H
