// How GroupQueryAttention stores keys and values in its cache.
//
// The element type of a cache may differ from that of the keys and values:
// floats of another type, or quantized numbers with one scale, or one scale per
// head and element.
//
//   stored = saturate(round(x * (1 / scale)))          x = stored * scale
//
// A byte of a 4-bit cache holds two adjacent elements of a head, each plus 8,
// the first one in the low bits.
//
// The stored numbers are read without their scale: scales are constant along
// the axis of keys, so they multiply the queries and the result instead. The
// elements of a 4-bit cache are read in another order, which a kernel can load
// as vectors: the low bits of all bytes, then the high bits.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_CACHEFORMAT_H
#define INGOT_COMPILER_IMPORT_OPERATORS_CACHEFORMAT_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

class CacheFormat {
public:
  /// Reads the format of keys ("k") or values ("v") from the attributes and
  /// inputs of a GroupQueryAttention node. `x` [B, key heads, S, H] contains
  /// the new keys or values.
  static mlir::FailureOr<CacheFormat> of(OnnxNode &node, llvm::StringRef which,
                                         mlir::Value x);

  bool isQuantized() const { return scale != nullptr; }
  mlir::Type element() const { return stored; }
  /// Returns the size of the last axis of the cache, for heads of `size`
  /// elements.
  int64_t width(int64_t size) const { return isPacked() ? size / 2 : size; }

  /// Converts keys or values [B, key heads, S, H] to the format of the cache.
  mlir::Value encode(OnnxNode &node, mlir::Value x) const;
  /// Returns the elements of a cache as floats of `type`, without their scale
  /// and in the order in which they are read.
  mlir::Value decode(OnnxNode &node, mlir::Value cache, mlir::Type type) const;
  /// Multiplies queries [B, N, S, H] by the scales of the keys, and arranges
  /// their elements in the order in which the cache is read.
  mlir::Value scaleQueries(OnnxNode &node, mlir::Value query) const;
  /// Multiplies the result of an attention [B, S, N * H] by the scales of the
  /// values, and restores the order of its elements.
  mlir::Value scaleResult(OnnxNode &node, mlir::Value y) const;

private:
  bool isPacked() const { return isQuantized() && bits == 4; }

  mlir::Type stored;
  /// The scale: a scalar or, with one scale for each element of a head, a
  /// tensor [key heads, H]. Null for a cache of floats without a scale.
  mlir::Value scale;
  int64_t bits = 8, heads = 1, size = 1;
};

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_CACHEFORMAT_H
