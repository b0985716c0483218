// The loops of a matrix product around its register tiles.
//
// [..., M, K] x [..., K, N]. A right operand without batches makes the rows of
// all batches one matrix. Batches and panels of columns are parallel; panel by
// panel, since the right operand is read once then, and the left one is smaller
// or comes from the cache.

#ifndef INGOT_PASSES_SCHEDULE_TILES_PRODUCTLOOPS_H
#define INGOT_PASSES_SCHEDULE_TILES_PRODUCTLOOPS_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

class ProductLoops {
public:
  ProductLoops(KernelBuilder &b, graph::MatMulOp product);

  /// The sizes of one matrix, and how many there are.
  int64_t rows, columns, steps, batches;
  bool oneMatrix;

  /// A tile: `count` rows of a panel, or of the columns behind the last one.
  struct Place {
    llvm::ArrayRef<graph::Expr> batch;
    graph::Expr firstRow;
    int64_t count;
    std::optional<graph::Expr> panel;
  };
  /// Calls `tile` for tiles of `tileRows` rows (and fewer for the rows left) in
  /// all panels of `panelWidth` columns and the columns left.
  void overTiles(int64_t tileRows, int64_t panelWidth,
                 llvm::function_ref<void(const Place &)> tile);

  /// Where an operand has its element (row, column), and where the result has it.
  graph::Exprs operandIndex(mlir::Value operand, const Place &place,
                            graph::Expr row, graph::Expr column);
  graph::Exprs resultIndex(const Place &place, int64_t row, graph::Expr column);
  /// Row `row` of a place's tile.
  graph::Expr rowAt(const Place &place, int64_t row);
  /// The first column of a place.
  graph::Expr firstColumn(const Place &place, int64_t panelWidth);

private:
  /// Takes the number of a row apart, into the result's axes but the last.
  graph::Exprs rowsOf(graph::Expr row);

  KernelBuilder &b;
  graph::MatMulOp product;
  llvm::ArrayRef<int64_t> shape;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_PRODUCTLOOPS_H
