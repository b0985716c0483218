// Evaluates integer tensors that are computed from dynamic sizes of tensors:
// see KnownSizes.cpp.

#ifndef INGOT_COMPILER_IMPORT_KNOWNSIZES_H
#define INGOT_COMPILER_IMPORT_KNOWNSIZES_H

#include "dialects/graph/Dim.h"
#include "mlir/IR/Value.h"

namespace ingot {

/// The elements of a tensor in row-major order: each is a number, an expression
/// of sizes, or nullopt if it is neither.
using KnownElements = llvm::SmallVector<std::optional<graph::Dim>>;

/// Returns the elements of an integer tensor as numbers and expressions of
/// dynamic sizes; nullopt for each element that is neither.
KnownElements elementsOfSizes(mlir::Value value);
/// Returns the elements of an integer tensor as numbers and expressions of
/// dynamic sizes; nullopt if any element is neither.
std::optional<graph::Dims> valuesOfSizes(mlir::Value value);
/// Returns the values of all elements; nullopt if any element is unknown.
std::optional<graph::Dims>
allOf(llvm::ArrayRef<std::optional<graph::Dim>> elements);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_KNOWNSIZES_H
