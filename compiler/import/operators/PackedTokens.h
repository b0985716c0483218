// Sequences of unlike lengths, with their tokens one after another and no padding.
//
// ONNX Runtime's packing mode: between RemovePadding and RestorePadding, what computes
// on each token by itself has [T, ...] instead of [B, S, ...] with padding.
//
// Letters: B sequences, S places of each, T tokens that there are.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_PACKEDTOKENS_H
#define INGOT_COMPILER_IMPORT_OPERATORS_PACKEDTOKENS_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

class PackedTokens {
public:
  /// `offsets` [B, S]: the places of all tokens in [B * S] in their order, and behind
  /// them those of the padding.
  PackedTokens(OnnxNode &node, mlir::Value offsets);

  /// [T, ...] as [B, S, ...]; what is in the padding has no meaning.
  mlir::Value padded(mlir::Value packed);
  /// The same with zeros in the padding.
  mlir::Value paddedByZeros(mlir::Value packed);
  /// [B, S, ...] as [count, ...].
  mlir::Value packed(mlir::Value padded, const Dim &count);
  /// The lengths [B] of sequences that end at `ends` [B + 1], the first of which is 0.
  /// Null with a diagnostic if there are not as many.
  mlir::Value lengths(mlir::Value ends);

private:
  /// Asked for each time: sizes change where they are taken to be equal to others.
  Dim sequences() const { return dimsOf(given)[0]; }
  Dim places() const { return dimsOf(given)[1]; }

  OnnxNode &node;
  mlir::Value given;
  /// Offsets [B * S], and which token each place has (of the padding: T and more).
  mlir::Value offsets, tokens;
};

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_PACKEDTOKENS_H
