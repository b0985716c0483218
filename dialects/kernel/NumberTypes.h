// Classifies the types that kernels compute with: scalars, vectors, masks
// (vectors of i1), and narrow types without arithmetic in C++.

#ifndef INGOT_DIALECTS_KERNEL_NUMBERTYPES_H
#define INGOT_DIALECTS_KERNEL_NUMBERTYPES_H

#include "mlir/IR/BuiltinTypes.h"

namespace ingot {

/// Whether a float type has no counterpart in C++ and is stored as bits.
bool isBitsFloat(mlir::Type type);

/// Returns the bits of an element in memory: its width, rounded up to a power
/// of two and to at least 8. An index or a pointer to a string has 64 bits.
unsigned storageBits(mlir::Type element);

/// Whether the type is an integer of 2 to 7 bits, or a vector of them.
bool isPartOfByte(mlir::Type type);

/// Returns the lanes of a vector; 1 for any other type.
int64_t laneCount(mlir::Type type);
/// Returns the element type of a vector or buffer; `type` itself if it is
/// neither.
mlir::Type elementOf(mlir::Type type);
/// Whether the type is a vector of at least two lanes; a vector of one lane is
/// printed as a scalar.
bool isVector(mlir::Type type);
/// Whether the type is a vector of i1 with at least two lanes.
bool isMask(mlir::Type type);

} // namespace ingot

#endif // INGOT_DIALECTS_KERNEL_NUMBERTYPES_H
