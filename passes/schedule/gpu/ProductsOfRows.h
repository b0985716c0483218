// Matrix products of few rows that one kernel computes together with the norm
// of their rows.

#ifndef INGOT_PASSES_SCHEDULE_GPU_PRODUCTSOFROWS_H
#define INGOT_PASSES_SCHEDULE_GPU_PRODUCTSOFROWS_H

#include "passes/schedule/GroupView.h"

namespace ingot::schedule {

/// One product, or several with the same left operand and constant weights of
/// equal shape (the gate and up projections of a gated MLP). An RMS norm may
/// scale and round the rows first:
///
///   product[row, column] = factor(row)
///       * sum over step of x[row, step] * scale[step] * w[step, column]
///   factor(row) = 1 / sqrt(mean over step of x[row, step]^2 + epsilon)
///
/// A kernel that reads each step once sums the squares along with the products.
struct ProductsOfRows {
  mutable graph::LayerNormOp norm;
  llvm::SmallVector<mlir::Operation *, 2> products;

  /// Returns the products that a group computes besides cheap operators; none
  /// if it computes anything else.
  static ProductsOfRows of(GroupView group);
  /// Returns the operators that join the group of a product of few rows
  /// together with `producer`, if that is another product of few rows, or the
  /// norm of the rows that products of the group read. Empty if `producer` is
  /// neither.
  static llvm::SmallVector<mlir::Operation *>
  taken(mlir::Operation *producer,
        llvm::function_ref<bool(mlir::Operation *)> isMember,
        llvm::function_ref<bool(mlir::Operation *)> isFree, bool packs);
  /// Duplicates each norm whose users are all products of few rows, so that
  /// every product (or pair of gated products) computes its own norm.
  static void separateNorms(mlir::Block &block, bool packs);
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_PRODUCTSOFROWS_H
