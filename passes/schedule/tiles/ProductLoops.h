// The loops of a matrix product around its register tiles: [..., M, K] x [...,
// K, N]. If the right operand has no batches, the rows of all batches form one
// matrix. Batches and panels of columns are parallel. The loop over panels is
// outside, so that the right operand is read once; the left one is smaller or
// comes from the cache.

#ifndef INGOT_PASSES_SCHEDULE_TILES_PRODUCTLOOPS_H
#define INGOT_PASSES_SCHEDULE_TILES_PRODUCTLOOPS_H

#include "passes/schedule/Anchors.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/PanelKernel.h"
#include "passes/schedule/tiles/RowTiles.h"

namespace ingot::schedule {

/// Base class of the strategies for matrix products, with plans {columns, rows,
/// splits} of tiles whose vectors have `lanes` lanes.
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
  /// Whether the strategy can compute the product. matches() has checked that
  /// it fits tiles and is the only anchor of its group.
  virtual bool fits(graph::MatMulOp product,
                    const TargetDescription &target) const = 0;
  /// Returns the vectors that cover `columns` columns of panels.
  virtual ColumnVectors panelVectors(graph::MatMulOp product, int64_t columns,
                                     const TargetDescription &target) const = 0;
  /// Returns how many steps are contiguous in panels.
  virtual int64_t steps(graph::MatMulOp product,
                        const TargetDescription &target) const {
    return 1;
  }
  virtual int64_t lanes(graph::MatMulOp product,
                        const TargetDescription &target) const = 0;
  /// Return the tiles that fit the registers, best first, and the cycles of
  /// one.
  virtual std::vector<TileChoice>
  tiles(graph::MatMulOp product, const TargetDescription &target) const = 0;
  virtual double cycles(graph::MatMulOp product, const TileChoice &tile,
                        const TargetDescription &target) const = 0;
  /// Returns into how many parts sums may be split.
  virtual int64_t mostSplits(graph::MatMulOp product) const { return 1; }
};

/// A strategy whose tiles come from `Own::model(product, target)`.
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

  /// The position of a tile: `count` rows of a panel, or (panel null) of the
  /// columns after the last full panel.
  struct Place {
    llvm::ArrayRef<graph::Expr> batch;
    graph::Expr firstRow;
    int64_t count;
    std::optional<graph::Expr> panel;
  };
  /// Calls `tile` for tiles of `tileRows` rows (fewer for the remaining rows)
  /// in all panels of `panelWidth` columns and in the remaining columns. If
  /// `around` is given, it is called for each panel and must call `rows`.
  void overTiles(
      int64_t tileRows, int64_t panelWidth,
      llvm::function_ref<void(const Place &)> tile,
      llvm::function_ref<void(bool isPanel, llvm::function_ref<void()> rows)>
          around = {});

  /// Prefetches the next panel while tiles of `tileRows` rows multiply the
  /// panel of `place`.
  StepChunks fetchAhead(const PackedPanels &panels, const Place &place,
                        int64_t tileRows);

  /// Loads an element of the left operand.
  graph::Expr loadLeft(const Place &place, graph::Expr row, graph::Expr step);
  /// Return the index of element (row, column) in an operand, and in the
  /// result.
  graph::Exprs operandIndex(mlir::Value operand, const Place &place,
                            graph::Expr row, graph::Expr column);
  graph::Exprs resultIndex(const Place &place, int64_t row, graph::Expr column);
  /// Prefetches operands of the epilogue before the steps of a tile: see
  /// schedule::fetchForEpilogue.
  void fetchForEpilogue(const Tile &tile, mlir::Value result,
                        const Place &place, graph::Expr firstColumn);
  /// Applies the epilogue to the sums of a tile and stores them.
  void store(Tile &tile, mlir::Value result, const Place &place,
             graph::Expr firstColumn);
  /// Returns the index of row number `row` of a tile.
  graph::Expr rowAt(const Place &place, int64_t row);
  /// Returns the first column of a tile.
  graph::Expr firstColumn(const Place &place, int64_t panelWidth);

private:
  /// Delinearizes the number of a row into the result's axes except the last.
  graph::Exprs rowsOf(graph::Expr row);

  KernelBuilder &b;
  mlir::Value left;
  graph::Dims sizes;
  RowsLeft rowsLeft;
  /// Whether the rows of all batches form one matrix of static size; and the
  /// left operand viewed as that matrix, null if its buffer does not allow it.
  bool isFlat = false;
  mlir::Value matrix;
};

/// Builds a product of narrow types by vector dot products, in tiles of `rows`
/// rows and the plan's columns (IntegerProduct.cpp).
void emitDotProduct(KernelBuilder &b, int64_t rows);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_PRODUCTLOOPS_H
