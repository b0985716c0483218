// Integers that follow from sizes: see KnownSizes.cpp.

#ifndef INGOT_COMPILER_IMPORT_KNOWNSIZES_H
#define INGOT_COMPILER_IMPORT_KNOWNSIZES_H

#include "dialects/graph/Dim.h"
#include "mlir/IR/Value.h"

namespace ingot {

/// Returns the elements of a tensor of integers, in row-major order, as numbers and
/// expressions of sizes that are known only at run time; empty where some element is
/// neither.
std::optional<graph::Dims> valuesOfSizes(mlir::Value value);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_KNOWNSIZES_H
