// Divisions in sizes, by machines that round towards zero.

#ifndef INGOT_DIALECTS_KERNEL_SIZEDIVISION_H
#define INGOT_DIALECTS_KERNEL_SIZEDIVISION_H

#include "dialects/kernel/Sizes.h"

namespace ingot::kernel {

/// How many times the divisor of `division`, which rounds down (or is its rest), has to be added to what
/// it divides, so that this is negative in no run: 0 for most.
int64_t divisorsToAdd(mlir::AffineBinaryOpExpr division,
                      llvm::ArrayRef<SymbolAttr> symbols);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_SIZEDIVISION_H
