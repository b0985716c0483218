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
  graph::MatMulOp scores;
  graph::SoftmaxOp softmax;
  graph::MatMulOp product;
  /// The elementwise operators from the scores to the softmax, the last one first.
  llvm::SmallVector<mlir::Operation *> between;

  explicit operator bool() const { return product != nullptr; }

  /// The one whose last product is `product`; none if that is another one, or a tensor
  /// between the products has further readers.
  static AttentionAnchor of(graph::MatMulOp product);
  /// The one that a group computes, with nothing behind it but elementwise operators and
  /// transposes that keep the last axis.
  static AttentionAnchor of(GroupView group);

  /// Sizes of one pair of matrices, and how many pairs there are.
  int64_t queries() { return shape(scores.getResult()).end()[-2]; }
  int64_t keys() { return shape(scores.getResult()).back(); }
  int64_t depth() { return shape(scores.getA()).back(); }
  int64_t width() { return shape(product.getResult()).back(); }
  llvm::ArrayRef<int64_t> batches() {
    return shape(product.getResult()).drop_back(2);
  }

  /// For each axis of `result` (of the group), the axis of the product that it is.
  llvm::SmallVector<int64_t> axesOf(mlir::Value result);

private:
  static llvm::ArrayRef<int64_t> shape(mlir::Value v) {
    return graph::shapeOf(v);
  }
};

/// Whether the only reader of an operator's result passes it on element by element, to
/// the same place or with axes but the last one exchanged.
bool isReadInPlace(mlir::Operation *op, mlir::Operation *reader);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_ATTENTIONANCHOR_H
