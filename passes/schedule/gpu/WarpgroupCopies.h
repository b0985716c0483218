// The tiles of both operands that a block of warpgroups copies: where they are in memory, in
// which order they come to shared memory, and as what products read them there.

#ifndef INGOT_PASSES_SCHEDULE_GPU_WARPGROUPCOPIES_H
#define INGOT_PASSES_SCHEDULE_GPU_WARPGROUPCOPIES_H

#include "passes/schedule/gpu/ResultPieces.h"
#include "passes/schedule/gpu/WarpgroupTile.h"

namespace ingot::schedule {

class WarpgroupCopies {
public:
  WarpgroupCopies(KernelBuilder &b, const BlockOperands &operands,
                  const WarpgroupTile &tile);

  /// Whether the columns of the right operand can be brought in another order.
  bool mayDeal() const { return !isRightTurned() && !isBatched; }
  /// Whether both operands are where maps can find them.
  bool areMapped();
  /// Declares shared memory for all stages.
  void declareTiles();
  /// Makes the maps; columns of so many units are dealt out.
  void makeMaps(int64_t units);

  /// A tile of the result, the number of its block among those of its cluster below and
  /// beside each other, and where the window of the first row that it fetches begins.
  struct Place {
    graph::Expr batch, firstRow, firstColumn, below, beside;
    graph::Exprs window;
  };
  /// Finds the window; in front of the strips of a tile.
  void findWindow(Place &place) const;
  /// Begin to copy the tile of a strip to the buffer of a stage.
  void copyLeft(const Place &place, graph::Expr strip, graph::Expr stage,
                mlir::Value gates, graph::Expr gate) const;
  void copyRight(const Place &place, graph::Expr strip, graph::Expr stage,
                 mlir::Value gates, graph::Expr gate) const;
  /// Begins the product of 64 rows of a stage, from that one on, and of all columns, for
  /// 32 bytes of steps.
  void multiply(graph::Expr stage, graph::Expr row, int64_t firstStep,
                mlir::Value sums) const;

private:
  bool isLeftTurned() const { return leftOrder == TileOrder::Turned; }
  bool isRightTurned() const { return rightOrder == TileOrder::Turned; }
  /// A tensor in memory: its buffer, and the distances along its axes.
  struct Stored {
    mlir::Value tensor, buffer;
    bool isTransposed = false;
    llvm::SmallVector<int64_t> strides;
  };
  bool findStored(mlir::Value tensor, Stored &stored) const;
  mlir::Value map(const Stored &stored, const graph::Dims &sizes,
                  llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> box,
                  const llvm::Twine &name) const;
  /// A map of a matrix of each batch, or of the only one.
  mlir::Value mapOfMatrices(const Stored &stored, const graph::Dim &rows,
                            const graph::Dim &columns,
                            llvm::ArrayRef<int64_t> box,
                            const llvm::Twine &name) const;
  mlir::Value mapOfWindows() const;
  mlir::Value mapOfDealtColumns(int64_t columnStride) const;
  void copy(mlir::Value map, const graph::Exprs &at, const graph::Exprs &shift,
            mlir::Value to, llvm::ArrayRef<graph::Expr> place,
            mlir::Value gates, graph::Expr gate, mlir::Value blocks) const;
  /// The first row or column of those that the block fetches in a tile of `size`, of which
  /// `count` blocks fetch a part each.
  graph::Expr firstOf(graph::Expr number, int64_t size, int64_t count) const;
  /// A bit for each block that gets what this one fetches; null if that is itself.
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
  /// Steps of a strip.
  int64_t strip;
  /// A convolution whose rows are windows; null where they are those of a matrix.
  mutable graph::ConvOp window;
  int64_t units = 1;
  Stored left, right;
  mlir::Value leftTile, rightTile, leftMap, rightMap;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_WARPGROUPCOPIES_H
