// Softmax between two matrix products: attention.
//
//   softmax(f(Q x K)) x V
//
// with anything elementwise (scale, mask, bias, cap) as f.

#ifndef INGOT_PASSES_SCHEDULE_ATTENTIONANCHOR_H
#define INGOT_PASSES_SCHEDULE_ATTENTIONANCHOR_H

#include "passes/schedule/GroupView.h"

namespace ingot::schedule {

struct AttentionAnchor {
  /// Queries [..., M, D] by keys [..., D, N], their softmax, and by values [..., N, E].
  /// D and E are numbers, and there is at least one key. Results are of f32.
  graph::MatMulOp scores;
  graph::SoftmaxOp softmax;
  graph::MatMulOp product;
  /// The elementwise operators from the scores to the softmax, the last one first.
  llvm::SmallVector<mlir::Operation *> between;
  /// What rounds the softmax to bf16 or f16, where both products are of such operands.
  graph::CastOp rounding;

  explicit operator bool() const { return product != nullptr; }

  /// The one whose last product is `product`; none if that is another one, or a tensor
  /// between the products has further readers.
  static AttentionAnchor of(graph::MatMulOp product);
  /// The one that a group computes, with nothing behind it but elementwise operators and
  /// transposes that keep the last axis.
  static AttentionAnchor of(GroupView group);

  /// Sizes of one pair of matrices, and how many pairs there are.
  graph::Dim queries() { return graph::dimsOf(scores.getResult()).end()[-2]; }
  graph::Dim keys() { return graph::dimsOf(scores.getResult()).back(); }
  int64_t depth() { return graph::shapeOf(scores.getA()).back(); }
  int64_t width() { return graph::shapeOf(product.getResult()).back(); }
  graph::Dims batches() {
    graph::Dims sizes = graph::dimsOf(product.getResult());
    sizes.pop_back_n(2);
    return sizes;
  }

  /// For each axis of `result` (of the group), the axis of the product that it is.
  llvm::SmallVector<int64_t> axesOf(mlir::Value result);
};

/// Whether the only reader of an operator's result passes it on element by element, to
/// the same place or with axes but the last one exchanged.
bool isReadInPlace(mlir::Operation *op, mlir::Operation *reader);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_ATTENTIONANCHOR_H
