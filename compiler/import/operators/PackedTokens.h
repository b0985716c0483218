// Packed batches: tokens of sequences with different lengths, stored
// contiguously without padding.
//
// ONNX Runtime removes the padding by RemovePadding and restores it by
// RestorePadding. In between, operators that process each token independently
// have operands [T, ...] instead of [B, S, ...].
//
// Letters: B sequences, S positions per sequence (padded), T tokens in total.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_PACKEDTOKENS_H
#define INGOT_COMPILER_IMPORT_OPERATORS_PACKEDTOKENS_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

class PackedTokens {
public:
  /// `offsets` [B, S] contains the positions of all tokens in the flattened
  /// padded batch [B * S], in order, followed by the positions of the padding.
  PackedTokens(OnnxNode &node, mlir::Value offsets);

  /// Converts packed tokens [T, ...] to a padded batch [B, S, ...]; the padding
  /// is undefined.
  mlir::Value padded(mlir::Value packed);
  /// Converts packed tokens [T, ...] to a padded batch [B, S, ...] with zeros
  /// in the padding.
  mlir::Value paddedByZeros(mlir::Value packed);
  /// Converts a padded batch [B, S, ...] to packed tokens [count, ...].
  mlir::Value packed(mlir::Value padded, const Dim &count);
  /// Returns the lengths [B] of the sequences. `ends` [B + 1] contains 0 and
  /// the cumulative end of each sequence. Returns null with a diagnostic if
  /// `ends` has another size.
  mlir::Value lengths(mlir::Value ends);

private:
  /// Return B and S. They are read from the type at each use, since assuming
  /// that two sizes are equal replaces one of them in the type.
  Dim sequences() const { return dimsOf(given)[0]; }
  Dim places() const { return dimsOf(given)[1]; }

  OnnxNode &node;
  mlir::Value given;
  /// The offsets, flattened to [B * S], and the index of the token at each
  /// position (T or more for padding).
  mlir::Value offsets, tokens;
};

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_PACKEDTOKENS_H
