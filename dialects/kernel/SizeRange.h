// The range of a size expression.

#ifndef INGOT_DIALECTS_KERNEL_SIZERANGE_H
#define INGOT_DIALECTS_KERNEL_SIZERANGE_H

#include "dialects/kernel/Sizes.h"

namespace ingot::kernel {

/// Adds or multiplies, saturating at the limits of int64_t; saturated results
/// are still valid bounds.
int64_t saturatingAdd(int64_t x, int64_t y);
int64_t saturatingMul(int64_t x, int64_t y);

struct SizeRange {
  int64_t least, most;
};

/// Returns bounds of `value`, computed from the bounds of its symbols: exact if
/// each symbol occurs once.
SizeRange rangeOf(mlir::AffineExpr value, llvm::ArrayRef<SymbolAttr> symbols);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_SIZERANGE_H
