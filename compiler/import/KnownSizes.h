// Integers that follow from sizes: see KnownSizes.cpp.

#ifndef INGOT_COMPILER_IMPORT_KNOWNSIZES_H
#define INGOT_COMPILER_IMPORT_KNOWNSIZES_H

#include "dialects/graph/Dim.h"
#include "mlir/IR/Value.h"

namespace ingot {

/// The elements of a tensor, in row-major order: numbers and expressions of sizes, or
/// nothing for those that are neither.
using KnownElements = llvm::SmallVector<std::optional<graph::Dim>>;

/// Returns the elements of a tensor of integers, as numbers and expressions of sizes
/// that are known only at run time.
KnownElements elementsOfSizes(mlir::Value value);
/// As elementsOfSizes; empty where some element is neither.
std::optional<graph::Dims> valuesOfSizes(mlir::Value value);
/// All of the elements; empty where one is not known.
std::optional<graph::Dims>
allOf(llvm::ArrayRef<std::optional<graph::Dim>> elements);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_KNOWNSIZES_H
