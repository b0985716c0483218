// Attention: a softmax between two matrix products.
//
//   softmax(f(Q x K)) x V
//
// with any elementwise function f (scale, mask, bias, soft cap).

#ifndef INGOT_PASSES_SCHEDULE_ATTENTIONANCHOR_H
#define INGOT_PASSES_SCHEDULE_ATTENTIONANCHOR_H

#include "passes/schedule/GroupView.h"

namespace ingot::schedule {

struct AttentionAnchor {
  /// Queries [..., M, D] times keys [..., D, N], their softmax, and its product
  /// with values [..., N, E]. D and E are known when compiling, and there is at
  /// least one key. Results are f32, or the narrow float type of the operands.
  mutable graph::MatMulOp scores;
  mutable graph::SoftmaxOp softmax;
  mutable graph::MatMulOp product;
  /// The elementwise operators from the scores to the softmax, last one first.
  llvm::SmallVector<mlir::Operation *> between;
  /// The cast of the softmax to bf16, f16 or tf32, if both products have
  /// operands of that type.
  mlir::Operation *rounding = nullptr;

  explicit operator bool() const { return product != nullptr; }
  /// Whether everything except the operands of both matrix products is f32.
  bool isOfF32() const {
    return graph::elementOf(softmax.getInput()).isF32() &&
           graph::elementOf(product.getResult()).isF32();
  }

  /// Returns the attention whose second product is `product`; none if there is
  /// no such attention, or if a tensor between its two products has other
  /// users.
  static AttentionAnchor of(graph::MatMulOp product);
  /// Returns the attention that a group computes. Only elementwise operators
  /// and transposes that keep the last axis may follow the second product.
  static AttentionAnchor of(GroupView group);

  /// Return the numbers of queries and keys of one head, the elements of a key
  /// (`depth`) and of a value (`width`), and the batch sizes.
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

  /// Returns the tensor [..., N, D] of which the keys [..., D, N] are a
  /// transpose, with each key contiguous along the last axis; null if the keys
  /// are not such a transpose.
  mlir::Value keyRows() const;
  /// Returns the index into keyRows() of an element of the keys. `place` is its
  /// index in the keys: (head..., element, key).
  graph::Exprs atKeyRows(llvm::ArrayRef<graph::Expr> place) const;

  /// Returns, for each axis of the group's result `result`, the corresponding
  /// axis of the result of `product`.
  llvm::SmallVector<int64_t> axesOf(mlir::Value result);
};

/// The matrices of a tensor along one axis, each repeated several times, as in
/// grouped-query attention:
///
///   reshape(expand(reshape(from)))
///   [.., G, ..] -> [.., G, 1, ..] -> [.., G, T, ..] -> [.., G x T, ..]
///
/// Rounding casts may stand between these operators.
struct RepeatedMatrices {
  mlir::Value from;
  int64_t axis = 0, times = 1;
  /// The operators from `repeated` back to `from`, the last reshape first.
  llvm::SmallVector<mlir::Operation *> path;

  static std::optional<RepeatedMatrices> of(mlir::Value repeated);
};

/// Returns the operators that join a group around `producer`, which is the
/// second matrix product, its softmax, or the rounding cast of the softmax.
/// They form an attention: both products, the softmax, the operators between
/// them, and the transposes and scales of queries and values. With
/// `inStoredLayout`, also the moves and rounding casts of keys and values,
/// which the kernel then reads in their stored layout. Empty if `suits` rejects
/// the attention, or if the group would compute something else.
llvm::SmallVector<mlir::Operation *>
takeAttention(mlir::Operation *producer,
              llvm::function_ref<bool(mlir::Operation *)> isMember,
              llvm::function_ref<bool(mlir::Operation *)> isFree,
              bool inStoredLayout,
              llvm::function_ref<bool(const AttentionAnchor &)> suits);

/// Whether `reader` is the only user of the result of `op`, and is either
/// elementwise on the same shape or a transpose that keeps the last axis.
bool isReadInPlace(mlir::Operation *op, mlir::Operation *reader);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_ATTENTIONANCHOR_H
