// The bytes of constants.

#ifndef INGOT_GRAPH_ELEMENTSDATA_H
#define INGOT_GRAPH_ELEMENTSDATA_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace ingot::graph {

/// Bytes of one element as buffers hold it: whole bytes, little endian, one
/// byte for i1 and for types narrower than a byte.
int64_t bytesPerElement(mlir::Type type);

/// Returns whether the bytes are there: text that was written without its
/// resources has constants without data.
bool hasData(mlir::ElementsAttr value);

/// The bytes of `value` in row-major order; `storage` holds them where the
/// attribute does not (splats, bits).
llvm::ArrayRef<char> elementBytes(mlir::ElementsAttr value,
                                  std::vector<char> &storage);

/// Returns a hash of how many bytes there are and of some of them: weights that differ
/// do so nearly everywhere, and are not read as a whole.
uint64_t hashOfSample(mlir::ElementsAttr value);
/// Whether two constants with data have the same bytes.
bool haveSameBytes(mlir::ElementsAttr a, mlir::ElementsAttr b);

/// The attribute for bytes in that form: dense if small, else a resource that
/// owns a copy (or `data` itself, if moved in).
mlir::ElementsAttr elementsFromBytes(mlir::RankedTensorType type,
                                     std::vector<char> &&data,
                                     llvm::StringRef name);

/// All elements as integers or doubles.
llvm::SmallVector<int64_t> elementsAsInts(mlir::ElementsAttr value);

} // namespace ingot::graph

#endif // INGOT_GRAPH_ELEMENTSDATA_H
