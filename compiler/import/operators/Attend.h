// Attention, for the operators that carry it: heads, masks, products, softmax.
//
// Letters: B sequences, N heads, S queries, T keys, H elements of a head.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_ATTEND_H
#define INGOT_COMPILER_IMPORT_OPERATORS_ATTEND_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

/// What attention reads. Heads of keys and values serve N / (their number) heads of
/// queries each. Null is left out.
struct AttentionOperands {
  /// [B, N, S, H], [B, its heads, T, H], [B, its heads, T, any]
  mlir::Value query, key, value;
  /// What the products of queries and keys are multiplied by.
  double scale = 1;
  /// Added to the products; broadcasts to [B, N, S, T].
  llvm::SmallVector<mlir::Value> biases;
  /// Which keys a query reads: truths that broadcast to [B, N, S, T].
  mlir::Value visible;
  /// The products p become cap * tanh(p / cap); 0 leaves them.
  double cap = 0;
  /// [N], products with a key that has no value: they take part in the softmax alone.
  mlir::Value sink;
};

/// The result [B, S, N * any]; null with a diagnostic if operands do not fit.
mlir::Value attend(OnnxNode &node, const AttentionOperands &operands);

/// Reports a size that has to be a number before heads can be told apart.
mlir::LogicalResult refuseOpen(OnnxNode &node, const Dim &size,
                               const llvm::Twine &what);

/// Reports heads [B, N, S, H] whose number or size is known only at run time.
mlir::LogicalResult checkHeads(OnnxNode &node,
                               llvm::ArrayRef<mlir::Value> parts);

/// [B, S, N * H] as [B, N, S, H]; null with a diagnostic if N * H is known only at run
/// time.
mlir::Value splitHeads(OnnxNode &node, mlir::Value x, int64_t heads);

/// One after another along `axis`; `y` itself where `x` is null. Null with a diagnostic
/// if they do not fit.
mlir::Value joined(OnnxNode &node, mlir::Value x, mlir::Value y, int64_t axis);

/// 0, 1, 2, ... as integers [count] of `type`.
mlir::Value positions(OnnxNode &node, const Dim &count, mlir::Type type);

/// A size as an integer without axes.
mlir::Value sizeValue(OnnxNode &node, const Dim &size, mlir::Type type);

/// Which of `keys` keys come not after each of `queries` queries, of which the last is
/// at the last key: truths [1, 1, S, T].
mlir::Value causal(OnnxNode &node, const Dim &queries, const Dim &keys);

/// The masks that ONNX Runtime's operators take, as what is added to products: `filter`
/// for keys that are hidden. Masks are lengths [B], lengths and starts [2 * B], or
/// numbers [B, T] or [B, S, T], 0 for hidden keys. Queries and keys are heads.
mlir::FailureOr<mlir::Value> biasOfMask(OnnxNode &node, mlir::Value mask,
                                        mlir::Value query, mlir::Value key);

/// The attribute `scale`; without it, or where it is 0, 1 / sqrt(size of a head).
double attentionScale(OnnxNode &node, int64_t headSize);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_ATTEND_H
