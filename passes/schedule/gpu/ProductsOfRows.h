// Matrix products of few rows that one kernel computes together with the norm
// of their rows.

#ifndef INGOT_PASSES_SCHEDULE_GPU_PRODUCTSOFROWS_H
#define INGOT_PASSES_SCHEDULE_GPU_PRODUCTSOFROWS_H

#include "passes/schedule/GroupView.h"

namespace ingot::schedule {

/// One product, or several with the same left operand and constant weights of
/// equal shape (the gate and up projections of a gated MLP). An RMS norm may
/// scale and round the rows of the left operand first. In the formula, a step
/// is an index along K:
///
///   product[row, column] = factor(row)
///       * sum over step of x[row, step] * scale[step] * w[step, column]
///   factor(row) = 1 / sqrt(mean over step of x[row, step]^2 + epsilon)
///
/// A kernel that reads each element of a row once can sum the squares along
/// with the products.
struct ProductsOfRows {
  mutable graph::LayerNormOp norm;
  llvm::SmallVector<mlir::Operation *, 2> products;

  /// Returns the products of a group, and the norm if there is one. If a group
  /// without a norm has a single operator that is not cheap, this operator is
  /// the product, of whatever kind. Returns no products if the group computes
  /// anything else besides cheap operators.
  static ProductsOfRows of(GroupView group);
  /// Returns `producer` and the operators that must join the group with it;
  /// empty if `producer` may not join. The group contains a product of few
  /// rows. `producer` may be the other product of a gated MLP, the RMS norm of
  /// the left operand, or a cast of the norm's result; with the cast, the norm
  /// must join, too. For `isMember` and `isFree` see Strategy::takes, for
  /// `packs` see mayBeInPanels.
  static llvm::SmallVector<mlir::Operation *>
  taken(mlir::Operation *producer,
        llvm::function_ref<bool(mlir::Operation *)> isMember,
        llvm::function_ref<bool(mlir::Operation *)> isFree, bool packs);
  /// Duplicates each norm that only products of few rows read, directly or
  /// through a cast, so that every product (or pair of gated products) computes
  /// its own norm.
  static void separateNorms(mlir::Block &block, bool packs);
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_PRODUCTSOFROWS_H
