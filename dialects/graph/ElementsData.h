// Access to the elements of constant attributes.

#ifndef INGOT_GRAPH_ELEMENTSDATA_H
#define INGOT_GRAPH_ELEMENTSDATA_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace ingot::graph {

/// Returns the number of bytes of one element in a buffer (little endian): 1
/// for i1 and for other types narrower than a byte.
int64_t bytesPerElement(mlir::Type type);

/// Whether the constant has data. After parsing a module that was printed
/// without its resources, it has none.
bool hasData(mlir::ElementsAttr value);

/// Returns the bytes of `value` in row-major order; `storage` holds the bytes
/// if the attribute does not store them in this form (splats, i1).
llvm::ArrayRef<char> elementBytes(mlir::ElementsAttr value,
                                  std::vector<char> &storage);

/// Returns a hash of the number of bytes and of a sample of the bytes. A sample
/// suffices, since different weights differ nearly everywhere; reading all
/// bytes would be slow.
uint64_t hashOfSample(mlir::ElementsAttr value);
/// Whether two constants, both with data, have the same bytes.
bool haveSameBytes(mlir::ElementsAttr a, mlir::ElementsAttr b);

/// Returns an attribute whose elements are the bytes `data` in row-major order:
/// a dense attribute if they are few, otherwise a resource that has the name
/// `name` and owns `data`.
mlir::ElementsAttr elementsFromBytes(mlir::RankedTensorType type,
                                     std::vector<char> &&data,
                                     llvm::StringRef name);

/// Returns all elements of an integer constant, sign- or zero-extended to 64
/// bits by the signedness of their type.
llvm::SmallVector<int64_t> elementsAsInts(mlir::ElementsAttr value);

} // namespace ingot::graph

#endif // INGOT_GRAPH_ELEMENTSDATA_H
