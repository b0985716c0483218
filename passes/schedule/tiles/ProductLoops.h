// The loops of a matrix product around its register tiles:
//
//   [..., M, K] x [..., K, N]
//
// If the right operand has no batches, the rows of all batches form one matrix.
// Threads divide the batches, or the panels: groups of columns of the right
// operand. The loop over panels is the outer one, so that the right operand is
// read once; the left operand, which is read once per panel, is smaller or
// comes from the cache.

#ifndef INGOT_PASSES_SCHEDULE_TILES_PRODUCTLOOPS_H
#define INGOT_PASSES_SCHEDULE_TILES_PRODUCTLOOPS_H

#include "passes/schedule/Anchors.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/PanelKernel.h"
#include "passes/schedule/tiles/RowTiles.h"

namespace ingot::schedule {

/// Base class of the strategies for matrix products. A plan has the columns,
/// the rows and the number of partial sums (`splits`) of a tile. It may have
/// `block`, the number of rows that are multiplied by all columns before the
/// next rows.
class ProductStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override;
  llvm::ArrayRef<PlanKey> planKeys() const override;
  llvm::SmallVector<Plan> plans(GroupOnTarget group) const override;
  double cost(GroupOnTarget group, const Plan &plan) const override;
  std::string refuse(GroupOnTarget group, const Plan &plan) const override;
  void pack(GroupOnTarget group, const Plan &plan) const override;
  bool takesDynamicSizes() const override { return true; }

protected:
  /// Whether the strategy can compute the product. Before it calls this
  /// function, matches() checks that the product has a static number of columns
  /// (ProductSizes::fitTiles) and is the group's only anchor.
  virtual bool fits(graph::MatMulOp product,
                    const TargetDescription &target) const = 0;
  /// Returns the vectors that cover `columns` columns of a panel of weights.
  virtual ColumnVectors panelVectors(graph::MatMulOp product, int64_t columns,
                                     const TargetDescription &target) const = 0;
  /// Returns how many K steps are contiguous for each column in panels of
  /// weights.
  virtual int64_t steps(graph::MatMulOp product,
                        const TargetDescription &target) const {
    return 1;
  }
  virtual int64_t lanes(graph::MatMulOp product,
                        const TargetDescription &target) const = 0;
  /// tiles() returns the tiles that fit the registers, best first; cycles()
  /// returns the cycles of the product in tiles of one shape.
  virtual std::vector<TileChoice>
  tiles(graph::MatMulOp product, const TargetDescription &target) const = 0;
  virtual double cycles(graph::MatMulOp product, const TileChoice &tile,
                        const TargetDescription &target) const = 0;
  /// Returns the maximum number of partial sums into which each sum may be
  /// split.
  virtual int64_t mostSplits(graph::MatMulOp product) const { return 1; }
};

/// Base class of strategies whose tiles are ranked by the cost model that
/// `Own::model(product, target)` returns.
template <typename Own> class ModelledProduct : public ProductStrategy {
protected:
  std::vector<TileChoice>
  tiles(graph::MatMulOp product,
        const TargetDescription &target) const override {
    return Own::model(product, target).ranked();
  }
  double cycles(graph::MatMulOp product, const TileChoice &tile,
                const TargetDescription &target) const override {
    return Own::model(product, target).cycles(tile);
  }
};

class ProductLoops : public ProductSizes {
public:
  ProductLoops(KernelBuilder &b, mlir::Value left, mlir::Value right,
               mlir::Value result, RowsLeft rowsLeft = RowsLeft::InOwnTile);
  ProductLoops(KernelBuilder &b, graph::MatMulOp product,
               RowsLeft rowsLeft = RowsLeft::InOwnTile)
      : ProductLoops(b, product.getA(), product.getB(), product.getResult(),
                     rowsLeft) {}

  /// The position of a tile: `count` rows from `firstRow` on, of batch `batch`,
  /// in the columns of panel `panel` of the right operand; in the columns after
  /// the last full panel if `panel` is empty.
  struct Place {
    llvm::ArrayRef<graph::Expr> batch;
    graph::Expr firstRow;
    int64_t count;
    std::optional<graph::Expr> panel;
  };
  /// Calls `tile` for tiles of `tileRows` rows (fewer for the remaining rows)
  /// in all panels of `panelWidth` columns and in the remaining columns. If
  /// `around` is given, it is called once for each panel (or for the remaining
  /// columns, with `isPanel` false) and must call `rows`, which emits the
  /// panel's tiles.
  void overTiles(
      int64_t tileRows, int64_t panelWidth,
      llvm::function_ref<void(const Place &)> tile,
      llvm::function_ref<void(bool isPanel, llvm::function_ref<void()> rows)>
          around = {});

  /// Returns chunks for the loop over K steps. The chunks of all tiles of
  /// `tileRows` rows that multiply the panel of `place` together prefetch the
  /// next panel of weights (PackedPanels::fetchAhead). Returns no chunks for a
  /// tile with fewer rows.
  StepChunks fetchAhead(const PackedPanels &panels, const Place &place,
                        int64_t tileRows);

  /// Loads element (row, step along K) of the left operand.
  graph::Expr loadLeft(const Place &place, graph::Expr row, graph::Expr step);
  /// Return the index of element (row, column) in an operand and in the result.
  /// For the result, `row` is counted from the tile's first row.
  graph::Exprs operandIndex(mlir::Value operand, const Place &place,
                            graph::Expr row, graph::Expr column);
  graph::Exprs resultIndex(const Place &place, int64_t row, graph::Expr column);
  /// Prefetches operands of the epilogue before the K steps of a tile
  /// (schedule::fetchForEpilogue in FlatStore.h).
  void fetchForEpilogue(const Tile &tile, mlir::Value result,
                        const Place &place, graph::Expr firstColumn);
  /// Applies the epilogue to the sums of a tile and stores the results.
  void store(Tile &tile, mlir::Value result, const Place &place,
             graph::Expr firstColumn);
  /// Returns the index, in the matrix, of row number `row` of the tile.
  graph::Expr rowAt(const Place &place, int64_t row);
  /// Returns the first column of a tile.
  graph::Expr firstColumn(const Place &place, int64_t panelWidth);

private:
  /// Returns the result's index, without the last axis, of row number `row` of
  /// the matrix that the rows of all batches form.
  graph::Exprs rowsOf(graph::Expr row);

  KernelBuilder &b;
  mlir::Value left;
  graph::Dims sizes;
  RowsLeft rowsLeft;
  /// `isFlat`: true if there are batch axes and if the rows of all batches form
  /// one matrix of static size. `matrix`: the left operand viewed as that
  /// matrix; null if there is no such matrix, or if the operand's buffer does
  /// not allow the view.
  bool isFlat = false;
  mlir::Value matrix;
};

/// Builds a matrix product of narrow types by vector dot products, in tiles of
/// `rows` rows and the plan's columns (IntegerProduct.cpp).
void emitDotProduct(KernelBuilder &b, int64_t rows);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_PRODUCTLOOPS_H
