// Upper bounds of integers that the generated program computes: see
// ValueBounds.cpp.

#ifndef INGOT_COMPILER_IMPORT_VALUEBOUNDS_H
#define INGOT_COMPILER_IMPORT_VALUEBOUNDS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace ingot {

/// Returns an upper bound of each element of an integer tensor that holds for
/// all sizes and data of a run; nullopt for an element without a known bound.
llvm::SmallVector<std::optional<int64_t>> mostOfElements(mlir::Value value);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_VALUEBOUNDS_H
