// Divisions in size expressions, for targets whose division truncates towards
// zero.

#ifndef INGOT_DIALECTS_KERNEL_SIZEDIVISION_H
#define INGOT_DIALECTS_KERNEL_SIZEDIVISION_H

#include "dialects/kernel/Sizes.h"

namespace ingot::kernel {

/// Returns how many times the divisor has to be added to the dividend of
/// `division` (a floordiv or mod), so that the dividend is never negative. The
/// result is 0 for most divisions.
int64_t divisorsToAdd(mlir::AffineBinaryOpExpr division,
                      llvm::ArrayRef<SymbolAttr> symbols);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_SIZEDIVISION_H
