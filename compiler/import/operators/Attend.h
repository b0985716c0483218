// Builds attention (head splitting, masks, matmuls, softmax) for the operators
// that contain it.
//
// Letters: B sequences, N heads, S queries, T keys, H elements per head.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_ATTEND_H
#define INGOT_COMPILER_IMPORT_OPERATORS_ATTEND_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

/// The operands of an attention. Keys and values may have fewer heads than
/// queries: each of their heads serves an equal number of query heads. Operands
/// that are null are absent.
struct AttentionOperands {
  /// Queries [B, N, S, H], keys [B, key heads, T, H] and values [B, key heads,
  /// T, any].
  mlir::Value query, key, value;
  /// Factor for the scores, the dot products of queries and keys.
  double scale = 1;
  /// Tensors that are added to the scores; each broadcasts to [B, N, S, T].
  llvm::SmallVector<mlir::Value> biases;
  /// Booleans that tell which keys a query attends to; they broadcast to [B, N,
  /// S, T].
  mlir::Value visible;
  /// Soft cap: a score p becomes cap * tanh(p / cap); 0 disables it.
  double cap = 0;
  /// The sink [N]: for each head, the score of an additional key without a
  /// value, which takes part only in the softmax.
  mlir::Value sink;
};

/// Returns the result of the attention, of shape [B, S, N * any], where `any`
/// is the last size of the values; null with a diagnostic if the shapes of the
/// operands do not match.
mlir::Value attend(OnnxNode &node, AttentionOperands operands);

/// Reports that `size` must be known at compile time to split heads; returns
/// failure. The diagnostic calls the size `what`, such as "the size of a head".
mlir::LogicalResult refuseOpen(OnnxNode &node, const Dim &size,
                               const llvm::Twine &what);

/// Fails, with a diagnostic, if a tensor of heads [B, N, S, H] has a number of
/// heads N or a head size H that is known only at run time.
mlir::LogicalResult checkHeads(OnnxNode &node,
                               llvm::ArrayRef<mlir::Value> parts);

/// Reshapes and transposes `x` [B, S, N * H] to [B, N, S, H], where N =
/// `heads`; null with a diagnostic if N * H is known only at run time.
mlir::Value splitHeads(OnnxNode &node, mlir::Value x, int64_t heads);

/// Concatenates past keys or values `x` and new ones `y` along `axis`; returns
/// `y` if `x` is null. Returns null with a diagnostic if the shapes do not
/// match.
mlir::Value joined(OnnxNode &node, mlir::Value x, mlir::Value y, int64_t axis);

/// Returns the vector 0, 1, ..., count - 1 with elements of the integer type
/// `type`.
mlir::Value positions(OnnxNode &node, const Dim &count, mlir::Type type);

/// Returns a size as a scalar (si64).
mlir::Value sizeValue(OnnxNode &node, const Dim &size);

/// Returns a boolean causal mask [1, 1, S, T], which is true for each key that
/// is not after the query. The last query has the position of the last key.
mlir::Value causal(OnnxNode &node, const Dim &queries, const Dim &keys);

/// Converts a mask of ONNX Runtime's attention operators to a bias for the
/// scores: 0 for visible keys, and the attribute `mask_filter_value` for hidden
/// keys. The mask contains the lengths of the sequences [B], their end
/// positions followed by their start positions [2 * B], or numbers [B, T] or
/// [B, S, T] that are 0 for hidden keys. `query` and `key` have the shapes [B,
/// N, S, H] and [B, N, T, H].
mlir::FailureOr<mlir::Value> biasOfMask(OnnxNode &node, mlir::Value mask,
                                        mlir::Value query, mlir::Value key);

/// Returns the attribute `scale`; if it is absent or 0, 1 / sqrt(headSize).
double attentionScale(OnnxNode &node, int64_t headSize);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_ATTEND_H
