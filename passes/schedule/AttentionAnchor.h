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
  /// D and E are numbers, and there is at least one key. Results are of f32, or of the
  /// narrow floats that the operands are.
  mutable graph::MatMulOp scores;
  mutable graph::SoftmaxOp softmax;
  mutable graph::MatMulOp product;
  /// The elementwise operators from the scores to the softmax, the last one first.
  llvm::SmallVector<mlir::Operation *> between;
  /// What rounds the softmax to bf16, f16 or tf32, where both products are of such operands.
  mlir::Operation *rounding = nullptr;

  explicit operator bool() const { return product != nullptr; }
  /// Whether all but the operands of the products are f32.
  bool isOfF32() const {
    return graph::elementOf(softmax.getInput()).isF32() &&
           graph::elementOf(product.getResult()).isF32();
  }

  /// The one whose last product is `product`; none if that is another one, or a tensor
  /// between the products has further readers.
  static AttentionAnchor of(graph::MatMulOp product);
  /// The one that a group computes, with nothing behind it but elementwise operators and
  /// transposes that keep the last axis.
  static AttentionAnchor of(GroupView group);

  /// Sizes of one pair of matrices, and how many pairs there are.
  graph::Dim queries() const {
    return graph::dimsOf(scores.getResult()).end()[-2];
  }
  graph::Dim keys() const { return graph::dimsOf(scores.getResult()).back(); }
  int64_t depth() const { return graph::shapeOf(scores.getA()).back(); }
  int64_t width() const { return graph::shapeOf(product.getResult()).back(); }
  graph::Dims batches() const {
    graph::Dims sizes = graph::dimsOf(product.getResult());
    sizes.pop_back_n(2);
    return sizes;
  }

  /// Returns the tensor whose transpose the keys are, if its last axis has the elements of
  /// a key; null otherwise.
  mlir::Value keyRows() const;
  /// Where that tensor has the element (head..., element, key) of the keys.
  graph::Exprs atKeyRows(llvm::ArrayRef<graph::Expr> place) const;

  /// For each axis of `result` (of the group), the axis of the product that it is.
  llvm::SmallVector<int64_t> axesOf(mlir::Value result);
};

/// The matrices of a tensor along one axis, each several times in a row, as heads of
/// queries that share keys and values have them:
/// reshape(expand(reshape(from))) of [.., G, ..], [.., G, 1, ..], [.., G, T, ..], [.., G x T, ..],
/// maybe with roundings between them.
struct RepeatedMatrices {
  mlir::Value from;
  int64_t axis = 0, times = 1;
  /// The last reshape first.
  llvm::SmallVector<mlir::Operation *> path;

  static std::optional<RepeatedMatrices> of(mlir::Value repeated);
};

/// Returns the operators that a group around `producer` (the last product, its softmax or
/// the rounding of that) has besides `producer`, where `suits` takes such attention: all of
/// it, and what queries and values are moved and queries are scaled by in front of it. Keys
/// are moved in front of it as well if they are to be read `asTheyLie`.
/// Empty if `suits` does not take it, or the group would compute something else.
llvm::SmallVector<mlir::Operation *>
takeAttention(mlir::Operation *producer,
              llvm::function_ref<bool(mlir::Operation *)> isMember,
              llvm::function_ref<bool(mlir::Operation *)> isFree,
              bool asTheyLie,
              llvm::function_ref<bool(const AttentionAnchor &)> suits);

/// Whether the only reader of an operator's result passes it on element by element, to
/// the same place or with axes but the last one exchanged.
bool isReadInPlace(mlir::Operation *op, mlir::Operation *reader);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_ATTENTIONANCHOR_H
