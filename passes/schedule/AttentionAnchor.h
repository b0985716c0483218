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
  /// `scores` multiplies queries [..., M, D] by keys [..., D, N], `softmax`
  /// turns each row of scores into weights, and `product` multiplies these by
  /// values [..., N, E]. D and E are known when compiling, and there is at
  /// least one key. The results of both products are f32, or have the float
  /// type of the operands.
  mutable graph::MatMulOp scores;
  mutable graph::SoftmaxOp softmax;
  mutable graph::MatMulOp product;
  /// The elementwise operators from the scores to the softmax, last one first.
  llvm::SmallVector<mlir::Operation *> between;
  /// The cast of the softmax to bf16, f16 or tf32, if both products have
  /// operands of that type; null if there is no cast.
  mlir::Operation *rounding = nullptr;

  explicit operator bool() const { return product != nullptr; }
  /// Whether the input of the softmax and the result of the second matrix
  /// product are f32.
  bool isOfF32() const {
    return graph::elementOf(softmax.getInput()).isF32() &&
           graph::elementOf(product.getResult()).isF32();
  }

  /// Returns the attention whose second product is `product`; none if there is
  /// no such attention, or if a tensor between its two products has other
  /// users.
  static AttentionAnchor of(graph::MatMulOp product);
  /// Returns the attention that a group computes; none if the group computes
  /// anything else. Only elementwise operators and transposes that keep the
  /// last axis may follow the second product.
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

/// A tensor that consists of the slices of the tensor `from` along one of its
/// axes, `axis`, each repeated `times` times, like the keys and values in
/// grouped-query attention. For G slices and T = `times`:
///
///   reshape(expand(reshape(from)))
///   [.., G, ..] -> [.., G, 1, ..] -> [.., G, T, ..] -> [.., G x T, ..]
///
/// Rounding casts may stand between these operators.
struct RepeatedMatrices {
  mlir::Value from;
  int64_t axis = 0, times = 1;
  /// The operators from the repeated tensor back to `from`, the last reshape
  /// first.
  llvm::SmallVector<mlir::Operation *> path;

  static std::optional<RepeatedMatrices> of(mlir::Value repeated);
};

/// Returns `producer` and the operators that must join the group with it, so
/// that the group computes an attention. `producer` is the second matrix
/// product, its softmax, or the rounding cast of the softmax; of these, those
/// that follow `producer` are in the group already. The following operators
/// join: the first product, the operators between it and the softmax, the
/// transposes and scales of the queries, and the transposes of the values. With
/// `inStoredLayout`, these join as well: the casts of the queries, and the
/// transposes, slices, repetitions and casts of the keys and values; the kernel
/// then reads keys and values in their stored layout. Empty if `suits` rejects
/// the attention, if the group would compute something else, or in strict mode.
/// For `isMember` and `isFree` see Strategy::takes.
llvm::SmallVector<mlir::Operation *>
takeAttention(mlir::Operation *producer,
              llvm::function_ref<bool(mlir::Operation *)> isMember,
              llvm::function_ref<bool(mlir::Operation *)> isFree,
              bool inStoredLayout,
              llvm::function_ref<bool(const AttentionAnchor &)> suits);

/// Appends to `taken` the operators that compute `operand` from a stored tensor
/// with narrower elements, or from a state with spare rows: casts, elementwise
/// operators with constants, transposes that keep the last axis,
/// concatenations, and slices with the stored rows of a state. Each satisfies
/// `isFree` and has no users except `reader` and the other operators. The kernel
/// then reads the tensor in its stored layout. Appends nothing if no operator
/// widens the elements or takes stored rows.
void takeCache(mlir::Value operand, mlir::Operation *reader,
               llvm::function_ref<bool(mlir::Operation *)> isFree,
               llvm::SmallVectorImpl<mlir::Operation *> &taken);

/// Whether `reader` is the only user of the result of `op`, and is either
/// elementwise on the same shape or a transpose that keeps the last axis.
bool isReadInPlace(mlir::Operation *op, mlir::Operation *reader);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_ATTENTIONANCHOR_H
