// Builders for string constants.

#ifndef INGOT_GRAPH_OPS_STRINGS_H
#define INGOT_GRAPH_OPS_STRINGS_H

#include "mlir/IR/Builders.h"

namespace ingot::graph {

/// Whether elements of this type are strings.
bool isString(mlir::Type type);

/// Whether `op` makes strings of characters that a run writes.
bool writesCharacters(mlir::Operation *op);

/// Builds a constant of strings, which must not contain zero bytes.
mlir::Value buildStrings(mlir::OpBuilder &builder, mlir::Location loc,
                         llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<std::string> values);

} // namespace ingot::graph

#endif // INGOT_GRAPH_OPS_STRINGS_H
