// The loops of a matrix product around its register tiles.
//
// [..., M, K] x [..., K, N]. A right operand without batches makes the rows of
// all batches one matrix. Batches and panels of columns are parallel; panel by
// panel, since the right operand is read once then, and the left one is smaller
// or comes from the cache.

#ifndef INGOT_PASSES_SCHEDULE_TILES_PRODUCTLOOPS_H
#define INGOT_PASSES_SCHEDULE_TILES_PRODUCTLOOPS_H

#include "passes/schedule/Anchors.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/PanelKernel.h"
#include "passes/schedule/tiles/RowTiles.h"

namespace ingot::schedule {

/// What strategies of matrix products share: plans {columns, rows, splits} of tiles
/// whose vectors have `lanes` lanes.
class ProductStrategy : public Strategy {
public:
  bool matches(GroupView group, const TargetDescription &target) const override;
  llvm::ArrayRef<PlanKey> planKeys() const override;
  llvm::SmallVector<Plan> plans(GroupView group,
                                const TargetDescription &target) const override;
  double cost(GroupView group, const Plan &plan,
              const TargetDescription &target) const override;
  std::string refuse(GroupView group, const Plan &plan,
                     const TargetDescription &target) const override;
  void pack(graph::GroupOp group, const Plan &plan,
            const TargetDescription &target) const override;
  bool takesRunTimeSizes() const override { return true; }

protected:
  /// Whether it computes a product that tiles fit and that is all that its group has,
  /// but for operators on the elements of the result.
  virtual bool fits(graph::MatMulOp product,
                    const TargetDescription &target) const = 0;
  /// The vectors that cover so many columns of panels.
  virtual ColumnVectors panelVectors(graph::MatMulOp product, int64_t columns,
                                     const TargetDescription &target) const = 0;
  /// Steps that are side by side in panels.
  virtual int64_t steps(graph::MatMulOp product,
                        const TargetDescription &target) const {
    return 1;
  }
  virtual int64_t lanes(graph::MatMulOp product,
                        const TargetDescription &target) const = 0;
  /// The tiles that fit into the registers, the best first, and what one costs.
  virtual std::vector<TileChoice>
  tiles(graph::MatMulOp product, const TargetDescription &target) const = 0;
  virtual double cycles(graph::MatMulOp product, const TileChoice &tile,
                        const TargetDescription &target) const = 0;
  /// In how many parts sums can be computed.
  virtual int64_t mostSplits(graph::MatMulOp product) const { return 1; }
};

/// A strategy whose tiles are those of `Own::model(product, target)`.
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

  /// A tile: `count` rows of a panel, or of the columns behind the last one.
  struct Place {
    llvm::ArrayRef<graph::Expr> batch;
    graph::Expr firstRow;
    int64_t count;
    std::optional<graph::Expr> panel;
  };
  /// Calls `tile` for tiles of `tileRows` rows (and fewer for the rows left) in
  /// all panels of `panelWidth` columns and the columns left. `around`, if there is one, is
  /// called for each panel, and is to call what does its rows.
  void overTiles(
      int64_t tileRows, int64_t panelWidth,
      llvm::function_ref<void(const Place &)> tile,
      llvm::function_ref<void(bool isPanel, llvm::function_ref<void()> rows)>
          around = {});

  /// Has the next panel fetched while tiles of `tileRows` rows multiply that of a place.
  StepStrips fetchAhead(const PackedPanels &panels, const Place &place,
                        int64_t tileRows);

  /// Loads an element of the left operand.
  graph::Expr loadLeft(const Place &place, graph::Expr row, graph::Expr step);
  /// Where an operand has its element (row, column), and where the result has it.
  graph::Exprs operandIndex(mlir::Value operand, const Place &place,
                            graph::Expr row, graph::Expr column);
  graph::Exprs resultIndex(const Place &place, int64_t row, graph::Expr column);
  /// In front of the steps of a tile: see fetchForEpilogue.
  void fetchForEpilogue(const Tile &tile, mlir::Value result,
                        const Place &place, graph::Expr firstColumn);
  /// Stores the sums of a tile, after what follows the product in its group.
  void store(Tile &tile, mlir::Value result, const Place &place,
             graph::Expr firstColumn);
  /// Row `row` of a place's tile.
  graph::Expr rowAt(const Place &place, int64_t row);
  /// The first column of a place.
  graph::Expr firstColumn(const Place &place, int64_t panelWidth);

private:
  /// Takes the number of a row apart, into the result's axes but the last.
  graph::Exprs rowsOf(graph::Expr row);

  KernelBuilder &b;
  mlir::Value left;
  graph::Dims sizes;
  RowsLeft rowsLeft;
  /// Whether the rows of all batches are one matrix of known sizes, and the left operand
  /// as that matrix; null where it is none in memory.
  bool isFlat = false;
  mlir::Value matrix;
};

/// Builds a product of narrow numbers in tiles of vectors, of so many rows and of the
/// plan's columns (IntegerProduct.cpp).
void emitDotProduct(KernelBuilder &b, int64_t rows);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_PRODUCTLOOPS_H
