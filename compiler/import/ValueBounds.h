// Bounds of integers that a run computes: see ValueBounds.cpp.

#ifndef INGOT_COMPILER_IMPORT_VALUEBOUNDS_H
#define INGOT_COMPILER_IMPORT_VALUEBOUNDS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace ingot {

/// Returns what each element of a tensor of integers is at most, whatever the sizes and the
/// data of a run; empty where nothing bounds an element.
llvm::SmallVector<std::optional<int64_t>> mostOfElements(mlir::Value value);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_VALUEBOUNDS_H
