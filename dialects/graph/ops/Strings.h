// Building strings.

#ifndef INGOT_GRAPH_OPS_STRINGS_H
#define INGOT_GRAPH_OPS_STRINGS_H

#include "mlir/IR/Builders.h"

namespace ingot::graph {

/// Whether elements of this type are strings.
bool isString(mlir::Type type);

/// A constant of strings; none has a zero inside.
mlir::Value buildStrings(mlir::OpBuilder &builder, mlir::Location loc,
                         llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<std::string> values);

} // namespace ingot::graph

#endif // INGOT_GRAPH_OPS_STRINGS_H
