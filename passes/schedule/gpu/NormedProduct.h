// A product of few rows that are normalized in front of it.

#ifndef INGOT_PASSES_SCHEDULE_GPU_NORMEDPRODUCT_H
#define INGOT_PASSES_SCHEDULE_GPU_NORMEDPRODUCT_H

#include "passes/schedule/GroupView.h"

namespace ingot {
struct TargetDescription;
} // namespace ingot

namespace ingot::schedule {

/// Rows that are divided by their root mean square, maybe scaled and rounded, and
/// multiplied by weights that are known:
///
///     product[row, column] = factor(row) * sum over step of x[row, step] * scale[step] * w[step, column]
///     factor(row) = 1 / sqrt(mean over step of x[row, step]^2 + epsilon)
///
/// A kernel that has each step once sums up the squares beside the products.
struct NormedProduct {
  mutable graph::LayerNormOp norm;
  mutable graph::MatMulOp product;

  explicit operator bool() const { return norm != nullptr; }

  /// The one whose left operand is the result of `norm`, or that rounded; none if another
  /// operator computes it, or there are too many rows for a kernel of few.
  static NormedProduct of(graph::MatMulOp product, bool packs);
  /// The one that a group computes beside cheap operators.
  static NormedProduct of(GroupView group);
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_NORMEDPRODUCT_H
