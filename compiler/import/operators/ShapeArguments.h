// Shapes, axes and positions that are attributes in old opsets and inputs in
// newer ones.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_SHAPEARGUMENTS_H
#define INGOT_COMPILER_IMPORT_OPERATORS_SHAPEARGUMENTS_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

/// Returns the integers in attribute `name` in opsets before `sinceInput`, and
/// the integers in input `i` since then; `otherwise` if this attribute or input
/// is absent.
mlir::FailureOr<llvm::SmallVector<int64_t>>
attrOrInput(OnnxNode &node, llvm::StringRef name, int64_t sinceInput,
            unsigned i, llvm::ArrayRef<int64_t> otherwise = {});
/// Returns sizes, which may be expressions of dynamic sizes: those in attribute
/// `name` in opsets before `sinceInput`, and those in input `i` since then.
/// Returns an empty list if this attribute or input is absent.
mlir::FailureOr<Dims> sizesFromAttrOrInput(OnnxNode &node, llvm::StringRef name,
                                           int64_t sinceInput, unsigned i);
/// Returns input `i`: a constant if its elements are known at compile time or
/// the user gave data for it.
mlir::Value inputOrConstant(OnnxNode &node, unsigned i);
/// Converts `axes` of a tensor of rank `rank` to non-negative numbers. Fails
/// with a diagnostic if an axis is repeated or out of range.
mlir::FailureOr<llvm::SmallVector<int64_t>>
normalizeAxes(OnnxNode &node, llvm::ArrayRef<int64_t> axes, int64_t rank);
/// Returns the attribute `axis` as a non-negative axis. If it is absent,
/// flattens `x` to a vector and returns 0.
mlir::FailureOr<int64_t> axisOrFlat(OnnxNode &node, mlir::Value &x);
/// Returns the numbers 0, 1, ..., count - 1.
llvm::SmallVector<int64_t> iota(int64_t count);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_SHAPEARGUMENTS_H
