// Products of few rows that one kernel computes, with what normalizes the rows in front.

#ifndef INGOT_PASSES_SCHEDULE_GPU_PRODUCTSOFROWS_H
#define INGOT_PASSES_SCHEDULE_GPU_PRODUCTSOFROWS_H

#include "passes/schedule/GroupView.h"

namespace ingot::schedule {

/// One product, or several of the same rows by weights that are known and of as many columns:
/// a gate and what it opens for. Rows may be divided by their root mean square, scaled and
/// rounded in front of them:
///
///     product[row, column] = factor(row) * sum over step of x[row, step] * scale[step] * w[step, column]
///     factor(row) = 1 / sqrt(mean over step of x[row, step]^2 + epsilon)
///
/// A kernel that has each step once sums up the squares beside the products.
struct ProductsOfRows {
  mutable graph::LayerNormOp norm;
  llvm::SmallVector<mlir::Operation *, 2> products;

  /// Those that a group computes beside cheap operators; none if it computes something else.
  static ProductsOfRows of(GroupView group);
  /// Returns the operators from `producer` on that join a group around such a product: another
  /// one, or what normalizes the rows of those that are there.
  static llvm::SmallVector<mlir::Operation *>
  taken(mlir::Operation *producer,
        llvm::function_ref<bool(mlir::Operation *)> isMember,
        llvm::function_ref<bool(mlir::Operation *)> isFree, bool packs);
  /// Has each product of rows, and each gate with what it opens for, normalize them itself,
  /// where all that read normalized rows are such products.
  static void separateNorms(mlir::Block &block, bool packs);
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_PRODUCTSOFROWS_H
