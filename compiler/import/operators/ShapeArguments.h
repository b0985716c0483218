// Shapes, axes and places that are attributes of old opsets and inputs of newer ones.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_SHAPEARGUMENTS_H
#define INGOT_COMPILER_IMPORT_OPERATORS_SHAPEARGUMENTS_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

/// Ints from attribute `name` in opsets before `sinceInput`, from input `i`
/// afterwards; `otherwise` if absent.
mlir::FailureOr<llvm::SmallVector<int64_t>>
attrOrInput(OnnxNode &node, llvm::StringRef name, int64_t sinceInput,
            unsigned i, llvm::ArrayRef<int64_t> otherwise = {});
/// The same with expressions of sizes that are known only at run time.
mlir::FailureOr<Dims> sizesFromAttrOrInput(OnnxNode &node, llvm::StringRef name,
                                           int64_t sinceInput, unsigned i);
/// Axes counted from the front; fails with a diagnostic if one is named twice or does
/// not exist.
mlir::FailureOr<llvm::SmallVector<int64_t>>
normalizeAxes(OnnxNode &node, llvm::ArrayRef<int64_t> axes, int64_t rank);
/// The attribute `axis`; without one `x` becomes a vector of its elements.
mlir::FailureOr<int64_t> axisOrFlat(OnnxNode &node, mlir::Value &x);
/// 0, 1, ... below `count`.
llvm::SmallVector<int64_t> iota(int64_t count);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_SHAPEARGUMENTS_H
