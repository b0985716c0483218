// The kinds of numbers that kernels compute with: scalars, vectors, masks, and
// narrow types that C has no arithmetic for.

#ifndef INGOT_DIALECTS_KERNEL_NUMBERTYPES_H
#define INGOT_DIALECTS_KERNEL_NUMBERTYPES_H

#include "mlir/IR/BuiltinTypes.h"

namespace ingot {

/// Not one of the floats that C has: kept as bits.
bool isBitsFloat(mlir::Type type);

/// Bits of an element in memory: 8 for i1 and for narrower floats.
unsigned storageBits(mlir::Type element);

/// An integer of 2 to 7 bits, or a vector of them.
bool isPartOfByte(mlir::Type type);

/// Lanes of a vector; 1 for everything else.
int64_t laneCount(mlir::Type type);
/// The element type of a vector or buffer; any other type itself.
mlir::Type elementOf(mlir::Type type);
/// A vector of two lanes or more; a vector of one lane is used like a scalar.
bool isVector(mlir::Type type);
/// A vector of i1 with two lanes or more.
bool isMask(mlir::Type type);

} // namespace ingot

#endif // INGOT_DIALECTS_KERNEL_NUMBERTYPES_H
